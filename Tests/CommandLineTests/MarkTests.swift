import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LiveMap
import ScanRecording
import VenuePackets
import XCTest

@testable import indoorloc

/// A pseudo terminal: the test types at `keyboard`, and a command reads from `terminal`.
final class PseudoTerminal {
    let keyboard: Int32
    let terminal: Int32

    init() throws {
        var (keyboard, terminal): (Int32, Int32) = (-1, -1)
        guard openpty(&keyboard, &terminal, nil, nil, nil) == 0 else { throw POSIXError(.EIO) }
        (self.keyboard, self.terminal) = (keyboard, terminal)
    }

    deinit {
        close(keyboard)
        close(terminal)
    }

    var mode: termios {
        var mode = termios()
        tcgetattr(terminal, &mode)
        return mode
    }
}

/// Readings of a walk through places; at each place, a test does something before the walk goes on.
private struct GuidedWalk: ScanSource {
    /// The readings at each place.
    let places: [[SensorReading]]
    /// Called when all readings at a place have arrived.
    let arrived: @Sendable (_ place: Int) async throws -> Void

    var pace: ScanPace { .live }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let cursor = Guarded((place: 0, reading: 0))
        // The next reading is requested after the previous one was passed on.
        return AsyncThrowingStream {
            while true {
                let (place, reading) = cursor.withLock { $0 }
                guard places.indices.contains(place) else { return nil }
                if places[place].indices.contains(reading) {
                    cursor.withLock { $0.reading += 1 }
                    return places[place][reading]
                }
                try await arrived(place)
                cursor.withLock { $0 = ($0.place + 1, 0) }
            }
        }
    }
}

/// The ground truth that a user supplies while recording.
final class MarkTests: XCTestCase {
    /// Points on the ground floor of the office.
    private static let points = ["1,2,10", "1,8,10", "1,14,10", "1,20,10", "1,26,10"]

    /// Settings that save time in the pauses between the points.
    private static let light = [
        "--set", "positionInterval=5", "--set", "positioning.globalUpdateInterval=30", "--set",
        "positioning.particleCount=100",
    ]

    /// Two seconds of readings of all beacons at each point, 100 s apart: far longer than the time of a key press.
    private func walk(_ arrived: @escaping @Sendable (Int) async throws -> Void) throws -> GuidedWalk {
        let venue = try VenuePacketReader().read(try FixtureFolder("office").path).venue
        let places = Self.points.indices.map { place in
            (0..<20).flatMap { tick in
                venue.beacons.filter { $0.mapID == 1 }.map { beacon -> SensorReading in
                    let x = 2 + 6 * Double(place)
                    let distance = max(1, MapPoint(x: x, y: 10).distance(to: beacon.point))
                    let instant = Instant(seconds: 7000 + 100 * Double(place) + Double(tick) / 10)
                    let rssi = max(-95, -59 - 3 * distance).rounded()
                    return .sighting(Sighting(instant: instant, beacon: beacon.identity, rssi: rssi))
                }
            }
        }
        return GuidedWalk(places: places, arrived: arrived)
    }

    private func truths(_ path: String) throws -> [Truth] {
        var reader = try RecordingReader(path: path)
        return try reader.readAll().compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
    }

    private func command(_ words: [String]) throws -> ScanCommand {
        try ScanCommand(ParsedArguments(words, syntax: ScanCommand.syntax))
    }

