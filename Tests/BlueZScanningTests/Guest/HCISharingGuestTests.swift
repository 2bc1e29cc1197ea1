import BlueZScanning
import IndoorLocalization
import XCTest

/// The raw route while other programs use the same adapter.
final class HCISharingGuestTests: GuestTestCase {
    /// Sends numbered beacons, and expects all scans to receive each of them.
    private func assertAllHear(
        _ listenings: [Listening], _ controller: VirtualController, _ numbers: Range<Int>
    ) async throws {
        let before = listenings.map { $0.heard.value.sightingCount }
        controller.hear(numbers.map(BeaconSeries.transmission))
        for (listening, count) in zip(listenings, before) {
            try await listening.waitForSightings(count + numbers.count)
            BeaconSeries.assertHeard(numbers, in: Array(listening.heard.value.sightings.dropFirst(count)))
        }
    }

    func testTwoScannersReceiveEverythingAndTheSecondContinuesWhenTheFirstStops() async throws {
        for generation in ControllerModel.Generation.allCases {
            let controller = try await pluggedIn(generation)
            let first = listening(to: HCIScanSource())
            try await first.wait(for: .scanning)
            let second = listening(to: HCIScanSource())
            try await second.wait(for: "hearing") { $0.events.last?.status.isHearing ?? false }
            try await assertAllHear([first, second], controller, 0..<100)
            try await first.stop()
            try await second.wait(for: "a scan of its own") { $0.statuses.last == .scanning }
            try await controller.waitForScan()
            try await assertAllHear([second], controller, 100..<200)
            try await second.stop()
            try await controller.waitForScan(false)
            try await controller.unplug()
        }
    }

    func testTheScanContinuesDuringADiscoveryOfBluetoothd() async throws {
        for generation in ControllerModel.Generation.allCases {
            let controller = try await pluggedIn(generation)
            let services = try await services()
            try await services.waitForPower(true, of: controller)
            let listening = listening(to: HCIScanSource())
            var index = try await listening.wait(for: .scanning)
            try await assertAllHear([listening], controller, 0..<50)
            // The other discovery starts while our scan runs.
            let discovery = try services.startDiscovery()
            index = try await listening.wait(for: .sharing, after: index)
            try await assertAllHear([listening], controller, 50..<100)
            try await discovery.end()
            index = try await listening.wait(for: .scanning, after: index)
            try await assertAllHear([listening], controller, 100..<150)
            try await listening.stop()
            try await controller.waitForScan(false)
            try await services.endAll()
            try await controller.unplug()
        }
    }

    func testTheScanUsesARunningDiscoveryAndLeavesItRunning() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let discovery = try services.startDiscovery()
        try await controller.waitForScan()
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: .sharing)
        // The other discovery filters duplicates, which the source reports; a first report passes.
        XCTAssertTrue(controller.scan.filtersDuplicates)
        try await assertAllHear([listening], controller, 0..<50)
        try await listening.stop()
        XCTAssertTrue(controller.scan.isEnabled)
        try await discovery.end()
        try await controller.waitForScan(false)
    }

    func testBluetoothdKilledAndRestartedDoesNotEndTheScan() async throws {
        let controller = try await pluggedIn()
        let services = try await services()
        try await services.waitForPower(true, of: controller)
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: .scanning)
        try await assertAllHear([listening], controller, 0..<50)
        try await services.endBluetooth(SIGKILL)
        try await assertAllHear([listening], controller, 50..<100)
        try await services.startBluetooth()
        try await services.waitForPower(true, of: controller)
        try await listening.wait(for: "hearing") { $0.events.last?.status.isHearing ?? false }
        try await controller.waitForScan()
        try await assertAllHear([listening], controller, 100..<150)
    }
}
