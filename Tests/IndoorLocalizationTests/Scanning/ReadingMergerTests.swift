import IndoorLocalization
import XCTest

/// The order in which readings of several sources are handed on.
final class ReadingMergerTests: XCTestCase {
    private func pressure(_ seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: seconds))
    }

    private func seconds(_ readings: [SensorReading]) -> [Double] { readings.map(\.instant.seconds) }

    func testAReadingIsDeliveredWhenEverySourceHasReachedItsInstant() {
        var merger = ReadingMerger(sources: 2, window: .seconds(1))
        XCTAssertEqual(merger.add(pressure(1), from: 0, at: .zero), [])
        XCTAssertEqual(merger.add(pressure(3), from: 0, at: .zero), [])
        XCTAssertEqual(seconds(merger.add(pressure(2), from: 1, at: .zero)), [1, 2], "3 may still have one before it")
        XCTAssertEqual(seconds(merger.add(pressure(3), from: 1, at: .zero)), [3, 3])
        XCTAssertEqual(merger.lateCount, 0)
    }

    func testASilentSourceDelaysReadingsByTheWindow() {
        var merger = ReadingMerger(sources: 2, window: .milliseconds(100))
        XCTAssertEqual(merger.add(pressure(2), from: 0, at: .milliseconds(10)), [])
        XCTAssertEqual(merger.nextDue, .milliseconds(110))
        XCTAssertEqual(merger.add(pressure(1), from: 0, at: .milliseconds(20)), [])
        XCTAssertEqual(merger.drain(at: .milliseconds(109)), [])
        XCTAssertEqual(seconds(merger.drain(at: .milliseconds(110))), [1, 2], "what is older goes with it")
        XCTAssertNil(merger.nextDue)
    }

    func testALateReadingIsDeliveredAndCounted() {
        var merger = ReadingMerger(sources: 2, window: .zero)
        XCTAssertEqual(seconds(merger.add(pressure(5), from: 0, at: .zero)), [5])
        let late = merger.add(pressure(4), from: 1, at: .zero)
        XCTAssertEqual(late, [.pressure(PressureSample(instant: Instant(seconds: 5), hectopascals: 4))])
        XCTAssertEqual(merger.lateCount, 1)
    }

    func testASourceThatHasLeftDelaysNoReadingUntilItDeliversAgain() {
        var merger = ReadingMerger(sources: 2, window: .seconds(1))
        XCTAssertEqual(merger.add(pressure(1), from: 0, at: .zero), [])
        merger.leave(1)
        XCTAssertEqual(seconds(merger.drain(at: .zero)), [1])
        XCTAssertEqual(seconds(merger.add(pressure(2), from: 0, at: .zero)), [2])
        XCTAssertEqual(seconds(merger.add(pressure(3), from: 1, at: .zero)), [], "source 0 may have one before it")
        XCTAssertEqual(seconds(merger.add(pressure(4), from: 0, at: .zero)), [3])
        XCTAssertEqual(seconds(merger.drainAll()), [4])
    }

    func testReadingsOfOneInstantStayInTheOrderOfArrival() {
        var merger = ReadingMerger(sources: 2, window: .zero)
        merger.leave(1)
        let readings = [1.0, 2, 3].map {
            SensorReading.pressure(PressureSample(instant: .zero, hectopascals: $0))
        }
        XCTAssertEqual(readings.flatMap { merger.add($0, from: 0, at: .zero) }, readings)
    }

    func testReadingsBeyondTheLimitAreDeliveredEarly() {
        var merger = ReadingMerger(sources: 2, window: .seconds(1))
        var handedOn: [SensorReading] = []
        for number in 0..<5000 { handedOn += merger.add(pressure(Double(number)), from: 0, at: .zero) }
        XCTAssertEqual(handedOn.count, 5000 - ReadingMerger.limit)
        handedOn += merger.drainAll()
        XCTAssertEqual(seconds(handedOn), (0..<5000).map(Double.init))
    }

    func testAnyInterleavingWithinTheWindowIsOrderedAndComplete() {
        for seed in 0..<50 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var merger = ReadingMerger(sources: 3, window: .milliseconds(300))
            // Each source is late by up to 200 ms, and in order by itself.
            var arrivals: [(elapsed: Duration, source: Int, instant: Double)] = []
            for source in 0..<3 {
                var arrival = 0.0
                for tick in 0..<100 {
                    let instant = Double(tick) * 0.05 + generator.uniform() * 0.04
                    arrival = max(arrival, instant + generator.uniform() * 0.2)
                    arrivals.append((.nanoseconds(Int64(arrival * 1e9)), source, instant))
                }
            }
            arrivals.sort { ($0.elapsed, $0.instant) < ($1.elapsed, $1.instant) }
            var handedOn: [SensorReading] = []
            for arrival in arrivals {
                handedOn += merger.add(pressure(arrival.instant), from: arrival.source, at: arrival.elapsed)
            }
            handedOn += merger.drainAll()
            XCTAssertEqual(seconds(handedOn), arrivals.map { Instant(seconds: $0.instant).seconds }.sorted(), "\(seed)")
            XCTAssertEqual(merger.lateCount, 0)
        }
    }
}
