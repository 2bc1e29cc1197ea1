import IndoorLocalization
import XCTest

/// The virtual controller and its services, which the other tests in the guest depend on.
final class ControllerGuestTests: GuestTestCase {
    private static let office = BeaconUUID(high: 0x6C1D_5B0E_3A47_4F0B, low: 0x9C7E_0D5A_1E2B_3C4F)

    private func withBluetooth(
        _ generation: ControllerModel.Generation,
        _ body: (VirtualController, GuestServices) async throws -> Void
    ) async throws {
        let services = try plainServices()
        try await services.startBus()
        try await services.startMonitor(capturingTo: "controller-\(generation).btsnoop")
        try await services.startBluetooth()
        let controller = try await pluggedIn(generation)
        try await body(controller, services)
        try await controller.unplug()
        try await services.endAll()
    }

    func testTheKernelAndBluetoothdPowerAControllerWithoutAnUnknownCommand() async throws {
        for generation in ControllerModel.Generation.allCases {
            try await withBluetooth(generation) { controller, services in
                try await services.waitForMonitor("power") { $0.contains { $0.hasSuffix("  Powered") } }
                XCTAssertEqual(controller.tally.unknown, [], "\(generation)")
                XCTAssertEqual(controller.tally.disallowed, 0, "\(generation)")
            }
        }
    }

    func testBluetoothdScansAndEveryBeaconOnTheAirIsSeenByBtmon() async throws {
        for generation in ControllerModel.Generation.allCases {
            try await withBluetooth(generation) { controller, services in
                try await services.waitForMonitor("power") { $0.contains { $0.hasSuffix("  Powered") } }
                let discovery = try services.startDiscovery()
                try await controller.waitForScan()
                XCTAssertEqual(controller.scan.isExtended, generation == .bluetooth5)
                let beacons = (1...50).map {
                    Transmission.iBeacon(Self.office, major: 7, minor: $0, rssi: -40 - Int8($0))
                }
                controller.hear(beacons, reportsPerEvent: 3)
                try await services.waitForMonitor("50 beacons") { lines in
                    GuestServices.reportLines(of: lines).count { $0.contains("RSSI: -") } == 50
                }
                let strengths = services.reportLines.filter { $0.contains("RSSI: -") }
                XCTAssertEqual(services.reportLines.count { $0.contains("Type: iBeacon") }, 50, "\(generation)")
                XCTAssertTrue(strengths.first?.contains("RSSI: -41 dBm") ?? false, "\(strengths.first ?? "none")")
                XCTAssertTrue(strengths.last?.contains("RSSI: -90 dBm") ?? false, "\(strengths.last ?? "none")")
                XCTAssertEqual(controller.tally.reported, 50)
                try await discovery.end()
                try await controller.waitForScan(false)
            }
        }
    }
}
