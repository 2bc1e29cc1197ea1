import BlueZScanning
import IndoorLocalization
import XCTest

/// What becomes of a scan whose adapter loses its power or its plug, and what it leaves behind.
final class HCIAdapterGuestTests: GuestTestCase {
    /// Sends a beacon until the controller reports it, as the kernel may stop a scan that it did not ask for; then it is
    /// to be heard.
    private func assertHears(_ listening: Listening, _ controller: VirtualController, _ number: Int) async throws {
        let before = listening.heard.value.sightingCount
        repeat { try await controller.waitForScan() } while controller.hear([BeaconSeries.transmission(number)]) == 0
        try await listening.waitForSightings(before + 1)
        BeaconSeries.assertHeard(number..<number + 1, in: Array(listening.heard.value.sightings.dropFirst(before)))
    }

    private func isPowered(_ controller: VirtualController) throws -> Bool? {
        try BluetoothAdapter.all().first { $0.name == controller.name }?.isPowered
    }

    func testAdaptersAreListedWithNameAndAddress() async throws {
        XCTAssertEqual(try BluetoothAdapter.all(), [])
        let first = try await pluggedIn()
        let second = try await pluggedIn(address: DeviceAddress(rawValue: 0x0050_F200_0002, kind: .public))
        // Once it scans, its address is known.
        for controller in [first, second] {
            let listening = listening(to: HCIScanSource(adapter: .named(controller.name)))
            try await listening.wait(for: .scanning)
            try await listening.stop()
        }
        let adapters = try BluetoothAdapter.all()
        XCTAssertEqual(adapters.map(\.name), [first.name, second.name])
        XCTAssertEqual(adapters.map(\.address.description), ["00:50:F2:00:00:01", "00:50:F2:00:00:02"])
    }

    func testTheAdapterIsChosenByAddressWhateverItsName() async throws {
        let other = try await pluggedIn()
        let address = DeviceAddress(rawValue: 0x0050_F200_0002)
        let listening = listening(to: HCIScanSource(adapter: .address(address)))
        try await listening.wait(for: .unplugged)
        let meant = try await pluggedIn(address: DeviceAddress(rawValue: 0x0050_F200_0002, kind: .public))
        try await listening.wait(for: .scanning)
        XCTAssertTrue(meant.scan.isEnabled)
        XCTAssertFalse(other.scan.isEnabled)
        XCTAssertEqual(listening.heard.value.events.last?.adapter, meant.name)
        try await assertHears(listening, meant, 1)
    }

    func testAStoppedScanIsOffAndSoIsTheAdapterThatItPoweredOn() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        try await GuestServices.setPower(false, of: controller)
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: .scanning)
        XCTAssertEqual(try isPowered(controller), true)
        try await listening.stop()
        try await controller.waitForScan(false)
        try await services.waitForPower(false, of: controller)
        XCTAssertEqual(try isPowered(controller), false)
    }

    func testAStoppedScanLeavesAnAdapterOnThatWasOn() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: .scanning)
        try await listening.stop()
        try await controller.waitForScan(false)
        XCTAssertEqual(try isPowered(controller), true)
    }

    func testPowerOffAndOnAreToldAndTheScanGoesOn() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let listening = listening(to: HCIScanSource())
        var told = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        for number in 2..<4 {
            // What happens within a second of the beginning is taken for the end of another scan.
            try await controller.play([(at: 1.2, transmission: BeaconSeries.transmission(number))])
            try await GuestServices.setPower(false, of: controller)
            told = try await listening.wait(for: .poweredOff, after: told)
            XCTAssertFalse(controller.scan.isEnabled)
            controller.hear([BeaconSeries.transmission(99)])
            try await GuestServices.setPower(true, of: controller)
            told = try await listening.wait(for: .scanning, after: told)
            try await assertHears(listening, controller, number)
        }
        let numbers = listening.heard.value.sightings.map(BeaconSeries.number)
        XCTAssertEqual(Set(numbers), [1, 2, 3], "nothing is invented")
    }

    func testAnUnpluggedAdapterIsScannedAgainUnderAnotherName() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource(adapter: .address(VirtualController.standardAddress)))
        var told = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        let firstName = controller.name
        try await controller.unplug()
        told = try await listening.wait(for: .unplugged, after: told)
        // Another one takes its name, as soon as the kernel has it to give.
        var others: [VirtualController] = []
        while others.last?.name != firstName, others.count < 5 {
            let number = UInt64(0x0050_F200_0009 + others.count)
            others.append(try await pluggedIn(address: DeviceAddress(rawValue: number, kind: .public)))
        }
        XCTAssertEqual(others.last?.name, firstName)
        try await controller.plugIn()
        XCTAssertNotEqual(controller.name, firstName)
        told = try await listening.wait(for: .scanning, after: told)
        XCTAssertEqual(listening.heard.value.events.last?.adapter, controller.name)
        try await assertHears(listening, controller, 2)
        for other in others { XCTAssertFalse(other.scan.isEnabled) }
    }

    func testARadioSwitchBlocksTheScanAndReleasesIt() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource())
        var told = try await listening.wait(for: .scanning)
        try RadioSwitch.setBlocked(true)
        told = try await listening.wait(for: .blocked, after: told)
        controller.hear([BeaconSeries.transmission(99)])
        XCTAssertEqual(controller.tally.refusedByHost, 1)
        try RadioSwitch.setBlocked(false)
        told = try await listening.wait(for: .scanning, after: told)
        try await assertHears(listening, controller, 1)
    }

    func testTwentyTimesUnpluggedInTheMidstOfReportsTheScanComesBack() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource())
        var told = 0
        for round in 0..<20 {
            told = try await listening.wait(for: .scanning, after: told)
            controller.hear((0..<50).map { BeaconSeries.transmission(round * 50 + $0) })
            try await controller.unplug()
            told = try await listening.wait(for: .unplugged, after: told)
            try await controller.plugIn()
        }
        try await listening.wait(for: .scanning, after: told)
        // What was on its way when the plug was pulled may be lost, but nothing comes twice or is invented.
        let numbers = listening.heard.value.sightings.map(BeaconSeries.number)
        XCTAssertFalse(numbers.contains(nil))
        XCTAssertEqual(numbers.compactMap { $0 }, Set(numbers.compactMap { $0 }).sorted())
    }
}
