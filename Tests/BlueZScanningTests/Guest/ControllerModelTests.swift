import IndoorLocalization
import XCTest

/// The virtual controller is as strict as a real one, so that the tests in the guest detect invalid commands.
final class ControllerModelTests: XCTestCase {
    private static let success: UInt8 = 0x00
    private static let unknown: UInt8 = 0x01
    private static let disallowed: UInt8 = 0x0C

    private func model(_ generation: ControllerModel.Generation, capacity: Int = 2) -> ControllerModel {
        ControllerModel(
            generation: generation, address: VirtualController.standardAddress, duplicateCapacity: capacity)
    }

    /// Returns the status of the event that answers a command.
    private func status(_ model: inout ControllerModel, _ opcode: UInt16, _ parameters: [UInt8] = []) -> UInt8? {
        model.answer(HostCommand(opcode: opcode, parameters: parameters)).dropFirst(5).first
    }

    private let parameters: [UInt8] = [0, 0x60, 0, 0x30, 0, 0, 0]
    private let extendedParameters: [UInt8] = [0, 0, 1, 0, 0x60, 0, 0x30, 0]

    private func heard(_ minor: UInt16) -> Transmission {
        .iBeacon(BeaconUUID(high: 1, low: 2), major: 1, minor: minor, rssi: -60)
    }

    func testTheControllerRefusesParametersWhileItScans() {
        var model = model(.bluetooth4)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanEnable, [1, 0]), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.disallowed)
        XCTAssertEqual(status(&model, HostOpcode.setRandomAddress, [1, 2, 3, 4, 5, 6]), Self.disallowed)
        XCTAssertEqual(status(&model, HostOpcode.setScanEnable, [0, 0]), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.success)
        XCTAssertEqual(model.scan.interval, 0x60)
        XCTAssertEqual(model.scan.window, 0x30)
        XCTAssertEqual(model.tally.disallowed, 2)
    }

    func testCommandsOfTheTwoGenerationsDoNotMixUntilAReset() {
        var model = model(.bluetooth5)
        XCTAssertEqual(status(&model, HostOpcode.setExtendedScanParameters, extendedParameters), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.disallowed)
        XCTAssertEqual(status(&model, HostOpcode.reset), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setScanParameters, parameters), Self.success)
        XCTAssertEqual(status(&model, HostOpcode.setExtendedScanEnable, [1, 0, 0, 0, 0, 0]), Self.disallowed)
    }

    func testBluetooth4KnowsNoCommandOfBluetooth5() {
        var model = model(.bluetooth4)
        XCTAssertEqual(status(&model, HostOpcode.setExtendedScanParameters, extendedParameters), Self.unknown)
        XCTAssertEqual(model.tally.unknown.map(\.opcode), [HostOpcode.setExtendedScanParameters])
    }

    func testTheControllerReportsNothingWhileItDoesNotScan() {
        var model = model(.bluetooth4)
        XCTAssertEqual(model.hear([heard(1)]), [])
        XCTAssertEqual(model.tally.unheard, 1)
    }

    func testTheDuplicateFilterDiscardsTheOldestAdvertiser() {
        var model = model(.bluetooth4, capacity: 2)
        _ = status(&model, HostOpcode.setScanEnable, [1, 1])
        // 1 and 2 are in the filter. 3 replaces 1, because 2 was received again.
        XCTAssertEqual(model.hear([1, 2, 1, 2, 3, 1].map(heard)).count, 4)
        XCTAssertEqual(model.tally.duplicates, 2)
        _ = status(&model, HostOpcode.setScanEnable, [1, 0])
        XCTAssertEqual(model.hear([1, 1, 1].map(heard)).count, 3)
    }

    func testOnlyABluetooth5ScanReceivesExtendedAdvertisementsAndReportsThemInFragments() throws {
        let long = Transmission(
            address: DeviceAddress(rawValue: 5, kind: .random), rssi: -50, data: [UInt8](repeating: 0, count: 300))
        var old = model(.bluetooth4)
        _ = status(&old, HostOpcode.setScanEnable, [1, 0])
        XCTAssertEqual(old.hear([long]), [])
        XCTAssertEqual(old.tally.unreportable, 1)

        var new = model(.bluetooth5)
        _ = status(&new, HostOpcode.setLEEventMask, [0xFF, 0xFF, 0, 0, 0, 0, 0, 0])
        _ = status(&new, HostOpcode.setExtendedScanParameters, extendedParameters)
        _ = status(&new, HostOpcode.setExtendedScanEnable, [1, 0, 0, 0, 0, 0])
        let events = new.hear([long, heard(1)], reportsPerEvent: 2)
        XCTAssertEqual(events.map(\.count), [257, 4 + 24 + 71 + 24 + 30])
        // Event type of the fragments: incomplete, complete.
        XCTAssertEqual(events.map { $0[4] }, [0x20, 0x00])
        XCTAssertEqual(new.tally.reported, 2)
    }

    func testReportsSharePacketsUpToTheirSize() {
        var model = model(.bluetooth4)
        _ = status(&model, HostOpcode.setScanEnable, [1, 0])
        // A report has 40 bytes: six of them fit.
        let events = model.hear((1...8).map(heard), reportsPerEvent: 10)
        XCTAssertEqual(events.map { $0[3] }, [6, 2])
        XCTAssertEqual(events.map(\.count), [4 + 6 * 40, 4 + 2 * 40])
    }

    func testOnlyAnActiveScanIsAnswered() {
        let asked = Transmission(
            address: DeviceAddress(rawValue: 5, kind: .random), rssi: -50, data: [2, 1, 6], scanResponse: [2, 10, 0])
        for (type, count) in [(UInt8(0), 1), (1, 2)] {
            var model = model(.bluetooth4)
            _ = status(&model, HostOpcode.setScanParameters, [type] + parameters.dropFirst())
            _ = status(&model, HostOpcode.setScanEnable, [1, 0])
            XCTAssertEqual(model.hear([asked]).count, count, "scan of type \(type)")
        }
    }
}

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
