import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import Synchronization
import VenuePackets
import XCTest
@testable import indoorloc

/// `locate` with a scripted source; guest tests cover the radio.
final class LocateCommandTests: XCTestCase {
    private struct Failure: Error {}

    /// The first seconds of a walk, with an arbitrary first instant.
    ///
    /// - Parameter pace: a live script delivers all readings at once, while the session prepares the engine.
    private func walk(pace: ScanPace = .recorded, failure: (any Error)? = nil) throws -> ScriptedSource {
        let path = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        var reader = try RecordingReader(path: path)
        var readings: [SensorReading] = []
        while let entry = try reader.next(), readings.count < 1500 {
            guard case .measurement(var reading) = entry else { continue }
            reading.instant = reading.instant.advanced(by: .seconds(4000))
            readings.append(reading)
        }
        return ScriptedSource(readings, pace: pace, failure: failure)
    }

    private func news(_ source: ScriptedSource, givesReadings: Bool = false) async throws -> [LiveSession.Update] {
        let packet = try VenuePacketReader().read(try FixtureFolder("office").path)
        let session = LiveSession(venue: packet.venue, settings: SettingsStack(), seed: 0)
        let news = Mutex<[LiveSession.Update]>([])
        try await session.run(source, givesReadings: givesReadings) { item in news.withLock { $0.append(item) } }
        return news.withLock { $0 }
    }

    private func told(_ news: [LiveSession.Update]) -> [SessionReplay.Output.Content] {
        news.compactMap { if case .output(let output) = $0 { output.content } else { nil } }
    }

    func testASessionOutputsStatesAndPositionsUntilTheSourceEnds() async throws {
        let contents = told(try await news(try walk()))
        let states = contents.compactMap { if case .state(let state) = $0 { state.name } else { nil } }
        XCTAssertEqual(states.first, "started", "the state before the start is no news")
        XCTAssertEqual(states.last, "idle")
        XCTAssertTrue(states.contains("localizationRunning"), "\(states)")
        let positions = contents.filter { if case .position = $0 { true } else { false } }
        XCTAssertGreaterThan(positions.count, 3)
    }

    func testASessionPassesReadingsOnForARecording() async throws {
        let with = try await news(try walk(pace: .live), givesReadings: true)
        let heard = with.count { if case .reading = $0 { true } else { false } }
        XCTAssertEqual(heard, 1500)
        let without = try await news(try walk())
        XCTAssertFalse(without.contains { if case .reading = $0 { true } else { false } })
    }

    func testASourceThatFailsEndsTheSessionWithItsError() async throws {
        let contents = told(try await news(try walk(pace: .live, failure: Failure())))
        guard case .state(.error(let error))? = contents.last(where: { if case .state = $0 { true } else { false } })
        else { return XCTFail("\(String(describing: contents.last))") }
        XCTAssertTrue("\(error)".contains("Failure"), "\(error)")
        XCTAssertEqual(contents.suffix(2), [.error(error), .state(.error(error))], "the last state comes last")
    }

    func testLocateMonitorsTheGeofencesOfAFile() async throws {
        let file = try Checkout.root().appending(path: "Fixtures/geofences/office.geojson").path
        let words = ["--venue", "unused", "--geofences", file, "--set", "areaDwell=0"]
        let command = try LocateCommand(ParsedArguments(words, syntax: LocateCommand.syntax))
        let venue = try VenuePacketReader().read(try FixtureFolder("office").path).venue
        let events = Mutex<[String]>([])
        try await command.session(in: venue).run(try walk(), givesReadings: false) { news in
            guard case .output(let output) = news, case .event(let event) = output.content, event.geofence != nil else {
                return
            }
            events.withLock { $0.append("\(event)") }
        }
        let told = events.withLock { $0 }
        XCTAssertTrue(told.contains("enterGeofence Printer"), "\(told)")
    }

