import IndoorVocabulary
import TagTracking
import TagTrackingService
import VenueModel
import XCTest
@testable import LiveSurvey

/// Which seconds and walks the figures of a learned radio map rest on.
final class SurveyMapJobTests: XCTestCase {
    private static let venue: Venue = {
        var venue = Venue(
            id: 7, name: "House", maps: [VenueMap(id: 1, name: "Hall", level: 0, width: 30, height: 10)])
        venue.receivers = [("a", 0.0, 0.0), ("b", 30, 0), ("c", 0, 10), ("d", 30, 10)].map { id, x, y in
            VenueReceiver(id: id, identity: VenueReceiver.identity(for: id), mapID: 1, point: MapPoint(x: x, y: y))
        }
        return venue
    }()

    private func job(judging: Duration? = nil) -> SurveyMapJob {
        var settings = FleetSettings()
        settings.defaultClass = "light"
        var limits = SurveyMapJob.Limits()
        limits.judging = judging
        return SurveyMapJob(
            base: Self.venue, hasTags: true, limits: limits,
            locating: SurveyedFleet.locating(settings, TagRegister()))
    }

    /// A walk through the hall in 20 s, and back in 20 s after a pause, with readings of all receivers each second.
    private func walk(_ y: Double, pause: Double) -> SurveyMapJob.Walk {
        func mark(_ seconds: Double, _ x: Double) -> SurveyRecording.Waypoint {
            SurveyRecording.Waypoint(
                instant: Instant(seconds: seconds), mapID: 1, point: MapPoint(x: x, y: y), isHold: false)
        }
        let marks = [mark(0, 5), mark(20, 25), mark(20 + pause, 25), mark(40 + pause, 5)]
        let sightings = (Array(0...20) + Array(20...40).map { $0 + Int(pause) }).flatMap { second -> [Sighting] in
            guard let place = marks.place(at: Double(second)) else { return [] }
            return Self.venue.receivers.map { receiver in
                let distance = max(1, receiver.point.distance(to: place.point))
                return Sighting(
                    instant: Instant(seconds: Double(second)), beacon: receiver.identity,
                    rssi: -50 - (2 * distance).rounded())
            }
        }
        return SurveyMapJob.Walk(file: "\(y)", recording: SurveyRecording(waypoints: marks, sightings: sightings))
    }

    func testAPauseThatInterruptsAWalkIsNotJudged() throws {
        let result = try job().run([2, 5, 8].map { walk($0, pause: 1_200) }) { _, _ in
        } isStopped: {
            false
        }
        XCTAssertEqual(result.figures.seconds, 3 * 40)
        XCTAssertEqual(result.figures.judged, 3)
        // From five seconds after the first reading, both ways with their marks.
        XCTAssertEqual(result.figures.points, 3 * (16 + 21))
    }

    func testAShortPauseIsJudged() throws {
        let result = try job().run([2, 5, 8].map { walk($0, pause: 60) }) { _, _ in
        } isStopped: {
            false
        }
        XCTAssertEqual(result.figures.seconds, 3 * 100)
        XCTAssertEqual(result.figures.points, 3 * 96)
    }

    func testFiguresHaveTheNumberOfJudgedWalksIfTheTimeIsOver() throws {
        let start = ContinuousClock.now
        var steps = 0
        let result = try job(judging: .seconds(10)).run([2, 5, 8].map { walk($0, pause: 60) }) {
            start.advanced(by: .seconds(6 * steps))
        } progress: { done, _ in
            steps = done
        } isStopped: {
            false
        }
        XCTAssertEqual(result.figures.walks, 3)
        XCTAssertEqual(result.figures.judged, 1)
        XCTAssertEqual(result.figures.points, 96)
    }
}
