import IndoorVocabulary
import TagTracking
import VenueModel
import XCTest
@testable import TagTrackingService

final class TagTrailsTests: XCTestCase {
    private func position(_ x: Double) -> Position {
        Position(
            instant: .zero, venueID: VenueID(rawValue: 1), mapID: MapID(rawValue: 1), point: MapPoint(x: x, y: 0),
            radius: 1)
    }

    private func instant(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

    func testATrailHasAtMostAPointPerSecond() {
        var trails = TagTrails(capacity: 10_000)
        for number in 0..<50 {
            trails.add(position(Double(number)), of: .name("a"), at: instant(Double(number) / 10))
        }
        let points = trails.points(of: .name("a"), since: .zero)
        XCTAssertEqual(points.map(\.x), [0, 10, 20, 30, 40])
        XCTAssertEqual(trails.points(of: .name("a"), since: instant(2.5)).map(\.x), [30, 40])
        XCTAssertEqual(trails.points(of: .name("b"), since: .zero), [])
    }

    func testManyTagsHaveCoarserTrailsOverTheWholeSpan() {
        // 600 points for 10 tags in ten minutes: one point per 10 s.
        var trails = TagTrails(capacity: 600)
        for second in 0..<1200 {
            for tag in 0..<10 {
                trails.add(position(Double(second)), of: .name("\(tag)"), at: instant(Double(second)))
            }
        }
        XCTAssertEqual(trails.interval, .seconds(10))
        for tag in 0..<10 {
            let points = trails.points(of: .name("\(tag)"), since: instant(599))
            XCTAssertGreaterThanOrEqual(points.count, 59, "tag \(tag)")
            XCTAssertLessThanOrEqual(points.count, 61, "tag \(tag)")
            let times = points.map(\.instant.seconds)
            XCTAssertEqual(times, times.sorted())
            XCTAssertEqual(zip(times, times.dropFirst()).map { $1 - $0 }.min(), 10)
        }
    }

    func testAnOverwrittenPointEndsATrail() {
        var trails = TagTrails(capacity: 4)
        trails.add(position(1), of: .name("a"), at: instant(0))
        for number in 0..<4 {
            trails.add(position(0), of: .name("b\(number)"), at: instant(1))
        }
        XCTAssertEqual(trails.points(of: .name("a"), since: .zero), [])
        XCTAssertEqual(trails.points(of: .name("b3"), since: .zero).count, 1)
    }
}

final class ChangeLogTests: XCTestCase {
    private func tags(_ log: ChangeLog, after start: UInt64 = 0) -> [TagKey] {
        log.tags(after: start, upTo: log.last, limit: 10) { _ in true }.tags
    }

    func testATagIsReportedOnceInTheOrderOfItsLastChange() {
        var log = ChangeLog()
        for name in ["a", "b", "a"] { log.add(.name(name)) }
        XCTAssertEqual(tags(log), [.name("b"), .name("a")])
        XCTAssertEqual(tags(log, after: 2), [.name("a")])
    }

    func testTheMemoryStaysBoundedWhileTagsAreDiscarded() {
        var log = ChangeLog()
        for number in 0..<20_000 {
            log.add(.name("\(number)"))
            if number.isMultiple(of: 100) { log.keep { $0 == .name("\(number)") } }
        }
        XCTAssertEqual(log.tagCount, 100)
        log.keep { $0 == .name("19999") }
        XCTAssertEqual(tags(log), [.name("19999")])
    }
}
