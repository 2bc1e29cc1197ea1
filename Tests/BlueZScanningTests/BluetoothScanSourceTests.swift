import BlueZScanning
import Glibc
import IndoorLocalization
import XCTest

final class BluetoothScanSourceTests: XCTestCase {
    private static let noCapability = BluetoothError.notPermitted(capabilities: ["CAP_NET_RAW"], program: "/bin/scan")

    func testTheRawRouteIsChosenWhereItIsPermittedWithoutAskingTheBus() throws {
        var isBusAsked = false
        let choice = try BluetoothScanSource.chooseRoute(
            hci: {}, dbus: { () throws(BluetoothError) -> Void in isBusAsked = true })
        XCTAssertEqual(choice.route, .hci)
        XCTAssertFalse(isBusAsked)
    }

    func testWithoutTheCapabilityTheServiceIsChosenAndTheReasonNamesTheGrant() throws {
        let choice = try BluetoothScanSource.chooseRoute(
            hci: { () throws(BluetoothError) -> Void in throw Self.noCapability }, dbus: {})
        XCTAssertEqual(choice.route, .dbus)
        XCTAssertTrue(choice.reason.contains("sudo setcap cap_net_raw,cap_net_admin+ep /bin/scan"), choice.reason)
    }

    func testWhereNeitherRouteIsPermittedTheErrorContainsBothReasons() {
        XCTAssertThrowsError(
            try BluetoothScanSource.chooseRoute(
                hci: { () throws(BluetoothError) -> Void in throw Self.noCapability },
                dbus: { () throws(BluetoothError) -> Void in throw .busUnavailable(reason: "no socket") })
        ) { error in
            XCTAssertEqual(
                error as? BluetoothError, .noRoute(hci: Self.noCapability, dbus: .busUnavailable(reason: "no socket")))
            let text = "\(error)"
            XCTAssertTrue(text.contains("CAP_NET_RAW") && text.contains("no socket"), text)
        }
    }

    func testARequestedRouteIsUsed() throws {
        for route in ScanRoute.allCases {
            let source = try BluetoothScanSource(route: route)
            XCTAssertEqual(source.choice.route, route)
            XCTAssertEqual(source.pace, .live, "\(route)")
        }
    }

    func testOnlyTheFirstEventNamesTheRouteAndTheReason() async throws {
        let bus = try PrivateBus()
        defer { bus.remove() }
        let choice = BluetoothScanSource.Choice(route: .dbus, reason: "selected by the test.")
        var details: [String?] = []
        var service: StandInService?
        for try await reading in BluetoothScanSource(choice, address: bus.address).readings() {
            guard case .radio(let event) = reading else { continue }
            details.append(event.detail)
            if details.count == 2 { break }
            service = try StandInService(address: bus.address)
        }
        service?.end()
        XCTAssertEqual(details.first??.hasSuffix("Route dbus: selected by the test."), true, "\(details)")
        XCTAssertEqual(details.last??.contains("Route"), false, "\(details)")
    }

    func testTheCheckSucceedsWithABusAndFailsWithoutOne() throws {
        let bus = try PrivateBus()
        defer { bus.remove() }
        XCTAssertNoThrow(try BlueZScanSource.checkPermission(address: bus.address))
        XCTAssertThrowsError(try BlueZScanSource.checkPermission(address: "unix:path=/nonexistent/bus")) { error in
            guard case .busUnavailable? = error as? BluetoothError else { return XCTFail("\(error)") }
        }
    }
}

final class AdapterChoiceTests: XCTestCase {
    private let adapter = BluetoothAdapter(
        name: "hci1", address: DeviceAddress(rawValue: 0xC005_0403_0201, kind: .public), isPowered: true)

    func testFirstIncludesAnyAdapter() {
        XCTAssertTrue(AdapterChoice.first.includes(adapter))
    }

    func testANameIncludesOnlyThatAdapter() {
        XCTAssertTrue(AdapterChoice.named("hci1").includes(adapter))
        XCTAssertFalse(AdapterChoice.named("hci0").includes(adapter))
    }

    func testAnAddressIncludesItsAdapterForEveryKindOfAddress() {
        XCTAssertTrue(AdapterChoice.address(DeviceAddress(rawValue: 0xC005_0403_0201)).includes(adapter))
        XCTAssertFalse(AdapterChoice.address(DeviceAddress(rawValue: 1)).includes(adapter))
    }
}

