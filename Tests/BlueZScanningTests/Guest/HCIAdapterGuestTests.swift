import BlueZScanning
import IndoorLocalization
import XCTest

/// Scans with an adapter that loses power or is unplugged, and the state of the adapter afterwards.
final class HCIAdapterGuestTests: GuestTestCase {
    /// Sends a beacon until the controller reports it, because the kernel may stop a scan that it didn't start. Then
    /// expects the scan to deliver it.
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
        // A scanning adapter has reported its address.
        for controller in [first, second] {
            let listening = listening(to: HCIScanSource(adapter: .named(controller.name)))
            try await listening.wait(for: .scanning)
            try await listening.stop()
        }
        let adapters = try BluetoothAdapter.all()
        XCTAssertEqual(adapters.map(\.name), [first.name, second.name])
        XCTAssertEqual(adapters.map(\.address.description), ["00:50:F2:00:00:01", "00:50:F2:00:00:02"])
    }

    func testTheAdapterIsChosenByAddressUnderAnyName() async throws {
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

    func testAStoppedScanPowersOffTheAdapterThatItPoweredOn() async throws {
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

    func testPowerOffAndOnAreReportedAndTheScanResumes() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let listening = listening(to: HCIScanSource())
        var index = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        for number in 2..<4 {
            // The machine attributes a loss of power within the first second to the end of another scan.
            try await controller.play([(at: 1.2, transmission: BeaconSeries.transmission(number))])
            try await GuestServices.setPower(false, of: controller)
            index = try await listening.wait(for: .poweredOff, after: index)
            XCTAssertFalse(controller.scan.isEnabled)
            controller.hear([BeaconSeries.transmission(99)])
            try await GuestServices.setPower(true, of: controller)
            index = try await listening.wait(for: .scanning, after: index)
            try await assertHears(listening, controller, number)
        }
        let numbers = listening.heard.value.sightings.map(BeaconSeries.number)
        XCTAssertEqual(Set(numbers), [1, 2, 3], "no report is invented")
    }

    func testTheScanResumesAfterTheAdapterIsPluggedInUnderAnotherName() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource(adapter: .address(VirtualController.standardAddress)))
        var index = try await listening.wait(for: .scanning)
        try await assertHears(listening, controller, 1)
        let firstName = controller.name
        try await controller.unplug()
        index = try await listening.wait(for: .unplugged, after: index)
        // Another adapter gets the name as soon as it is free.
        var others: [VirtualController] = []
        while others.last?.name != firstName, others.count < 5 {
            let number = UInt64(0x0050_F200_0009 + others.count)
            others.append(try await pluggedIn(address: DeviceAddress(rawValue: number, kind: .public)))
        }
        XCTAssertEqual(others.last?.name, firstName)
        try await controller.plugIn()
        XCTAssertNotEqual(controller.name, firstName)
        index = try await listening.wait(for: .scanning, after: index)
        XCTAssertEqual(listening.heard.value.events.last?.adapter, controller.name)
        try await assertHears(listening, controller, 2)
        for other in others { XCTAssertFalse(other.scan.isEnabled) }
    }

    func testARadioSwitchBlocksTheScanAndReleasesIt() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource())
        var index = try await listening.wait(for: .scanning)
        try RadioSwitch.setBlocked(true)
        index = try await listening.wait(for: .blocked, after: index)
        controller.hear([BeaconSeries.transmission(99)])
        XCTAssertEqual(controller.tally.refusedByHost, 1)
        try RadioSwitch.setBlocked(false)
        index = try await listening.wait(for: .scanning, after: index)
        try await assertHears(listening, controller, 1)
    }

    func testTheScanResumesAfterTwentyUnpluggingsDuringReports() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource())
        var index = 0
        for round in 0..<20 {
            index = try await listening.wait(for: .scanning, after: index)
            controller.hear((0..<50).map { BeaconSeries.transmission(round * 50 + $0) })
            try await controller.unplug()
            index = try await listening.wait(for: .unplugged, after: index)
            try await controller.plugIn()
        }
        try await listening.wait(for: .scanning, after: index)
        // Reports in transit during the unplugging may be lost, but none is repeated or invented.
        let numbers = listening.heard.value.sightings.map(BeaconSeries.number)
        XCTAssertFalse(numbers.contains(nil))
        XCTAssertEqual(numbers.compactMap { $0 }, Set(numbers.compactMap { $0 }).sorted())
    }
}
