import BlueZScanning
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

/// From bytes on the air to positions: a walk through the office, in real time.
final class LocalizerGuestTests: GuestTestCase {
    private func localize(
        _ walk: OfficeWalk, over source: some ScanSource, playing controller: VirtualController
    ) async throws -> (score: TrackScore, positions: [Position], errors: [LocalizationError]) {
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
        try await Bound.wait(for: "a position at the walk's end") {
            let end = start.advanced(by: .seconds(walk.duration - 1))
            try await positions.wait { ($0.last?.instant ?? .zero) >= end }
        }
        await localizer.stop()
        withExtendedLifetime(observations) {}
        return (walk.score(positions.value, start: start), positions.value, errors.value)
    }

    private func assertGood(_ score: TrackScore, _ walk: OfficeWalk, line: UInt = #line) throws {
        let best = walk.replayedScore()
        print("| over the air: \(score)\n| replayed: \(best)")
        XCTAssertGreaterThan(score.count, 15, line: line)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(score.answered), 0.95, line: line)
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(score.floor), 0.95, line: line)
        // Half a metre for what the way over the air costs: the clock's ticks fall elsewhere, so chance does.
        XCTAssertLessThan(try XCTUnwrap(score.median), try XCTUnwrap(best.median) + 0.5, line: line)
        XCTAssertLessThan(try XCTUnwrap(score.median), 2, "metres", line: line)
        XCTAssertLessThan(try XCTUnwrap(score.p90), 4, "metres", line: line)
    }

    func testAWalkOverTheRawRouteIsFollowed() async throws {
        let walk = try OfficeWalk("one-floor", seed: 101)
        let controller = try await pluggedIn()
        let told = try await localize(walk, over: HCIScanSource(), playing: controller)
        try assertGood(told.score, walk)
        XCTAssertEqual(told.errors.map(\.message), [])
        XCTAssertEqual(controller.tally.reported, walk.schedule.count)
    }
}
