import Foundation
import IndoorVocabulary
import LiveSurvey
import ScanRecording
import VenueModel
import XCTest

/// The recordings of surveys with tags: late and repeated marks, failed writes, and limits.
final class SurveyDeskTests: XCTestCase {
    private func mark(_ survey: StagedSurvey, _ x: Double, delay: Double = 0, id: String? = nil) throws {
        try survey.ask { desk, tag in
            try await desk.mark(tag, at: MapPoint(x: x, y: 5), on: 1, delay: .seconds(delay), id: id)
        }
    }

    private func refusal(_ operation: () throws -> Void) -> SurveyDesk.Refusal? {
        do { try operation() } catch { return error as? SurveyDesk.Refusal }
        return nil
    }

    private func problem(_ survey: StagedSurvey) throws -> String? {
        try survey.ask { desk, _ in await desk.status.first?.problem }
    }

    func testALateMarkHasItsOwnTimeInTheRecording() throws {
        let survey = try StagedSurvey()
        try survey.ask { try await $0.start(with: $1) }
        survey.hear(at: 2, seconds: 20)
        try mark(survey, 2, delay: 10)
        survey.hear(at: 2, seconds: 2)
        let recording = try survey.recording()
        XCTAssertEqual(recording.marks.map(\.instant.seconds), [10])
        XCTAssertEqual(recording.sightings.count, 2 * 21)
        // A removed mark leaves the file, and the others keep their times.
        try mark(survey, 3, delay: 5)
        survey.hear(at: 2, seconds: 2)
        XCTAssertEqual(try survey.recording().marks.map(\.instant.seconds), [10, 17])
        try survey.ask { try await $0.undo(with: $1) }
        survey.hear(at: 2, seconds: 2)
        XCTAssertEqual(try survey.recording().marks.map(\.instant.seconds), [10])
        try survey.ask { try await $0.stop(with: $1) }
        XCTAssertEqual(try survey.recording().sightings.count, 2 * 26)
    }

    func testTheRecordingHasTheTimeOfItsStart() throws {
        let survey = try StagedSurvey()
        try survey.ask { try await $0.start(with: $1) }
        let start = try XCTUnwrap(try survey.ask { desk, _ in await desk.status.first?.start })
        try survey.ask { try await $0.stop(with: $1) }
        let file = try XCTUnwrap(try FileManager.default.contentsOfDirectory(atPath: survey.folder).first)
        var reader = try RecordingReader(path: survey.folder + "/" + file)
        try reader.forEach { _ in }
        let header = try XCTUnwrap(reader.header)
        XCTAssertEqual(try XCTUnwrap(header.wallClock).unixTime(at: .zero).seconds, start.seconds, accuracy: 1e-3)
    }