    /// The whole way of a survey: walk with a list of points, press a key at each, learn the radio map, and replay.
    func testASurveyIsMadeFromMarksWithoutEditing() async throws {
        let folder = try temporaryFolder()
        let (list, recording) = (folder + "/points.txt", folder + "/walk.jsonl.gz")
        try ("# the corridor\n\n" + Self.points.joined(separator: "\n") + "\n").write(
            toFile: list, atomically: true, encoding: .utf8)
        let terminal = try PseudoTerminal()
        let before = terminal.mode.c_lflag
        let (prompts, continuation) = AsyncStream.makeStream(of: String.self)
        let keyboard = terminal.keyboard
        let walk = try walk { place in
            if place == 0 { _ = try await Bounded.first(1, of: prompts) }
            // At the second point, the user presses too early, undoes, and presses again.
            for key in place == 1 ? ["\n", "x", "u", " "] : ["\n"] {
                _ = key.withCString { write(keyboard, $0, 1) }
                guard key != "x" else { continue }
                let told = try await Bounded.first(1, of: prompts)[0]
                guard key != "u" else {
                    XCTAssertEqual(
                        told, "point 2 of 5: (8, 10) m on map 1; press Enter when you are there, or u to undo")
                    continue
                }
                let next = place == 4 ? "all 5 marks are set" : "point \(place + 2) of 5: ("
                XCTAssertTrue(told.hasPrefix(next), told)
            }
        }
        let venue = try FixtureFolder("office").path
        let command = try command(["--record", recording, "--marks", list, "--venue", venue])
        try await command.listen(to: walk, terminal: terminal.terminal) { continuation.yield($0) }
        XCTAssertEqual(terminal.mode.c_lflag, before, "the terminal's mode is restored")

        let truths = try truths(recording)
        XCTAssertEqual(
            truths.map { MarkedPlace(mapID: $0.mapID ?? 0, point: $0.point ?? MapPoint(x: 0, y: 0)) },
            Self.points.compactMap { MarkedPlace($0) })
        for (place, truth) in truths.enumerated() {
            // The next place is 100 s later.
            XCTAssertEqual(truth.instant.seconds, 100 * Double(place) + 2, accuracy: 50)
            XCTAssertFalse(truth.isHold)
        }
        let map = folder + "/map.json"
        let survey = try Tool.run(["survey", "--venue", venue, "--output", map, recording])
        XCTAssertEqual(survey.status, 0, survey.errors)
        XCTAssertEqual(survey.errors, "")
        XCTAssertTrue(survey.output.hasPrefix("\(map): "), survey.output)
        let replay = try Tool.run(["replay", "--venue", venue, "--radio-map", map, recording] + Self.light)
        XCTAssertEqual(replay.status, 0, replay.errors)
        XCTAssertTrue(replay.output.contains("\"position\""), replay.output)
    }

    func testAStayHasItsGroundTruthFromTheFirstReading() async throws {
        let recording = try temporaryFolder() + "/kitchen.jsonl"
        let walk = GuidedWalk(places: [try walk { _ in }.places[0]]) { _ in }
        try await command(["--record", recording, "--at", "1, 2.5,10", "--room", "Kitchen"]).listen(to: walk)
        XCTAssertEqual(
            try truths(recording),
            [Truth(instant: .zero, mapID: 1, point: MapPoint(x: 2.5, y: 10), room: "Kitchen", isHold: true)])
        let folder = try temporaryFolder()
        let venue = try FixtureFolder("office").path
        let survey = try Tool.run(["survey", "--venue", venue, "--output", folder + "/map.json", recording])
        XCTAssertEqual(survey.status, 0, survey.errors)
        let rooms = try RoomRecording(path: recording)
        XCTAssertEqual(rooms.stays.map(\.room), ["Kitchen"])
    }

    func testMarksOnALiveMapAreRecorded() async throws {
        let recording = try temporaryFolder() + "/walk.jsonl"
        let office = try FixtureFolder("office").path
        let marks = LiveMarks(venue: try VenuePacketReader().read(office).venue)
        let places = Self.points.compactMap { MarkedPlace($0) }
        XCTAssertEqual(
            marks.mark(places[0]),
            "The mark isn't stored, because no reading was recorded yet. Mark the place again later.")
        XCTAssertEqual(
            marks.mark(MarkedPlace(mapID: 9, point: MapPoint(x: 1, y: 1))),
            "The mark isn't stored: 'Office' has no map 9; its maps are 1 (Ground floor), 2 (Upper floor).")
        let walk = try walk { place in
            // The first mark waits until the recording has begun.
            try await Bounded.poll(for: "the mark") { marks.mark(places[place]) == nil }
        }
        let words = ["--venue", office, "--record", recording] + Self.light
        let command = try LocateCommand(ParsedArguments(words, syntax: LocateCommand.syntax))
        try await command.locate(in: try VenuePacketReader().read(office).venue, walk, marks: marks)
        let truths = try truths(recording)
        XCTAssertEqual(truths.compactMap(\.point), places.map(\.point))
        for (place, truth) in truths.enumerated() {
            XCTAssertEqual(truth.instant.seconds, 100 * Double(place) + 2, accuracy: 50)
        }
    }

