import Foundation
import IndoorVocabulary
import TagTracking
import XCTest

/// The clock of a gateway: each test simulates one with a seeded generator.
final class GatewayClockTests: XCTestCase {
    private static let start = Instant(seconds: 1_790_000_000)

    /// A gateway whose readings arrive with a delay.
    private struct Gateway {
        /// What the clock shows at a true time.
        var clock: (Instant) -> Instant
        var resolution: Duration
        var smallestDelay = 0.02
        /// The mean of the exponentially distributed part of the delay in seconds.
        var jitter: Double
        var generator: SeededGenerator

        init(
            resolution: Duration, jitter: Double, seed: UInt64, clock: @escaping (Instant) -> Instant
        ) {
            (self.clock, self.resolution, self.jitter) = (clock, resolution, jitter)
            generator = SeededGenerator(seed: seed)
        }

        /// Returns the time and the arrival of a reading.
        mutating func reading(at truth: Instant) -> (time: GatewayTime, arrival: Instant) {
            let shown = clock(truth).nanoseconds
            let step = max(1, resolution.nanoseconds)
            let whole = shown - ((shown % step) + step) % step
            let delay = smallestDelay - jitter * log(1 - generator.uniform())
            return (
                GatewayTime(nanoseconds: whole, resolution: resolution), truth.advanced(by: .seconds(delay))
            )
        }
    }

    private static func at(_ seconds: Double) -> Instant { start.advanced(by: .seconds(seconds)) }

    private func error(_ stamp: GatewayClock.Stamp, _ truth: Instant) -> Double {
        abs(truth.duration(to: stamp.instant).seconds)
    }

    func testTheErrorIsBelowResolutionAndJitterForAnyOffsetOfTheClock() {
        let zone = 2 * 3600.0
        for (resolution, offset, seed) in [
            (Duration.milliseconds(1), 0.0, UInt64(1)), (.seconds(1), 0, 2), (.seconds(1), zone, 3),
            (.seconds(1), -zone - 7.25, 4), (.milliseconds(1), -1_790_000_000, 5), (.milliseconds(1), 86_400 * 365, 6),
        ] {
            let jitter = 0.1
            var gateway = Gateway(resolution: resolution, jitter: jitter, seed: seed) {
                $0.advanced(by: .seconds(offset))
            }
            var clock = GatewayClock()
            var generator = SeededGenerator(seed: seed + 100)
            var (truth, worst, sum) = (Self.start, 0.0, 0.0)
            for index in 0..<2000 {
                truth = truth.advanced(by: .seconds(generator.uniform()))
                let (time, arrival) = gateway.reading(at: truth)
                let stamp = clock.stamp(time, arrival: arrival)
                XCTAssertLessThanOrEqual(stamp.instant, arrival)
                guard index >= 20 else { continue }
                XCTAssertTrue(stamp.usesClock)
                worst = max(worst, error(stamp, truth))
                sum += error(stamp, truth)
            }
            let limit = resolution.seconds + gateway.smallestDelay + jitter
            XCTAssertLessThan(worst, limit, "\(resolution), \(offset) s, seed \(seed)")
            // Without the gateway's time, the mean error is the mean delay.
            if resolution < .seconds(1) { XCTAssertLessThan(sum / 1980, 0.06, "\(offset) s, seed \(seed)") }
            XCTAssertFalse(clock.isWrong)
        }
    }

    func testAClockWithDriftIsFollowed() {
        for rate in [2e-4, -2e-4] {
            var gateway = Gateway(resolution: .milliseconds(1), jitter: 0.05, seed: 11) { truth in
                truth.advanced(by: Self.start.duration(to: truth) * rate)
            }
            var clock = GatewayClock()
            for second in 0..<3600 {
                let truth = Self.at(Double(second))
                let (time, arrival) = gateway.reading(at: truth)
                let stamp = clock.stamp(time, arrival: arrival)
                // The window of 64 s contributes 13 ms.
                if second >= 20 { XCTAssertLessThan(error(stamp, truth), 0.12, "\(rate), second \(second)") }
            }
            XCTAssertFalse(clock.isWrong)
        }
    }