    /// The session, its recording and its log lines have the same trace identifier.
    func testTheRecordingHasTheSessionsTraceID() throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        var target = try XCTUnwrap(
            try ParsedArguments(["--record", path], syntax: LocateCommand.syntax).recordTarget())
        target.traceID = TraceID(rawValue: 0x1F)
        var recorder = try LiveRecorder(target)
        try recorder.write(.pressure(PressureSample(instant: .zero, hectopascals: 1000)))
        try recorder.close()
        var reader = try RecordingReader(path: path)
        guard case .header(let header)? = try reader.next() else { return XCTFail("no header") }
        XCTAssertEqual(header.traceID, TraceID(rawValue: 0x1F))
    }

    /// The recording is a pipe, whose reader leaves before the source fails.
    func testTheErrorOfTheSourceIsReportedAlthoughTheRecordingCannotBeCompletedAfterIt() async throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        XCTAssertEqual(mkfifo(path, 0o600), 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        XCTAssertGreaterThanOrEqual(reader, 0)
        let words = ["--venue", "unused", "--record", path]
        let command = try LocateCommand(ParsedArguments(words, syntax: LocateCommand.syntax))
        let venue = try VenuePacketReader().read(try FixtureFolder("office").path).venue
        let source = ScriptedSource()
        async let ending = Self.endScan(of: source, afterTheHeaderIn: reader)
        do {
            try await command.locate(in: venue, source)
            XCTFail("no error")
        } catch { XCTAssertTrue(error is LocalizationError, "\(error)") }
        let hasBegun = try await ending
        XCTAssertTrue(hasBegun, "the recording has a header")
    }

    /// Lets a source fail after the reader of its recording has left; returns whether the recording had begun.
    private static func endScan(of source: ScriptedSource, afterTheHeaderIn reader: Int32) async throws -> Bool {
        try await source.waitForScans()
        // A satellite position waits for other readings, so the recorder writes it at the end.
        let coordinate = Coordinate(latitude: 52, longitude: 13)
        source.send(.gnss(GNSSFix(instant: .zero, coordinate: coordinate, accuracy: 5)))
        let hasBegun = await isReadable(reader)
        close(reader)
        source.fail(Failure())
        return hasBegun
    }

    /// Returns whether a descriptor is readable within the bound of the tests.
    private static func isReadable(_ descriptor: Int32) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let count = poll(&awaited, 1, Int32(Tool.bound * 1_000))
                continuation.resume(returning: count == 1 && awaited.revents & Int16(POLLIN) != 0)
            }
        }
    }

    func testTheFirstErrorIsThrownAndALaterOneIsAWarning() throws {
        let warnings = Mutex<[String]>([])
        var failure = FirstFailure { text in warnings.withLock { $0.append(text) } }
        failure.note(OutputError(number: EPIPE))
        XCTAssertNoThrow(try failure.check(), "the reader of the output has all that it wants")
        failure.note(OutputError(number: ENOSPC))
        failure.note(OutputError(number: EIO))
        failure.note(OutputError(number: ENOSPC))
        XCTAssertThrowsError(try failure.check()) { XCTAssertEqual(($0 as? OutputError)?.number, ENOSPC) }
        XCTAssertEqual(warnings.withLock { $0 }, [OutputError(number: EIO).description])
    }

    func testLocateWithoutAVenueIsAUsageError() throws {
        let result = try Tool.run(["locate"])
        XCTAssertEqual(result.status, 2)
        XCTAssertEqual(result.errors, "indoorloc locate: --venue is missing\nTry 'indoorloc locate --help'.\n")
    }
}

/// The reason for the absence of positions on the command line.
final class DiagnosisCommandTests: XCTestCase {
    private static let uuid = "00000000-0000-4000-8000-00000000F00D"