    /// The same with the page's requests: the server of `--http` stores each mark at the instant of its request.
    func testMarksThatALiveMapReceivesByHTTPAreRecorded() async throws {
        let recording = try temporaryFolder() + "/walk.jsonl"
        let packet = try VenuePacketReader().read(try FixtureFolder("office").path)
        let marks = LiveMarks(venue: packet.venue)
        let listener = try LiveMapListener(LiveMapAddress("127.0.0.1:0"))
        let map = LiveMapCompanion(
            listener: listener, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)),
            marks: { marks.mark(MarkedPlace($0)) })
        let url = "http://\(listener.address)/"
        let metrics = Guarded("")
        let places = Self.points.compactMap { MarkedPlace($0) }
        let walk = try walk { index in
            let (map, point) = (places[index].mapID, places[index].point)
            let body = #"{"mapId":\#(map),"x":\#(point.x),"y":\#(point.y)}"#
            let post = ["--data", body, "--header", "Content-Type: application/json", url + "api/v1/marks"]
            // The first mark waits until the recording has begun.
            try await Bounded.poll(for: "mark \(index)") {
                try await Self.curl(["--write-out", "%{http_code}"] + post) == "204"
            }
            guard index == places.count - 1 else { return }
            let refusal = try await Self.curl(["--data", #"{"mapId":9,"x":1,"y":1}"#] + post.dropFirst(2))
            XCTAssertTrue(refusal.contains("has no map 9"), refusal)
            // The session takes its readings later than the recorder, which the mark needs.
            try await Bounded.poll(for: "a metric of a reading") {
                let text = try await Self.curl([url + "metrics"])
                metrics.withLock { $0 = text }
                return text.contains(/\nindoorloc_reading_duration_seconds_count [1-9]/)
            }
        }
        let words = ["--venue", "unused", "--record", recording] + Self.light
        let command = try LocateCommand(ParsedArguments(words, syntax: LocateCommand.syntax))
        try await command.locate(in: packet.venue, walk, map, marks: marks)

        let truths = try truths(recording)
        XCTAssertEqual(truths.compactMap(\.mapID), places.map(\.mapID))
        XCTAssertEqual(truths.compactMap(\.point), places.map(\.point))
        for (index, truth) in truths.enumerated() {
            // Nearer to the readings at the place than to those at the places before and after it. The margin is wide: on a
            // busy machine, the recorder receives the readings later than they arrive.
            XCTAssertEqual(truth.instant.seconds, 100 * Double(index) + 2, accuracy: 50)
        }
        let text = metrics.withLock(\.self)
        XCTAssertTrue(text.hasSuffix("# EOF\n"), text)
    }

    /// Runs curl on its own thread, as it blocks; returns standard output.
    static func curl(_ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try Tool.run(["--silent", "--max-time", "180"] + arguments, program: "/usr/bin/curl").output
                    })
            }
        }
    }

    func testASecondSignalRestoresTheTerminal() async throws {
        let terminal = try PseudoTerminal()
        let before = terminal.mode
        let work = LiveWork<Never>(tick: .seconds(60), limit: nil) { _ in }
        let keys = try XCTUnwrap(TerminalKeys(of: terminal.terminal) { _, _ in })
        work.exitActions.add(keys.restore)
        XCTAssertNotEqual(terminal.mode.c_lflag, before.c_lflag)
        XCTAssertEqual(terminal.mode.c_cc.1, 0, "Ctrl-\\ doesn't end the process")
        work.exitActions.run()
        XCTAssertEqual(terminal.mode.c_lflag, before.c_lflag)
        XCTAssertEqual(terminal.mode.c_cc.1, before.c_cc.1)
        keys.close()
        await work.stop()
    }

    private func pressure(at seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: 1000))
    }

    func testALateUndoIsRefused() {
        var buffer = MarkBuffer()
        buffer.add(pressure(at: 0))
        buffer.insert(Truth(instant: Instant(seconds: 0.5), mapID: 1, point: MapPoint(x: 1, y: 1)))
        buffer.add(pressure(at: 0.2))
        XCTAssertEqual(buffer.release().count, 0, "a late reading precedes the mark")
        var written: [RecordingEntry] = []
        for second in 1...200 {
            buffer.add(pressure(at: Double(second)))
            written += buffer.release()
        }
        XCTAssertNil(buffer.removeLastMark())
        written += buffer.drain()
        XCTAssertEqual(written.count, 203)
        XCTAssertEqual(written.compactMap(\.instant), written.compactMap(\.instant).sorted())
        guard case .truth? = written.dropFirst(2).first else { return XCTFail("\(written.prefix(4))") }
    }

    func testReadingsStayInTheBufferOnlyBehindAMark() {
        var buffer = MarkBuffer()
        for second in 0...20 { buffer.add(pressure(at: Double(second))) }
        XCTAssertEqual(buffer.release().count, 15)
        XCTAssertEqual(buffer.entries.compactMap(\.instant), (15...20).map { Instant(seconds: Double($0)) })
        buffer.insert(Truth(instant: Instant(seconds: 20.5), mapID: 1, point: MapPoint(x: 1, y: 1)))
        for second in 21...50 { buffer.add(pressure(at: Double(second))) }
        XCTAssertEqual(buffer.release().count, 6)
        XCTAssertEqual(buffer.entries.count, 31)
        buffer.add(pressure(at: 51))
        XCTAssertEqual(buffer.release().count, 1, "the mark can't be undone any more")
    }

    /// A killed scan leaves the entries of the buffer too, although a mark among them can still be undone.
    func testTheFileHasTheEntriesThatCanStillChange() throws {
        let folder = try temporaryFolder()
        let mark = RecordingEntry.truth(Truth(instant: Instant(seconds: 2.5), mapID: 1, point: MapPoint(x: 1, y: 1)))
        let readings = (0...4).map { RecordingEntry.measurement(pressure(at: Double($0))) }
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = "\(folder)/\(name)"
            func stored() throws -> [RecordingEntry] {
                var reader = try RecordingReader(path: path)
                return try reader.readAll().filter { if case .header = $0 { false } else { true } }
            }
            var output = try ConvertedOutput(
                OutputFile(path: path, isPrivate: true), format: .recording, header: RecordingHeader(),
                startMicroseconds: 0, adapter: 0,
                strictness: .lenient)
            try output.write(readings[0])
            try output.appear()
            try output.checkpoint(followedBy: [readings[1], readings[2], mark, readings[3]])
            XCTAssertEqual(try stored(), [readings[0], readings[1], readings[2], mark, readings[3]], name)
            try output.checkpoint(followedBy: [readings[1], readings[2]])
            XCTAssertEqual(try stored(), Array(readings[0...2]), "the mark is undone in \(name)")
            try output.write(readings[1])
            XCTAssertGreaterThanOrEqual(try stored().count, 2, "nothing is lost before the next checkpoint of \(name)")
            try output.checkpoint(followedBy: [readings[2], readings[3]])
            XCTAssertEqual(try stored(), Array(readings[0...3]), name)
            for reading in readings[2...] { try output.write(reading) }
            try output.close()
            XCTAssertEqual(try stored(), readings, name)
        }
    }

    func testAFullBufferReleasesItsOlderHalf() {
        var buffer = MarkBuffer()
        buffer.insert(Truth(instant: .zero, mapID: 1, point: MapPoint(x: 1, y: 1)))
        for index in 0..<MarkBuffer.limit - 1 {
            XCTAssertFalse(buffer.isFull)
            buffer.add(pressure(at: Double(index) / 10_000))
        }
        XCTAssertTrue(buffer.isFull)
        XCTAssertEqual(buffer.release().count, MarkBuffer.limit / 2)
        XCTAssertEqual(buffer.drain().count, MarkBuffer.limit / 2)
    }

    func testWrongOptionsOfGroundTruthAreRefused() throws {
        for (words, message) in [
            (["--at", "1,2,3"], "--at requires --record"),
            (["--marks", "a"], "--marks requires --record"),
            (["--room", "a"], "--room requires --record"),
            (["--venue", "a"], "--venue requires --at or --marks"),
            (["--record", "a.jsonl", "--at", "1,2,3", "--marks", "b"], "--at and --marks can't be combined"),
            (
                ["--record", "a.jsonl", "--at", "1,2,north"],
                "--at must be MAP,X,Y in metres, such as 1,4.5,2, not '1,2,north'"
            ),
            (
                ["--record", "a.jsonl", "--at", "1,2,nan"],
                "--at must be MAP,X,Y in metres, such as 1,4.5,2, not '1,2,nan'"
            ),
            (
                ["--record", "a.snoop", "--at", "1,2,3"],
                "--at requires a recording, .jsonl or .jsonl.gz; a capture can't store ground truth"
            ),
            (
                ["--record", "a.jsonl", "--append", "--at", "1,2,3"],
                "--at can't be combined with --append; record to another file, as 'survey' reads several"
            ),
        ] {
            let result = try Tool.run(["scan"] + words)
            XCTAssertEqual(result.status, 2)
            XCTAssertEqual(result.errors, "indoorloc scan: \(message)\nTry 'indoorloc scan --help'.\n")
        }
    }

    func testAListOfPlacesFromAnEditorOnWindowsIsRead() throws {
        let list = try temporaryFolder() + "/points.txt"
        try Data("\u{FEFF}# a walk\r\n1,2,3\r\n\r\n1,4.5,6\r\n1,a,1\r\n".utf8).write(to: URL(filePath: list))
        XCTAssertThrowsError(try MarkList(file: list, venue: nil)) { error in
            XCTAssertTrue("\(error)".contains("points.txt, line 5: expected MAP,X,Y"), "\(error)")
        }
        try Data("\u{FEFF}# a walk\r\n1,2,3\r\n\r\n1,4.5,6\r\n".utf8).write(to: URL(filePath: list))
        let points = [MapPoint(x: 2, y: 3), MapPoint(x: 4.5, y: 6)]
        XCTAssertEqual(
            try MarkList(file: list, venue: nil).places, points.map { MarkedPlace(mapID: 1, point: $0) })
    }

    func testAPlaceOutsideOfTheVenueIsRefusedBeforeTheRadioIsUsed() throws {
        let folder = try temporaryFolder()
        let (venue, list, recording) = (try FixtureFolder("office").path, folder + "/list.txt", folder + "/a.jsonl")
        let maps = "has no map 9; its maps are 1 (Ground floor), 2 (Upper floor)"
        let outside = "the point is outside of map 1, which is 36.00 m wide and 20.00 m high"
        for (place, problem) in [("9,1,1", maps), ("1,40,1", outside)] {
            let at = try Tool.run(["scan", "--record", recording, "--venue", venue, "--at", place])
            XCTAssertEqual(at.status, 1)
            XCTAssertTrue(at.errors.contains("--at: ") && at.errors.contains(problem), at.errors)
            try "1,1,1\n\(place)\n".write(toFile: list, atomically: true, encoding: .utf8)
            let marks = try Tool.run(["scan", "--record", recording, "--venue", venue, "--marks", list])
            XCTAssertEqual(marks.status, 1)
            XCTAssertTrue(marks.errors.contains("\(list), line 2: ") && marks.errors.contains(problem), marks.errors)
        }
        for (text, problem) in [
            ("1,1,1\n1,a,1\n", ", line 2: expected MAP,X,Y, such as 1,4.5,2, not '1,a,1'"),
            ("# nothing\n", ": no place; write one MAP,X,Y on each line, in the order of the walk"),
        ] {
            try text.write(toFile: list, atomically: true, encoding: .utf8)
            let marks = try Tool.run(["scan", "--record", recording, "--marks", list])
            XCTAssertEqual(marks.errors, "indoorloc: \(list)\(problem)\n")
        }
        try "1,1,1\n".write(toFile: list, atomically: true, encoding: .utf8)
        let marks = try Tool.run(["scan", "--record", recording, "--marks", list])
        XCTAssertEqual(
            marks.errors,
            "indoorloc: --marks requires a terminal on standard input, as the marks are set with its keys\n")
        XCTAssertFalse(FileManager.default.fileExists(atPath: recording))
    }
}
