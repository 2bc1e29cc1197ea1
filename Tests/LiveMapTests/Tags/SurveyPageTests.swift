import Dispatch
import Foundation
import IndoorVocabulary
import IndoorLocalizationTesting
import LiveMap
import ScanRecording
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// A fleet with the venue of the stage, whose receivers hear a tag that someone carries, and a folder for surveys.
final class StagedSurvey: Sendable {
    static let tag = "C3:00:00:12:AB:34"

    private final class Clock: Sendable {
        private let instant = Guarded(TagStage.start)
        var now: Instant { instant.withLock { $0 } }
        func advance(by duration: Duration) { instant.withLock { $0 = $0.advanced(by: duration) } }
    }

    let engine: FleetEngine
    let desk: SurveyDesk
    let folder: String
    private let clock = Clock()

    init(folder: String? = nil) throws {
        self.folder =
            folder ?? FileManager.default.temporaryDirectory.appending(path: "survey-\(UUID().uuidString)").path
        engine = try FleetEngine.start(
            FleetEngine.Setup(model: FleetModel(venue: TagStage.venue)), in: nil, at: TagStage.start
        ).engine
        desk = SurveyDesk(engine, folder: self.folder) { [clock] in clock.now }
        hear(at: 2, seconds: 2)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs an operation of actors to its end.
    private func block(_ operation: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await operation()
            done.signal()
        }
        done.wait()
    }

    /// Lets both receivers hear the tag at a place of the ground floor for some seconds, and saves the walks each second.
    func hear(at x: Double, seconds: Int) {
        for second in 0..<seconds {
            clock.advance(by: .seconds(1))
            let now = clock.now
            let messages = [("west", 2.0), ("east", 18)].map { name, place in
                let level = -50 - Int(abs(place - x)) - second % 3
                return GatewayMessage(
                    topic: "home/\(name)/BTtoMQTT/C3000012AB34",
                    payload: Array(#"{"id":"\#(Self.tag)","rssi":\#(level)}"#.utf8), arrival: now)
            }
            block { [engine, desk] in
                let step = await engine.step(messages, to: now)
                await desk.write(step.readings)
                await desk.save { _ in }
            }
        }
    }

    /// Starts a walk with the tag, and marks a place.
    func startWithAMark() throws {
        let tag = try XCTUnwrap(TagKey(Self.tag))
        block { [desk] in
            try? await desk.start(with: tag)
            try? await desk.mark(tag, at: MapPoint(x: 1, y: 1), on: 1, delay: .zero)
        }
        hear(at: 1, seconds: 3)
    }

    /// The marks and the sightings of the recording in the folder.
    func recording() throws -> (marks: [Truth], sightings: [Sighting]) {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        XCTAssertEqual(names.count, 1)
        var reader = try RecordingReader(path: folder + "/" + (try XCTUnwrap(names.first)))
        var result: (marks: [Truth], sightings: [Sighting]) = ([], [])
        while let entry = try reader.next() {
            switch entry {
            case .truth(let truth): result.marks.append(truth)
            case .measurement(.sighting(let sighting)): result.sightings.append(sighting)
            default: break
            }
        }
        return result
    }
}

/// The survey on the page of tags, in a browser of a telephone.
final class SurveyPageTests: BrowserTestCase {
    private func shown(_ survey: StagedSurvey) throws -> BrowserPage {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        board.put([try TagStage.output(StagedSurvey.tag, 1, TagStage.position(2))])
        let server = try tagServer(board, hearings: survey.engine, survey: survey.desk)
        let page = try page()
        try page.setViewport(width: 390, height: 844, isTouch: true)
        try page.open(server.url)
        try page.wait(until: "window.tagMap !== undefined")
        try page.run("await window.tagMap.ready")
        try page.run("document.querySelector('#tag-list button').click()")
        try page.wait(until: "!document.querySelector('#survey-start').closest('[hidden]')")
        return page
    }

    private func tap(_ x: Double, _ y: Double, _ page: BrowserPage) throws {
        try page.run("document.querySelector('#stage').scrollIntoView()")
        let point: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, \(x), \(y))")
        try page.click(x: point.x, y: point.y)
    }

    private func marks(_ count: Int, _ page: BrowserPage) throws {
        try page.wait(until: "window.tagMap.state().walks.find((one) => one.running)?.marks.length === \(count)")
    }

    func testTapsOnThePlanBecomeTheGroundTruthOfARecording() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        try page.run("document.querySelector('#survey-start').click()")
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
        for (count, x) in [(1, 2.0), (2, 10), (3, 18)] {
            try tap(x, 5, page)
            try marks(count, page)
            survey.hear(at: x, seconds: 4)
        }
        // The last mark is already in the file.
        try page.run("document.querySelector('#survey-undo').click()")
        try marks(2, page)
        try tap(17, 5, page)
        try marks(3, page)
        try page.wait(until: "document.querySelector('#survey-state').textContent.includes('2 receivers')")
        XCTAssertLessThanOrEqual(try page.evaluate("document.documentElement.scrollWidth") as Int, 390)
        try page.run("document.querySelector('#survey-stop').click()")
        try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('1 walk recorded')")
        XCTAssertEqual(page.problems, [])

        let recording = try survey.recording()
        XCTAssertEqual(recording.marks.count, 3)
        for (mark, x) in zip(recording.marks, [2.0, 10, 17]) {
            XCTAssertEqual(try XCTUnwrap(mark.point).x, x, accuracy: 0.2)
            XCTAssertEqual(try XCTUnwrap(mark.point).y, 5, accuracy: 0.2)
        }
        // A mark has the time of the tap, not that of the telephone's clock.
        for (mark, seconds) in zip(recording.marks, [0.0, 4, 12]) {
            XCTAssertEqual(mark.instant.seconds, seconds, accuracy: 1)
        }
        XCTAssertEqual(Set(recording.sightings.map(\.beacon)), Set(TagStage.venue.receivers.map(\.identity)))
        XCTAssertEqual(recording.sightings.count, 24)
    }

    func testADragMarksPlacesAndDoesNotMoveThePlan() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        try page.run("document.querySelector('#survey-start').click()")
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
        try page.run("document.querySelector('#stage').scrollIntoView()")
        let start: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, 4, 5)")
        let end: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, 16, 5)")
        try page.drag(from: (start.x, start.y), to: (end.x, end.y))
        try page.wait(until: "window.tagMap.state().walks.find((one) => one.running)?.marks.length > 0")
        let after: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, 4, 5)")
        XCTAssertEqual(after.x, start.x)
        survey.hear(at: 4, seconds: 3)
        let mark = try XCTUnwrap(try survey.recording().marks.first?.point)
        XCTAssertEqual(mark.x, 7, accuracy: 0.3, "the first step of the drag")
    }

    func testAWalkIsReadableAlsoIfTheProcessIsKilled() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        try page.run("document.querySelector('#survey-start').click()")
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
        XCTAssertEqual(try survey.recording().sightings.count, 0)
        try tap(2, 5, page)
        try marks(1, page)
        survey.hear(at: 2, seconds: 10)
        // Nothing closes the file.
        let recording = try survey.recording()
        XCTAssertEqual(recording.marks.count, 1)
        XCTAssertGreaterThanOrEqual(recording.sightings.count, 2 * 8, "at most two seconds are missing")
    }
}
