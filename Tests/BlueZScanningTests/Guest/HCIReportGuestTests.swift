import BlueZScanning
import IndoorLocalization
import XCTest

/// The raw route delivers all advertisements in order and unchanged.
final class HCIReportGuestTests: GuestTestCase {
    func testEveryReportArrivesInOrderWithItsStrength() async throws {
        for generation in ControllerModel.Generation.allCases {
            let controller = try await pluggedIn(generation)
            let listening = listening(to: HCIScanSource(adapter: .named(controller.name)))
            try await listening.wait(for: .scanning)
            // A packet with one report, and packets with as many as fit.
            controller.hear((0..<100).map(BeaconSeries.transmission))
            controller.hear((100..<400).map(BeaconSeries.transmission), reportsPerEvent: 10)
            try await listening.waitForSightings(400)
            BeaconSeries.assertHeard(0..<400, in: listening.heard.value.sightings, "\(generation)")
            XCTAssertEqual(controller.tally.unheard, 0)
            try await listening.stop()
            try await controller.unplug()
        }
    }

    func testTheScanIsPassiveAndContinuousWithoutADuplicateFilter() async throws {
        for generation in ControllerModel.Generation.allCases {
            let controller = try await pluggedIn(generation)
            let listening = listening(to: HCIScanSource())
            try await listening.wait(for: .scanning)
            let scan = controller.scan
            XCTAssertFalse(scan.isActive, "\(generation)")
            XCTAssertFalse(scan.filtersDuplicates, "\(generation)")
            XCTAssertEqual(scan.window, scan.interval, "\(generation)")
            XCTAssertEqual(scan.isExtended, generation == .bluetooth5)
            try await listening.stop()
            try await controller.unplug()
        }
    }

    func testWindowIntervalAndModeReachTheController() async throws {
        for generation in ControllerModel.Generation.allCases {
            let controller = try await pluggedIn(generation)
            let source = HCIScanSource(mode: .active, window: .milliseconds(30), interval: .milliseconds(100))
            let listening = listening(to: source)
            try await listening.wait(for: .scanning)
            XCTAssertTrue(controller.scan.isActive)
            XCTAssertEqual(controller.scan.window, 48)
            XCTAssertEqual(controller.scan.interval, 160)
            try await listening.stop()
            try await controller.unplug()
        }
    }

    func testLongAdvertisementsAreReassembledWithOtherReportsBetweenTheirFragments() async throws {
        let controller = try await pluggedIn(.bluetooth5)
        let listening = listening(to: HCIScanSource(content: .everything))
        try await listening.wait(for: .scanning)
        let long = [100, 229, 230, 458, 1000, 1650].enumerated().map { index, count in
            Transmission(
                address: DeviceAddress(rawValue: 0xC100_0000_0000 + UInt64(index), kind: .random), rssi: -70,
                data: Self.structures(count: count), isExtended: true)
        }
        for (index, transmission) in long.enumerated() {
            controller.hear([transmission, BeaconSeries.transmission(index)], reportsPerEvent: 3)
        }
        // Each beacon is an advertisement and a sighting.
        try await listening.wait(for: "all readings") { $0.readings.count >= 3 * long.count }
        let heard = listening.heard.value
        BeaconSeries.assertHeard(0..<long.count, in: heard.sightings)
        let whole = heard.advertisements.filter { $0.address.rawValue >> 40 == 0xC1 }
        XCTAssertEqual(whole.map(\.address), long.map(\.address))
        XCTAssertEqual(whole.map(\.data), long.map(\.data))
        XCTAssertEqual(whole.map(\.rssi), long.map { Double($0.rssi) })
    }

    func testInstantsAreKernelTimesOnTheContinuousClock() async throws {
        let controller = try await pluggedIn()
        let listening = listening(to: HCIScanSource())
        try await listening.wait(for: .scanning)
        for number in 0..<20 {
            let before = Guest.present
            controller.hear([BeaconSeries.transmission(number)])
            try await listening.waitForSightings(number + 1)
            let after = Guest.present
            let instant = try XCTUnwrap(listening.heard.value.sightings.last).instant
            // The wall clock, from which the kernel gets its times, is adjusted by some microseconds.
            XCTAssertGreaterThanOrEqual(instant.seconds, before.seconds - 0.001)
            XCTAssertLessThanOrEqual(instant.seconds, after.seconds)
        }
    }

    /// Returns AD structures of an unassigned company, with a total number of bytes.
    private static func structures(count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let length = min(200, count - bytes.count - 1)
            guard length > 0 else { return bytes + [0] }
            bytes += [UInt8(length), 0xFF] + (1..<length).map { UInt8(truncatingIfNeeded: $0 &+ bytes.count) }
        }
        return bytes
    }
}
