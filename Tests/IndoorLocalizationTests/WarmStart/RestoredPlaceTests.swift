import IndoorLocalization
import XCTest

/// How far a memory of a place counts, by its age.
final class RestoredPlaceTests: XCTestCase {
    private let maps: [MapID] = [10, 11, 12]

    private func memory(_ probabilities: [MapID: Double], timeout: Duration = .seconds(600)) -> RestoredPlace {
        RestoredPlace(
            places: probabilities.map { map, probability in
                SessionMemory.Place(
                    mapID: map, probability: probability, point: MapPoint(x: 5, y: 5), varianceX: 1, varianceY: 1)
            }, instant: Instant(seconds: 100), timeout: timeout)
    }

    func testTheTrustFallsLinearlyToZeroAtTheTimeout() {
        let memory = memory([10: 1])
        for (seconds, expected) in [(0.0, 0.9), (100, 0.9), (400, 0.45), (700, 0), (5000, 0)] {
            XCTAssertEqual(memory.trust(at: Instant(seconds: seconds)), expected, accuracy: 1e-9, "at \(seconds) s")
        }
        XCTAssertEqual(self.memory([10: 1], timeout: .zero).trust(at: Instant(seconds: 100)), 0)
    }

    func testTheRestoredPlaceSpreadsAtWalkingSpeed() {
        let motion = MotionModel()
        XCTAssertEqual(RestoredPlace.spread(after: 0, motion: motion), 0)
        // 40 of 43 seconds at 1.1 m/s along an axis, kept until a turn or a stop, 7.1 s in the mean: in the long run
        // 40/43 · 2 · 1.21 · 7.1 m² a second, and what both kinds of wandering add, 40/43 · 0.09 + 3/43 · 0.0225.
        let (walking, kept) = (40.0 / 43, 1 / (1.0 / 100 + 0.1 + 0.03))
        let (minute, two) = (
            RestoredPlace.spread(after: 60, motion: motion), RestoredPlace.spread(after: 120, motion: motion)
        )
        let wandering = walking * 0.09 + (1 - walking) * 0.0225
        XCTAssertEqual((two - minute) / 60, walking * 2 * 1.21 * kept + wandering, accuracy: 1e-3)
        // Within a second nobody turns: as far as the speed carries.
        XCTAssertEqual(RestoredPlace.spread(after: 1, motion: motion), walking * 1.21, accuracy: 0.15)
        var previous = 0.0
        for second in 1..<100 {
            let spread = RestoredPlace.spread(after: Double(second), motion: motion)
            XCTAssertGreaterThan(spread, previous, "\(second) s")
            previous = spread
        }
    }

    func testTheRestoredPlaceOfAStandingDeviceSpreadsByWanderingOnly() {
        var motion = MotionModel()
        motion.startRate = 0
        XCTAssertEqual(RestoredPlace.spread(after: 100, motion: motion), 0.15 * 0.15 * 100, accuracy: 1e-9)
    }

    func testTheFloorProbabilitiesBecomeEqualWithAge() throws {
        let memory = memory([11: 0.9, 12: 0.1])
        let now = try XCTUnwrap(memory.probabilities(of: maps, at: Instant(seconds: 100)))
        for (value, expected) in zip(now, [0, 0.9, 0.1]) { XCTAssertEqual(value, expected, accuracy: 1e-9) }
        let later = try XCTUnwrap(memory.probabilities(of: maps, at: Instant(seconds: 130)))
        XCTAssertEqual(later.reduce(0, +), 1, accuracy: 1e-9)
        XCTAssertTrue(later[1] < 0.9 && later[1] > 0.4, "\(later)")
        let old = try XCTUnwrap(memory.probabilities(of: maps, at: Instant(seconds: 1e5)))
        for value in old { XCTAssertEqual(value, 1.0 / 3, accuracy: 1e-6) }
        XCTAssertEqual(memory.probabilities(of: [11], at: Instant(seconds: 1e5)), [1], "one floor is never forgotten")
        XCTAssertNil(memory.probabilities(of: [99], at: Instant(seconds: 100)), "another venue's maps")
    }
}