    func testAClockThatIsSetIsFollowedAfterSomeSeconds() {
        for (step, seconds) in [
            (3600.0, GatewayClock.futureSeconds), (-3600, GatewayClock.delayedSeconds),
            (4, GatewayClock.futureSeconds), (-4, GatewayClock.delayedSeconds),
        ] {
            for resolution in [Duration.milliseconds(1), .seconds(1)] {
                var gateway = Gateway(resolution: resolution, jitter: 0.1, seed: 21) { truth in
                    truth < Self.at(100) ? truth : truth.advanced(by: .seconds(step))
                }
                var clock = GatewayClock()
                for second in 0..<300 {
                    let truth = Self.at(Double(second) + 0.37)
                    let (time, arrival) = gateway.reading(at: truth)
                    let stamp = clock.stamp(time, arrival: arrival)
                    let place = "step of \(step) s, resolution \(resolution), second \(second)"
                    if second >= 100 + seconds {
                        // Half of the resolution and the jitter, once there are enough readings.
                        XCTAssertLessThan(error(stamp, truth), resolution.seconds + 0.6, place)
                        XCTAssertFalse(stamp.isLate, place)
                    } else if second >= 100, second < 99 + seconds, step > 0 {
                        XCTAssertFalse(stamp.usesClock, place)
                        XCTAssertEqual(stamp.instant, arrival, place)
                    }
                }
                XCTAssertFalse(clock.isWrong, "one step is no defect")
            }
        }
    }

    func testASmallStepIsFollowedAfterTheWindow() {
        for step in [1.0, -1.0] {
            var gateway = Gateway(resolution: .milliseconds(1), jitter: 0.05, seed: 31) { truth in
                truth < Self.at(100) ? truth : truth.advanced(by: .seconds(step))
            }
            var clock = GatewayClock()
            for second in 0..<300 {
                let truth = Self.at(Double(second))
                let (time, arrival) = gateway.reading(at: truth)
                let stamp = clock.stamp(time, arrival: arrival)
                if second >= 170 { XCTAssertLessThan(error(stamp, truth), 0.12, "step of \(step) s, second \(second)") }
            }
        }
    }

    func testASingleWrongTimeChangesNothing() {
        for wrong: Double in [3600, -3600, 34_560_000] {
            var gateway = Gateway(resolution: .milliseconds(1), jitter: 0.05, seed: 41) { $0 }
            var clock = GatewayClock()
            for second in 0..<200 {
                let truth = Self.at(Double(second))
                var time: GatewayTime
                let arrival: Instant
                (time, arrival) = gateway.reading(at: truth)
                if second == 100 { time.nanoseconds += Int64(wrong * 1e9) }
                let stamp = clock.stamp(time, arrival: arrival)
                switch second {
                case 100 where wrong > 0: XCTAssertEqual(stamp, GatewayClock.Stamp(instant: arrival, usesClock: false))
                case 100: XCTAssertTrue(stamp.isLate)
                case 20...: XCTAssertLessThan(error(stamp, truth), 0.12, "second \(second)")
                default: break
                }
            }
            XCTAssertFalse(clock.isWrong)
        }
    }

    func testAWrongFirstTimeIsForgotten() {
        for wrong: Double in [3600, -3600] {
            var gateway = Gateway(resolution: .milliseconds(1), jitter: 0.05, seed: 51) { truth in
                truth == Self.start ? truth.advanced(by: .seconds(wrong)) : truth
            }
            var clock = GatewayClock()
            for second in 0..<60 {
                let truth = Self.at(Double(second))
                let (time, arrival) = gateway.reading(at: truth)
                let stamp = clock.stamp(time, arrival: arrival)
                XCTAssertFalse(stamp.isLate)
                XCTAssertLessThan(error(stamp, truth), 0.5, "second \(second)")
            }
            XCTAssertFalse(clock.isWrong)
        }
    }

    func testAClockThatJumpsIsWrongAndRecovers() {
        // The clock shows one of two times for 20 s each, for five minutes.
        var gateway = Gateway(resolution: .seconds(1), jitter: 0.05, seed: 61) { truth in
            let second = Int(Self.start.duration(to: truth).seconds)
            return truth.advanced(by: .seconds(second < 300 && second / 20 % 2 == 1 ? 600 : 0))
        }
        var clock = GatewayClock()
        var wrongAt: Int?
        var goodAt: Int?
        for second in 0..<1800 {
            let truth = Self.at(Double(second) + 0.5)
            let (time, arrival) = gateway.reading(at: truth)
            let stamp = clock.stamp(time, arrival: arrival)
            if clock.isWrong {
                wrongAt = wrongAt ?? second
                XCTAssertEqual(stamp.instant, arrival)
                XCTAssertFalse(stamp.isLate)
            } else if wrongAt != nil {
                goodAt = goodAt ?? second
            }
        }
        XCTAssertEqual(wrongAt ?? 9999, 75, accuracy: 40)
        XCTAssertEqual(goodAt ?? 9999, 900, accuracy: 100)
        XCTAssertFalse(clock.isWrong)
    }