    func testStartsAtTheSameTimeEndEachOthersWalks() throws {
        let survey = try StagedSurvey()
        try survey.ask { desk, tag in
            try await desk.start(with: tag)
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { try await desk.start(with: tag) } }
                try await group.waitForAll()
            }
        }
        let walks = try survey.ask { desk, _ in await desk.status }
        XCTAssertEqual(walks.filter(\.isRunning).count, 1)
        XCTAssertEqual(walks.count, 9, "no walk is lost")
    }

    func testAMarkOfLongAgoIsRefused() throws {
        let survey = try StagedSurvey()
        try survey.ask { try await $0.start(with: $1) }
        survey.hear(at: 2, seconds: 40)
        XCTAssertEqual(refusal { try mark(survey, 2, delay: 30.5) }, .lateMark)
        XCTAssertNil(refusal { try mark(survey, 2, delay: 30) })
        XCTAssertEqual(SurveyDesk.Refusal.lateMark.description, "The mark is more than 30 s old.")
    }

    func testARepeatedMarkIsStoredOnce() throws {
        let survey = try StagedSurvey()
        try survey.ask { try await $0.start(with: $1) }
        for (x, id) in [(1.0, "a-1"), (1, "a-1"), (2, "a-2"), (1, "a-1")] { try mark(survey, x, id: id) }
        try survey.ask { try await $0.stop(with: $1) }
        XCTAssertEqual(try survey.recording().marks.compactMap(\.point?.x), [1, 2])
    }

    func testTheMarkOfARoomIsInItsMiddleAndHasItsName() throws {
        var venue = TagStage.venue
        venue.rooms += [
            Room(id: 2, name: "Attic", mapID: 2),
            Room(id: 3, name: "Garden", mapID: 2, area: .circle(center: MapPoint(x: -4, y: 5), radius: 6)),
        ]
        let survey = try StagedSurvey(venue: venue)
        func mark(_ room: Int, delay: Double = 0, id: String? = nil) throws {
            try survey.ask { try await $0.mark($1, inRoom: room, delay: .seconds(delay), id: id) }
        }
        XCTAssertEqual(refusal { try mark(1) }, .noWalk(.tag(StagedSurvey.tag)))
        try survey.ask { try await $0.start(with: $1) }
        survey.hear(at: 5, seconds: 10)
        for id in ["a-1", "a-1"] { try mark(1, delay: 4, id: id) }
        XCTAssertEqual(refusal { try mark(9) }, .unknownRoom(9))
        XCTAssertEqual(refusal { try mark(2) }, .roomWithoutShape("Attic"))
        XCTAssertEqual(refusal { try mark(3) }, .outsideOfPlan)
        XCTAssertEqual(refusal { try mark(1, delay: 31) }, .lateMark)
        try self.mark(survey, 2)
        let hall = Truth(instant: Instant(seconds: 6), mapID: 1, point: MapPoint(x: 5.5, y: 5), room: "Hall")
        let place = Truth(instant: Instant(seconds: 10), mapID: 1, point: MapPoint(x: 2, y: 5))
        survey.hear(at: 5, seconds: 2)
        XCTAssertEqual(try survey.recording().marks, [hall, place])
        try mark(1)
        try survey.ask { try await $0.undo(with: $1) }
        try survey.ask { try await $0.undo(with: $1) }
        try survey.ask { try await $0.stop(with: $1) }
        XCTAssertEqual(try survey.recording().marks, [hall])
    }

    func testAWalkIsCompleteAfterTheDiskWasFull() throws {
        let survey = try StagedSurvey()
        try survey.startWithAMark()
        let names = try FileManager.default.contentsOfDirectory(atPath: survey.folder)
        let path = survey.folder + "/" + (try XCTUnwrap(names.first))
        let size = try XCTUnwrap(
            FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        ).uint64Value
        // A limit of the size of files has the same effect as a full disk: a write ends in the middle of a line.
        let earlier = signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        var small = limit
        small.rlim_cur = rlim_t(size + 100)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
        survey.hear(at: 2, seconds: 4)
        let during = try? problem(survey)
        let end = refusal { try survey.ask { try await $0.stop(with: $1) } }
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        signal(SIGXFSZ, earlier)
        XCTAssertEqual(survey.reports.count, 1, "\(survey.reports)")
        XCTAssertEqual(survey.reports.first?.hasPrefix("\(path): cannot be written"), true, "\(survey.reports)")
        XCTAssertEqual(during?.contains("The recording can't be written:"), true, "\(String(describing: during))")
        guard case .unwritable = end else { return XCTFail("\(String(describing: end))") }
        // The log has the path, and the page the name.
        for text in [during, end?.description] {
            XCTAssertEqual(text?.contains(survey.folder), false, text ?? "")
            XCTAssertEqual(text?.contains(try XCTUnwrap(names.first)), true, text ?? "")
        }
        survey.hear(at: 2, seconds: 2)
        XCTAssertNil(try problem(survey))
        try survey.ask { try await $0.stop(with: $1) }
        let recording = try survey.recording()
        XCTAssertEqual(recording.marks.count, 1)
        XCTAssertEqual(recording.sightings.count, 2 * 9)
        XCTAssertEqual(survey.reports.count, 1)
    }

    func testAWalkThatCannotStartIsReportedWithThePath() throws {
        let survey = try StagedSurvey(folder: "/none/survey")
        let refusal = try XCTUnwrap(refusal { try survey.ask { try await $0.start(with: $1) } })
        XCTAssertTrue(refusal.description.hasPrefix("The recording can't be written: "), refusal.description)
        XCTAssertFalse(refusal.description.contains("/none"), refusal.description)
        survey.hear(at: 2, seconds: 2)
        XCTAssertEqual(survey.reports.count, 1, "\(survey.reports)")
        XCTAssertEqual(survey.reports.first?.hasPrefix("/none/survey/"), true, "\(survey.reports)")
    }

    func testEachSeriesOfFailedWritesIsReportedOnce() throws {
        let survey = try StagedSurvey()
        try survey.startWithAMark()
        let names = try FileManager.default.contentsOfDirectory(atPath: survey.folder)
        let draft = survey.folder + "/" + (try XCTUnwrap(names.first)) + ".new"
        for series in 1...2 {
            try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
            try mark(survey, 3, delay: 2)
            survey.hear(at: 2, seconds: 4)
            XCTAssertEqual(survey.reports.count, series, "\(survey.reports)")
            XCTAssertNotNil(try problem(survey))
            try FileManager.default.removeItem(atPath: draft)
            survey.hear(at: 2, seconds: 4)
            XCTAssertNil(try problem(survey))
            XCTAssertEqual(try survey.recording().marks.count, 1 + series)
        }
    }

    func testAFullWalkRefusesMarksWithTheReason() throws {
        var limits = SurveyDesk.Limits()
        limits.entries = 10
        let survey = try StagedSurvey(limits: limits)
        try survey.startWithAMark()
        XCTAssertNil(try problem(survey))
        survey.hear(at: 2, seconds: 4)
        XCTAssertEqual(refusal { try mark(survey, 2) }, .fullWalk(10))
        XCTAssertEqual(
            try problem(survey), "The recording has its 10 entries. End the walk, and start another one.")
        limits = SurveyDesk.Limits()
        limits.marks = 2
        let marked = try StagedSurvey(limits: limits)
        try marked.startWithAMark()
        try mark(marked, 2)
        XCTAssertEqual(refusal { try mark(marked, 3) }, .tooManyMarks(2))
        XCTAssertEqual(try problem(marked), "The walk has its 2 marks. End it, and start another one.")
    }
}