final class HCIScanSourceTests: XCTestCase {
    func testThePaceIsLive() {
        XCTAssertEqual(HCIScanSource().pace, .live)
    }

    func testTheScanIsContinuousByDefault() {
        let source = HCIScanSource()
        XCTAssertEqual(source.mode, .passive)
        XCTAssertEqual(source.window, source.interval)
        XCTAssertEqual(source.content, .beacons)
        XCTAssertEqual(source.adapter, .first)
    }

    /// With or without permission on this computer, the stream either throws an error or reports the status of the
    /// radio.
    func testTheStreamImmediatelyReportsAStatusOrThrows() async throws {
        let refusal: BluetoothError?
        do throws(BluetoothError) {
            try HCIScanSource.checkPermission()
            refusal = nil
        } catch {
            refusal = error
        }
        // An adapter that doesn't exist, so that the test changes nothing.
        let nobody = AdapterChoice.address(DeviceAddress(rawValue: 0xFFFF_FFFF_FFFE))
        var readings = HCIScanSource(adapter: nobody).readings().makeAsyncIterator()
        do {
            guard case .radio(let event)? = try await readings.next() else {
                return XCTFail("a radio event was expected")
            }
            XCTAssertEqual(event.status, .unplugged)
            XCTAssertNil(refusal)
        } catch {
            XCTAssertEqual(error as? BluetoothError, refusal)
        }
    }

    func testTheListOfAdaptersFailsWithTheSameErrorAsAScan() {
        do throws(BluetoothError) {
            _ = try BluetoothAdapter.all()
        } catch {
            XCTAssertThrowsError(try HCIScanSource.checkPermission()) { XCTAssertEqual($0 as? BluetoothError, error) }
        }
    }
}

final class HCIErrorTests: XCTestCase {
    func testAMissingCapabilityIsReportedWithTheCommandThatGrantsIt() {
        let error = BluetoothError.notPermitted(
            capabilities: ["CAP_NET_RAW", "CAP_NET_ADMIN"], program: "/usr/bin/indoorloc")
        XCTAssertTrue(
            "\(error)".hasSuffix("sudo setcap cap_net_raw,cap_net_admin+ep /usr/bin/indoorloc"), "\(error)")
    }

    func testAPathWithShellCharactersIsQuoted() {
        let error = BluetoothError.notPermitted(capabilities: ["CAP_NET_RAW"], program: "/usr/bin/my tool's")
        XCTAssertTrue("\(error)".hasSuffix("setcap cap_net_raw,cap_net_admin+ep '/usr/bin/my tool'\\''s'"), "\(error)")
    }

    func testEveryErrorSaysWhatToDo() {
        XCTAssertTrue("\(BluetoothError.noBluetooth)".contains("sudo modprobe bluetooth"))
        XCTAssertTrue("\(BluetoothError.busUnavailable(reason: "gone"))".contains("(gone): start it with"))
        XCTAssertTrue("\(BluetoothError.busForbidden(reason: "no"))".contains("sudo usermod -aG bluetooth"))
    }

    func testASystemErrorNamesCallAndReason() {
        let error = BluetoothError.system(call: "bind", number: ENODEV)
        XCTAssertEqual("\(error)", "bind failed: No such device (error 19).")
    }

    func testErrorsHaveAKindAndANumber() {
        let denied = BluetoothError.notPermitted(capabilities: ["CAP_NET_RAW"], program: "x")
        let errors: [(BluetoothError, LocalizationError.Kind, Int32?)] = [
            (denied, .permissionDenied, nil), (.busForbidden(reason: "no"), .permissionDenied, nil),
            (.noBluetooth, .notSupported, nil), (.busUnavailable(reason: "gone"), .sensorFailed, nil),
            (.system(call: "bind", number: ENODEV), .sensorFailed, ENODEV),
            (.system(call: "socket", number: EPERM), .permissionDenied, EPERM),
            (.noRoute(hci: .noBluetooth, dbus: .busForbidden(reason: "no")), .permissionDenied, nil),
            (.noRoute(hci: .system(call: "bind", number: ENODEV), dbus: .noBluetooth), .sensorFailed, ENODEV),
        ]
        for (error, kind, number) in errors {
            XCTAssertEqual(error.kind, kind, "\(error)")
            XCTAssertEqual(error.status, number.map { .system($0) }, "\(error)")
        }
    }
}