    func testRandomTimesAreWrongAndReplacedByTheArrival() {
        var gateway = Gateway(resolution: .seconds(1), jitter: 0.05, seed: 71) { $0 }
        var generator = SeededGenerator(seed: 72)
        var clock = GatewayClock()
        for second in 0..<600 {
            let truth = Self.at(Double(second))
            var time: GatewayTime
            let arrival: Instant
            (time, arrival) = gateway.reading(at: truth)
            time.nanoseconds += Int64.random(in: -9_000_000_000_000...9_000_000_000_000, using: &generator)
            let stamp = clock.stamp(time, arrival: arrival)
            if second >= 60 {
                XCTAssertTrue(clock.isWrong, "second \(second)")
                XCTAssertEqual(stamp, GatewayClock.Stamp(instant: arrival, usesClock: false))
            }
        }
    }

    func testAClockThatStandsStillIsWrong() {
        var gateway = Gateway(resolution: .seconds(1), jitter: 0.05, seed: 81) { truth in min(truth, Self.at(60)) }
        var clock = GatewayClock()
        for second in 0..<300 {
            let (time, arrival) = gateway.reading(at: Self.at(Double(second)))
            let stamp = clock.stamp(time, arrival: arrival)
            XCTAssertFalse(stamp.isLate, "second \(second)")
            if second >= 80 { XCTAssertEqual(stamp, GatewayClock.Stamp(instant: arrival, usesClock: false)) }
        }
    }

    func testReadingsThatWaitedForANetworkKeepTheirTimeAndAreLate() {
        var gateway = Gateway(resolution: .milliseconds(1), jitter: 0.05, seed: 91) { $0 }
        var clock = GatewayClock()
        for second in 0..<100 {
            let (time, arrival) = gateway.reading(at: Self.at(Double(second)))
            _ = clock.stamp(time, arrival: arrival)
        }
        // The readings of ten minutes arrive within five seconds.
        for second in 100..<700 {
            let truth = Self.at(Double(second))
            let time = gateway.reading(at: truth).time
            let arrival = Self.at(700 + Double(second - 100) / 120)
            let stamp = clock.stamp(time, arrival: arrival)
            XCTAssertLessThan(error(stamp, truth), 0.12, "second \(second)")
            XCTAssertEqual(stamp.isLate, truth.duration(to: arrival) > GatewayClock.lateLimit, "second \(second)")
        }
        XCTAssertFalse(clock.isWrong)
    }

    func testExtremeTimesNeverOverflow() {
        var generator = SeededGenerator(seed: 101)
        var clock = GatewayClock()
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for _ in 0..<5000 {
            let time = GatewayTime(
                nanoseconds: extremes.randomElement(using: &generator) ?? 0,
                resolution: [Duration.zero, .seconds(-5), .seconds(1), .seconds(Int64.max)].randomElement(
                    using: &generator)
                    ?? .zero)
            let arrival = Instant(nanoseconds: extremes.randomElement(using: &generator) ?? 0)
            let stamp = clock.stamp(time, arrival: arrival)
            XCTAssertLessThanOrEqual(stamp.instant, arrival, "\(time)")
            XCTAssertEqual(stamp.usesClock || stamp.instant == arrival, true, "\(time) at \(arrival)")
        }
        // A clock that is right counts again, at last.
        var used = false
        for second in 0..<2000 where !used {
            let truth = Self.at(Double(second))
            let stamp = clock.stamp(
                GatewayTime(nanoseconds: truth.nanoseconds, resolution: .milliseconds(1)), arrival: truth)
            XCTAssertEqual(stamp.instant, truth, "second \(second)")
            used = stamp.usesClock
        }
        XCTAssertTrue(used)
    }

    func testTheSameReadingsGiveTheSameTimes() {
        var results: [[GatewayClock.Stamp]] = []
        for _ in 0..<2 {
            var gateway = Gateway(resolution: .seconds(1), jitter: 0.3, seed: 111) { $0 }
            var clock = GatewayClock()
            results.append(
                (0..<500).map { second in
                    let (time, arrival) = gateway.reading(at: Self.at(Double(second)))
                    return clock.stamp(time, arrival: arrival)
                })
        }
        XCTAssertEqual(results[0], results[1])
    }
}
