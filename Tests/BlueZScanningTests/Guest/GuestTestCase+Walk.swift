import BlueZScanning
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// The result of a walk over the air.
struct WalkOutcome {
    var positions: [Position]
    var errors: [LocalizationError]
    var score: TrackScore
}

extension GuestTestCase {
    /// Plays a walk over the air to a localizer and returns the result.
    func localize(
        _ walk: OfficeWalk, over source: some ScanSource, playing controller: VirtualController
    ) async throws -> WalkOutcome {
        let localizer = Localizer(source: source, venues: LocalVenueSource(paths: [try FixtureFolder("office").path]))
        let positions = WatchedState<[Position]>([])
        let errors = WatchedState<[LocalizationError]>([])
        let observations = [
            localizer.watch(\.positions) { position in positions.update { $0.append(position) } },
            localizer.watch(\.errors) { error in errors.update { $0.append(error) } },
        ]
        await localizer.start()
        try await controller.waitForScan()
        let start = Guest.present
        try await controller.play(walk.schedule)
        try await Bounded.waitInGuest(for: "a position at the walk's end") {
            let end = start.advanced(by: .seconds(walk.duration - 1))
            try await positions.wait { ($0.last?.instant ?? .zero) >= end }
        }
        await localizer.stop()
        withExtendedLifetime(observations) {}
        return WalkOutcome(
            positions: positions.value, errors: errors.value, score: walk.score(positions.value, start: start))
    }

    /// Fails unless the positions are about as good as those of a session that gets the same sightings directly.
    func assertGood(_ outcome: WalkOutcome, _ walk: OfficeWalk, line: UInt = #line) throws {
        let best = walk.replayedScore()
        let (score, median) = (outcome.score, try XCTUnwrap(outcome.score.median))
        let bestMedian = try XCTUnwrap(best.median)
        let meters: (Double?) -> String = { $0.map { "\(($0 * 100).rounded() / 100) m" } ?? "none" }
        print(
            "| \(name): median error \(meters(median)), p90 \(meters(score.p90)); "
                + "from direct sightings \(meters(bestMedian)), \(meters(best.p90))")
        XCTAssertGreaterThan(score.count, 15, line: line)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(score.answered), 0.95, line: line)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(score.floor), 0.95, line: line)
        // Half a metre for the transmission over the air: the clock ticks at other instants, which changes the random
        // numbers.
        XCTAssertLessThan(median, bestMedian + 0.5, "metres", line: line)
        XCTAssertLessThan(try XCTUnwrap(score.p90), 4, "metres", line: line)
        XCTAssertEqual(outcome.errors.map(\.message), [], line: line)
    }

    /// Starts a capture with btmon.
    func capturing(to name: String) async throws -> GuestServices {
        let services = try plainServices()
        try await services.startMonitor(capturingTo: name)
        return services
    }

    /// Ends a capture, and fails unless it contains what was sent.
    func assertComplete(_ services: GuestServices, _ walk: OfficeWalk, line: UInt = #line) async throws {
        let reports = walk.schedule.reduce(0) { count, sent in
            let fragments = (sent.transmission.data.count - 1) / AdvertisingPackets.longestFragment + 1
            return count + fragments
        }
        try await services.waitForMonitor("\(reports) reports") { lines in
            GuestServices.reportLines(of: lines).count { $0.contains("  RSSI: -") } >= reports
        }
        let path = try await services.endMonitor().path
        var reader = try BTSnoopReader(path: path)
        let captured = try reader.readAll().compactMap { reading -> Transmission? in
            guard case .advertisement(let heard) = reading else { return nil }
            return Transmission(address: heard.address, rssi: Int8(heard.rssi), data: heard.data)
        }
        let sent = walk.schedule.map {
            Transmission(address: $0.transmission.address, rssi: $0.transmission.rssi, data: $0.transmission.data)
        }
        XCTAssertEqual(captured.count, sent.count, line: line)
        XCTAssertTrue(captured == sent, "the capture differs from what was sent", line: line)
    }
}
