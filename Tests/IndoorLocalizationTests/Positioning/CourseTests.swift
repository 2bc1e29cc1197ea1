import XCTest

import IndoorLocalization

/// The direction of motion where no motion sensor tells it.
final class CourseTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testADeviceThatStandsForAMinuteHasNoCourse() {
        for seed in UInt64(1)...6 {
            var receiver = HallReceiver(at: MapPoint(x: 8, y: 11), seed: seed)
            for second in 1...60 {
                receiver.listen()
                XCTAssertNotNil(receiver.estimate)
                XCTAssertNil(receiver.estimate?.course, "second \(second), seed \(seed)")
            }
        }
    }

    func testAWalkerHasTheCourseOfTheWalk() {
        for (from, to, expected) in [
            (MapPoint(x: 2, y: 10), MapPoint(x: 18, y: 10), 90.0), (MapPoint(x: 9, y: 18), MapPoint(x: 9, y: 2), 0),
        ] {
            var (told, close) = (0, 0)
            for seed in UInt64(1)...6 {
                var receiver = HallReceiver(at: from, seed: seed)
                for second in 1...13 {
                    receiver.place = from + (to - from) * (Double(second) / 13)
                    receiver.listen()
                    guard second > 5, let course = receiver.estimate?.course else { continue }
                    told += 1
                    if abs(remainder(course - expected, 360)) < 60 { close += 1 }
                }
            }
            print("of 48 moments \(told) have a course, \(close) of them along the way")
            XCTAssertGreaterThan(told, 20, "towards \(expected)°, seeds 1...6")
            XCTAssertGreaterThan(Double(close), 0.8 * Double(told), "towards \(expected)°, seeds 1...6")
        }
    }

    func testAWalkerLosesTheCourseSoonAfterStopping() {
        var receiver = HallReceiver(at: MapPoint(x: 2, y: 10), seed: 2)
        for second in 1...12 {
            receiver.place = MapPoint(x: 2 + 1.2 * Double(second), y: 10)
            receiver.listen()
        }
        receiver.listen(seconds: 8)
        for second in 9...30 {
            receiver.listen()
            XCTAssertNotNil(receiver.estimate)
            XCTAssertNil(receiver.estimate?.course, "\(second) s after the stop, seed 2")
        }
    }
}
