import Dispatch
import Foundation
import IndoorVocabulary
import IndoorLocalizationTesting
import LiveMap
import LiveSurvey
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

    private final class Answer<Value: Sendable>: Sendable {
        private let value = Guarded<Result<Value, any Error>?>(nil)
        var result: Result<Value, any Error>? { value.withLock { $0 } }
        func set(_ result: Result<Value, any Error>) { value.withLock { $0 = result } }
    }

    private final class Problems: Sendable {
        private let texts = Guarded<[String]>([])
        var list: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    let engine: FleetEngine
    private let fleet: SurveyedFleet
    let desk: SurveyDesk
    let folder: String
    private let clock = Clock()
    private let problems = Problems()

    /// The reports of recordings that can't be written.
    var reports: [String] { problems.list }

    /// - Parameter folder: the folder of the recordings; nil for a new one.
    init(
        folder: String? = nil, limits: SurveyDesk.Limits = SurveyDesk.Limits(), venue: Venue = TagStage.venue
    ) throws {
        self.folder =
            folder ?? FileManager.default.temporaryDirectory.appending(path: "survey-\(UUID().uuidString)").path
        engine = try FleetEngine.start(
            FleetEngine.Setup(model: FleetModel(venue: venue)), in: nil, at: TagStage.start
        ).engine
        if folder == nil {
            try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
        }
        fleet = SurveyedFleet(engine)
        desk = SurveyDesk(fleet, folder: self.folder, limits: limits, priority: .usual) { [clock] in clock.now }
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

    /// Asks the desk, and returns its answer.
    @discardableResult
    func ask<Value: Sendable>(
        _ operation: @escaping @Sendable (SurveyDesk, SurveyCarrier) async throws -> Value
    ) throws -> Value {
        let answer = Answer<Value>()
        block { [desk] in
            do { answer.set(.success(try await operation(desk, .tag(Self.tag)))) } catch { answer.set(.failure(error)) }
        }
        return try XCTUnwrap(answer.result).get()
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
            block { [engine, fleet, desk, problems] in
                let step = await engine.step(messages, to: now)
                await desk.add(fleet.surveyed(step.readings))
                await desk.save { problems.add($0) }
            }
        }
    }

    /// Starts a walk with the tag, and marks a place.
    func startWithAMark() throws {
        try ask { desk, tag in
            try await desk.start(with: tag)
            try await desk.mark(tag, at: MapPoint(x: 1, y: 1), on: 1, delay: .zero)
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
    private func shown(_ survey: StagedSurvey, history: TagHistory? = nil) throws -> BrowserPage {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        board.put([try TagStage.output(StagedSurvey.tag, 1, TagStage.position(2))])
        let server = try tagServer(board, hearings: survey.engine, history: history, survey: survey.desk)
        return try surveyPage(of: server)
    }

    private func tap(_ x: Double, _ y: Double, _ page: BrowserPage) throws {
        try page.run("document.querySelector('#stage').scrollIntoView()")
        let point: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, \(x), \(y))")
        try page.click(x: point.x, y: point.y)
    }

    private func marks(_ count: Int, _ page: BrowserPage) throws {
        try page.wait(
            until: """
                window.tagMap.state().waiting === 0
                    && window.tagMap.state().walks.find((one) => one.running)?.marks.length === \(count)
                """)
    }

    /// The number of marks that the page shows of the walk that runs. It shows a mark at once, before the server has it.
    private func shownMarks(_ page: BrowserPage) throws -> Int {
        try page.evaluate("window.tagMap.state().walks.find((one) => one.running).marks.length")
    }

    private func start(_ page: BrowserPage) throws {
        try page.run("document.querySelector('#survey-start').click()")
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
    }

    func testTapsOnThePlanBecomeTheGroundTruthOfARecording() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        // The time of the survey stands still between the taps, and so does that of the page.
        try page.stopClock()
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
        // The time of the survey stands still: with the page's own time, later marks would be before the first one.
        try page.stopClock()
        try page.run("document.querySelector('#survey-start').click()")
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
        try page.run("document.querySelector('#stage').scrollIntoView()")
        let start: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, 4, 5)")
        let end: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, 16, 5)")
        try page.drag(from: (start.x, start.y), to: (end.x, end.y))
        // The page shows a mark before the server has it.
        try page.wait(
            until: """
                window.tagMap.state().waiting === 0
                    && window.tagMap.state().walks.find((one) => one.running)?.marks.length > 0
                """)
        let after: ShownMap.Point = try page.evaluate("window.tagMap.screenPoint(1, 4, 5)")
        XCTAssertEqual(after.x, start.x)
        survey.hear(at: 4, seconds: 3)
        let mark = try XCTUnwrap(try survey.recording().marks.first?.point)
        XCTAssertEqual(mark.x, 7, accuracy: 0.3, "the first step of the drag")
    }

    func testAWalkIsReadableEvenIfTheProcessIsKilled() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        try page.stopClock()
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

    func testAPageMarksTheWalkOfAnotherPageOnlyAfterContinue() throws {
        let survey = try StagedSurvey()
        try survey.startWithAMark()
        let page = try shown(survey)
        try page.wait(until: "!document.querySelector('#survey-continue').hidden")
        XCTAssertTrue(
            try page.evaluate(
                "document.querySelector('#survey-stop').hidden && document.querySelector('#survey-undo').hidden")
                as Bool)
        try tap(10, 5, page)
        XCTAssertEqual(try shownMarks(page), 1)
        // The tap beside the dots has deselected the tag.
        try page.run("document.querySelector('#tag-list button').click()")
        try page.wait(until: "!document.querySelector('#survey-continue').closest('[hidden]')")
        try page.run("document.querySelector('#survey-continue').click()")
        try tap(10, 5, page)
        try marks(2, page)
    }

    func testATapOnThePastMarksNothing() throws {
        let survey = try StagedSurvey()
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).db").path
        addTeardownBlock {
            for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
        }
        let history = try TagHistory(path: path)
        let outputs = try (0...10).map { step in
            try TagStage.output(
                StagedSurvey.tag, UInt64(step + 1), TagStage.position(2, at: 5 * Double(step)), at: 5 * Double(step))
        }
        try survey.ask { _, _ in
            await history.write(outputs)
            await history.flush()
        }
        let page = try shown(survey, history: history)
        try start(page)
        let start = TagStage.start.nanoseconds / 1_000_000_000
        try page.run(
            """
            document.querySelector("#past-open").click();
            const text = (t) => {
                const date = new Date(t * 1000);
                return new Date(t * 1000 - date.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
            };
            document.getElementById("past-from").value = text(\(start));
            document.getElementById("past-to").value = text(\(start + 60));
            document.getElementById("past-tag").value = "\(StagedSurvey.tag)";
            document.getElementById("past-to").dispatchEvent(new Event("change"));
            """)
        try page.wait(
            until: "window.tagMap.state().past?.isLoaded && window.tagMap.state().selected === '\(StagedSurvey.tag)'")
        try tap(10, 5, page)
        XCTAssertEqual(try shownMarks(page), 0)
        XCTAssertFalse(try page.evaluate("document.querySelector('#plan').classList.contains('marking')") as Bool)
    }

    func testTheEndOfAWalkWaitsForItsMarks() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        try page.stopClock()
        try start(page)
        // Without the signal that ends a request after 10 s, as a busy machine may take longer to open the gate.
        try page.run(
            """
            const send = window.fetch, gate = new Promise((open) => { window.openGate = open; });
            window.fetch = async (target, options) => {
                if (!String(target).endsWith("survey/marks")) return send(target, options);
                await gate;
                return send(target, { ...options, signal: undefined });
            };
            """)
        try tap(10, 5, page)
        try page.run("document.querySelector('#survey-stop').click()")
        try page.run("window.openGate()")
        try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('1 walk recorded')")
        XCTAssertEqual(try survey.recording().marks.count, 1)
    }

    func testAMarkIsSentAgainUntilTheServerAnswersAndIsStoredOnce() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        // On a busy machine, the attempts may take longer than the largest age of a mark, and one longer than 10 s, after which
        // its signal would end it.
        try page.stopClock()
        try start(page)
        // A proxy without its server; then a mark whose answer is lost; then a refusal of another mark.
        try page.run(
            """
            const send = window.fetch;
            window.attempts = 0;
            window.fetch = async (target, options) => {
                if (!String(target).endsWith("survey/marks")) return send(target, options);
                window.attempts += 1;
                if (window.attempts === 1) return new Response("", { status: 502 });
                if (window.attempts === 4) return new Response('{"error": "No such place."}', { status: 409 });
                const answer = await send(target, { ...options, signal: undefined });
                if (window.attempts === 2) throw new TypeError("no answer");
                return answer;
            };
            """)
        try tap(10, 5, page)
        try page.wait(until: "document.querySelector('#notice').textContent === 'Your marks wait for the server.'")
        try page.wait(until: "window.attempts === 3")
        try tap(17, 5, page)
        try page.wait(until: "document.querySelector('#notice').textContent.includes('not stored: No such place.')")
        try marks(1, page)
        try page.run("document.querySelector('#survey-stop').click()")
        try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('1 walk recorded')")
        XCTAssertEqual(try survey.recording().marks.count, 1)
    }

    /// The steady clock of most browsers stands still while the telephone sleeps in a pocket.
    func testAMarkThatWaitedWhileTheTelephoneSleptIsAsOldAsItIs() throws {
        let survey = try StagedSurvey()
        let page = try shown(survey)
        try start(page)
        try page.stopClock()
        try page.run(
            """
            const send = window.fetch;
            window.isApart = true;
            window.fetch = async (target, options) => {
                if (window.isApart && String(target).endsWith("survey/marks")) throw new TypeError("no network");
                return send(target, options);
            };
            """)
        try tap(10, 5, page)
        try page.wait(until: "document.querySelector('#notice').textContent === 'Your marks wait for the server.'")
        try page.run("const time = Date.now; Date.now = () => time() + 40000; window.isApart = false")
        try page.wait(
            until: "document.querySelector('#notice').textContent.includes('The mark is more than 30 s old.')")
        try marks(0, page)
        XCTAssertEqual(try survey.recording().marks.count, 0)
    }

    func testThePageShowsThatAWalkIsFull() throws {
        var limits = SurveyDesk.Limits()
        limits.marks = 1
        let survey = try StagedSurvey(limits: limits)
        let page = try shown(survey)
        try page.stopClock()
        try start(page)
        try tap(10, 5, page)
        try page.wait(until: "document.querySelector('#survey-state').textContent.includes('has its 1 marks')")
        try tap(17, 5, page)
        try page.wait(until: "document.querySelector('#notice').textContent.includes('not stored: The walk has its')")
    }
}