    /// Writes a recording of beacons of no known venue, 20 readings a second; returns its path.
    private func unknownBeacons(_ count: Int, seconds: Int, in folder: String) throws -> String {
        var recording = try ShortRecording(lines: 0)
        for tick in 0..<seconds * 20 {
            let minor = tick % count + 1
            recording.lines.append(
                #"{"t":\#(Double(tick) / 20),"type":"beacon","uuid":"\#(Self.uuid)","major":9,"minor":\#(minor),"#
                    + #""rssi":\#(-50 - minor)}"#)
        }
        return try recording.write(to: folder)
    }

    private func diagnoses(_ result: Tool.Result) -> [String] {
        result.lines.filter { $0.contains(#""type":"diagnosis""#) }.map(String.init)
    }

    func testReplayPrintsTwentyUnknownBeaconsAfterFiveSecondsAndAtItsEnd() throws {
        let path = try unknownBeacons(20, seconds: 8, in: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(result.status, 0)
        let names = (1...20).map { "\(Self.uuid)/9/\($0)" }
        let text =
            "20 beacons were received, of which none belongs to 'Office': "
            + names.prefix(3).joined(separator: ", ") + " and 17 more"
        let help =
            "orrect the names of the beacons in the packet, or add the packet of the venue that has these beacons"
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        XCTAssertEqual(
            diagnoses(result),
            [
                #"{"t":5.000,"type":"diagnosis","reason":"unknownBeacons","text":"\#(text).","help":"C\#(help).","#
                    + #""beacons":[\#(list)]}"#
            ])
        XCTAssertEqual(result.errors, "indoorloc: \(path): no position, as \(text); c\(help)\n")
    }

    func testViewPrintsWhyARecordingHasNoPosition() throws {
        let folder = try temporaryFolder()
        let path = try unknownBeacons(1, seconds: 8, in: folder)
        let view = ["view", "--venue", "Fixtures/office", "--output", folder + "/page.html"]
        let result = try Tool.run(view + [path])
        XCTAssertEqual(result.status, 0, result.errors)
        let replay = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertTrue(
            result.errors.hasPrefix("indoorloc: \(path): no position, as 1 beacon was received"), result.errors)
        XCTAssertEqual(result.errors, replay.errors)
        let located = try Tool.run(view + ["--overwrite", "Fixtures/recordings/one-floor/scan.jsonl.gz"])
        XCTAssertEqual([located.status, Int32(located.errors.utf8.count)], [0, 0], located.errors)
    }

    func testAShortRecordingPrintsTheReasonAtItsEndOnly() throws {
        let path = try unknownBeacons(1, seconds: 2, in: temporaryFolder())
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", path])
        XCTAssertEqual(diagnoses(result), [])
        XCTAssertTrue(
            result.errors.contains(
                "no position, as 1 beacon was received, which does not belong to 'Office': \(Self.uuid)/9/1; correct"),
            result.errors)
    }

    func testARecordingThatLocatesTheDevicePrintsNoDiagnosis() throws {
        let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", recording])
        XCTAssertTrue(result.output.contains(#""type":"position""#))
        XCTAssertEqual(diagnoses(result), [])
        XCTAssertEqual(result.errors, "")
    }

    func testTheServicePrintsTheReasonAndReportsItAsItsStatus() throws {
        let folder = try temporaryFolder()
        let path = try unknownBeacons(20, seconds: 3600, in: folder)
        let socket = try NotifySocket(in: folder)
        let service = try ServiceProcess(
            ["--venue", "Fixtures/office", "--replay", path, "--state-directory", folder],
            environment: ["NOTIFY_SOCKET": socket.path])
        try socket.wait(
            for: "STATUS=searching for a venue; 0 positions so far; 20 beacons were received, of which none belongs to "
        )
        let line = try service.wait(for: #""type":"diagnosis""#)
        XCTAssertTrue(line.contains(#""reason":"unknownBeacons""#), line)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0)
    }

    func testTheStatusHasTheReasonUntilPositionsReturn() {
        var status = ServiceStatus()
        _ = status.observe(.state(.searchVenue))
        XCTAssertEqual(status.text, "searching for a venue; 0 positions so far")
        var diagnosis = SessionDiagnosis(state: .searchVenue, reason: .noBeacons)
        diagnosis.duration = .seconds(5)
        let words = "searching for a venue; 0 positions so far; no beacon was received for"
        XCTAssertEqual(status.observe(.diagnosis(diagnosis)), [.status(words + " 5 s")])
        diagnosis.duration = .seconds(60)
        status.renew(diagnosis)
        XCTAssertEqual(status.text, words + " 60 s")
        status.renew(SessionDiagnosis(state: .searchVenue, reason: .noReadings))
        XCTAssertEqual(status.text, words + " 60 s", "the other reason has not lasted yet")
        let located = SessionDiagnosis(state: .searchVenue, reason: .located)
        XCTAssertEqual(
            status.observe(.diagnosis(located)), [.status("searching for a venue; 0 positions so far")])
        _ = status.observe(.diagnosis(diagnosis))
        _ = status.observe(.state(.getPacket(venueID: 1, progress: 0)))
        XCTAssertEqual(status.text, "fetching venue 1: 0 %; 0 positions so far")
    }

    func testTheStatusRegainsAReasonThatOutlastsTheState() {
        var status = ServiceStatus()
        var diagnosis = SessionDiagnosis(state: .searchVenue, reason: .radioFailed)
        diagnosis.radio = RadioEvent(instant: .zero, status: .poweredOff, adapter: "hci0")
        _ = status.observe(.state(.started))
        _ = status.observe(.diagnosis(diagnosis))
        _ = status.observe(.state(.searchVenue))
        XCTAssertTrue(status.isOutdated)
        status.renew(diagnosis)
        XCTAssertEqual(
            status.text, "searching for a venue; 0 positions so far; the radio cannot receive: hci0 is powered off")
        _ = status.observe(.state(.getPacket(venueID: 1, progress: 0)))
        status.renew(SessionDiagnosis(state: .searchVenue, reason: .downloadingPacket))
        XCTAssertFalse(status.isOutdated)
        XCTAssertEqual(status.text, "fetching venue 1: 0 %; 0 positions so far")
    }

    func testTheReasonReplacesTheErrorInTheStatus() {
        var status = ServiceStatus()
        _ = status.observe(.state(.searchVenue))
        let event = RadioEvent(instant: .zero, status: .poweredOff, adapter: "hci0")
        _ = status.observe(.error(LocalizationError(code: .generic, message: "\(event)", kind: .sensorFailed)))
        XCTAssertEqual(status.text, "searching for a venue; 0 positions so far; hci0 is powered off")
        var diagnosis = SessionDiagnosis(state: .searchVenue, reason: .radioFailed)
        diagnosis.radio = event
        _ = status.observe(.diagnosis(diagnosis))
        XCTAssertEqual(
            status.text, "searching for a venue; 0 positions so far; the radio cannot receive: hci0 is powered off")
    }
}
