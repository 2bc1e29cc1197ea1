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

    func testLocateWithoutAVenueIsAUsageError() throws {
        let result = try Tool.run(["locate"])
        XCTAssertEqual(result.status, 2)
        XCTAssertEqual(result.errors, "indoorloc locate: --venue is missing\nTry 'indoorloc locate --help'.\n")
    }
}
