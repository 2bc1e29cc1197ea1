import BlueZScanning
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
