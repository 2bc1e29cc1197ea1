import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import XCTest
@testable import indoorloc

/// The output of `replay` for a walk on one floor.
final class ReplayCommandTests: XCTestCase {
    private static let call = ["replay", "--venue", "Fixtures/office", "Fixtures/recordings/one-floor/scan.jsonl.gz"]
    /// The result of one run, shared by all tests.
    private static let replayed = Swift.Result { try Tool.run(call) }

    private func replayed() throws -> Tool.Result { try Self.replayed.get() }

    /// The lines as JSON objects.
    private func objects() throws -> [[String: Any]] {
        try replayed().lines.map { line in
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            return try XCTUnwrap(value as? [String: Any], "\(line)")
        }
    }

    private func time(_ object: [String: Any]) throws -> Double { try XCTUnwrap(object["t"] as? Double) }

    func testEveryMethodNamesTheRoomOfThePosition() throws {
        for method in ["particle", "fingerprint", "trilateration"] {
            let result = try Tool.run([
                "replay", "--venue", "Fixtures/office", "--method", method,
                "Fixtures/recordings/one-floor/scan.jsonl.gz",
            ])
            let positions = try result.lines.compactMap { line in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                return object?["type"] as? String == "position" && object?["label"] != nil ? object : nil
            }
            XCTAssertGreaterThan(positions.count, 10, method)
            let isNamed = positions.filter { position in
                let rooms = position["rooms"] as? [[String: Any]] ?? []
                return rooms.contains { $0["name"] as? String == position["label"] as? String }
            }
            // The posterior may have little probability in the cells about its mean.
            XCTAssertGreaterThanOrEqual(isNamed.count, positions.count * 9 / 10, method)
        }
    }

    func testAReplaySucceedsWithoutErrors() throws {
        XCTAssertEqual(try replayed().status, 0)
        XCTAssertEqual(try replayed().errors, "")
    }

    func testTheSameInputGivesIdenticalOutput() throws {
        XCTAssertTrue(try Tool.run(Self.call).output == replayed().output)
    }

    func testSeedZeroIsTheDefaultAndAnotherSeedGivesOtherOutput() throws {
        let recording = try ShortRecording(lines: 100).write(to: temporaryFolder())
        func output(_ seed: [String]) throws -> String {
            try Tool.run(["replay", "--venue", "Fixtures/office"] + seed + [recording]).output
        }
        XCTAssertEqual(try output(["--seed", "0"]), try output([]))
        XCTAssertNotEqual(try output(["--seed", "1"]), try output([]))
    }

    func testGroundTruthDoesNotChangeTheOutput() throws {
        let folder = try temporaryFolder()
        let recording = try ShortRecording(lines: 300)
        var blind = recording
        blind.lines.removeAll { $0.contains("\"truth\"") }
        XCTAssertLessThan(blind.lines.count, recording.lines.count)
        let outputs = try [recording.write(to: folder), blind.write(to: folder, as: "blind.jsonl")].map {
            try Tool.run(["replay", "--venue", "Fixtures/office", $0]).output
        }
        XCTAssertTrue(outputs[0].contains(#""type":"position""#))
        XCTAssertTrue(outputs[0] == outputs[1])
    }

    func testADutyCycleRemovesReadingsAndKeepsTheVenue() throws {
        let lines = try Tool.run(
            Self.call + ["--set", "scanner.powerMode=eco", "--set", "venueLostTimeout=10"]
        ).lines
        XCTAssertNotEqual(lines, try replayed().lines)
        XCTAssertEqual(lines.count { $0.contains(#""state":"searchVenue""#) }, 1)
        let end = try time(XCTUnwrap(try objects().last))
        XCTAssertGreaterThan(end, 20, "the rest is to be longer than the time after which a venue is lost")
        let last = try XCTUnwrap(lines.last { $0.contains(#""type":"position""#) })
        XCTAssertTrue(last.contains("\"t\":\(String(format: "%.3f", end)),"), "goes on to the end: \(last)")
    }

    func testEveryLineIsAnObjectOfAKnownTypeAndTimeDoesNotGoBack() throws {
        var last = 0.0
        for object in try objects() {
            let type = try XCTUnwrap(object["type"] as? String)
            let known = ["state", "position", "outdoorPosition", "event", "interaction", "downloadedVenue", "error"]
            XCTAssertTrue(known.contains(type), type)
            XCTAssertGreaterThanOrEqual(try time(object), last, "\(object)")
            last = try time(object)
        }
        XCTAssertEqual(last, 30)
    }

    func testNumbersHaveFixedDecimals() throws {
        let position =
            #/\{"t":\d+\.\d{3},"type":"position","venueId":1,"mapId":\d+,"x":-?\d+\.\d{3},"y":-?\d+\.\d{3},"radius":\d+\.\d{3},"covariance":\[\d+\.\d{3},-?\d+\.\d{3},\d+\.\d{3}\](,"label":"[^"]+")?(,"rooms":\[(\{"id":\d+,"name":"[^"]+","probability":[01]\.\d{3}\},?)+\])?,"latitude":\d+\.\d{8},"longitude":\d+\.\d{8}(,"course":\d+\.\d)?(,"speed":\d+\.\d{2})?,"floorCertainty":[01]\.\d{3}\}/#
        let lines = try replayed().lines
        XCTAssertGreaterThan(lines.count { $0.contains(#""type":"position""#) }, 10)
        for line in lines {
            if line.contains(#""type":"position""#) {
                XCTAssertNotNil(try position.wholeMatch(in: line), "\(line)")
            } else {
                XCTAssertNotNil(try #/\{"t":\d+\.\d{3},.*/#.wholeMatch(in: line), "\(line)")
            }
        }
    }

    func testStatesFollowTheTransitionsOfASession() throws {
        let states = try objects().compactMap { $0["state"] as? String }
        XCTAssertEqual(
            states,
            ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning", "idle"])
    }

    func testPositionsComeOnlyWhileRunning() throws {
        var isRunning = false
        var positions = 0
        for object in try objects() {
            if let state = object["state"] as? String { isRunning = state == "localizationRunning" }
            guard object["type"] as? String == "position" else { continue }
            positions += 1
            XCTAssertTrue(isRunning, "\(object)")
        }
        XCTAssertGreaterThan(positions, 0)
    }

    func testTheFirstPositionComesWithinFiveSecondsAndThenAtLeastOneASecond() throws {
        let times = try objects().filter { $0["type"] as? String == "position" }.map(time)
        XCTAssertLessThan(try XCTUnwrap(times.first), 5)
        XCTAssertEqual(try XCTUnwrap(times.last), 30, accuracy: 1)
        for (earlier, later) in zip(times, times.dropFirst()) { XCTAssertLessThanOrEqual(later - earlier, 1.001) }
    }

    func testEveryMethodReportsPositions() throws {
        let recording = try ShortRecording(lines: 100).write(to: temporaryFolder())
        var outputs: Set<String> = []
        for method in ["particle", "fingerprint", "trilateration"] {
            let result = try Tool.run(["replay", "--venue", "Fixtures/office", "--method", method, recording])
            XCTAssertEqual(result.status, 0, method)
            XCTAssertTrue(result.output.contains(#""type":"position""#), method)
            outputs.insert(result.output)
        }
        XCTAssertEqual(outputs.count, 3)
    }
}

final class EventOutputTests: XCTestCase {
    private func json(_ kind: LocalizationEvent.Kind) -> String {
        let event = LocalizationEvent(instant: Instant(seconds: 1.5), venueID: 7, kind: kind)
        return SessionReplay.Output(instant: event.instant, content: .event(event)).json
    }

    private func fence(_ payload: JSONValue?) -> Fence {
        Fence(id: 3, name: "Desk", mapID: 1, area: .circle(center: MapPoint(x: 0, y: 0), radius: 1), payload: payload)
    }

    func testAnEventOfAFenceHasItsPayload() throws {
        let payload = JSONValue.object([
            "b": .array([.number(1), .number(0.25), .null, .bool(true)]), "a": .string("say \"hi\""),
        ])
        XCTAssertEqual(
            json(.enterFence(fence(payload))),
            #"{"t":1.500,"type":"event","event":"enterFence","venueId":7,"id":3,"name":"Desk","#
                + #""payload":{"a":"say \"hi\"","b":[1,0.25,null,true]}}"#)
        XCTAssertEqual(
            json(.exitFence(fence(.number(.infinity)))),
            #"{"t":1.500,"type":"event","event":"exitFence","venueId":7,"id":3,"name":"Desk","payload":null}"#)
    }

    func testAnEventHasTheWallClockTimeIfKnown() {
        let event = LocalizationEvent(
            instant: Instant(seconds: 1.5), unixTime: UnixTime(milliseconds: 1_700_000_000_123), venueID: 7,
            kind: .exitRoom(Room(id: 4, name: "Hall", mapID: 1)))
        XCTAssertEqual(
            SessionReplay.Output(instant: event.instant, content: .event(event)).json,
            #"{"t":1.500,"type":"event","event":"exitRoom","venueId":7,"id":4,"name":"Hall","#
                + #""unixMilliseconds":1700000000123}"#)
    }

    func testAnInteractionHasItsOwnLine() {
        let interaction = Interaction(
            id: 4, name: "Welcome", target: .room(1), genericContent: "hello",
            contents: [Interaction.Content(id: 1, language: "de", text: "Guten Tag", link: "https://example.org")],
            payload: .bool(true))
        let event = InteractionEvent(
            instant: Instant(seconds: 1.5), unixTime: UnixTime(milliseconds: 5), venueID: 7, interaction: interaction,
            isEntry: false)
        XCTAssertEqual(
            SessionReplay.Output(instant: event.instant, content: .interaction(event)).json,
            #"{"t":1.500,"type":"interaction","event":"exit","venueId":7,"id":4,"name":"Welcome","#
                + #""genericContent":"hello","contents":[{"id":1,"language":"de","content":"Guten Tag","#
                + #""link":"https://example.org"}],"payload":true,"unixMilliseconds":5}"#)
    }

    /// A program need not parse the text.
    func testAnErrorHasCodeKindAndStatusAsFields() {
        func json(_ error: LocalizationError) -> String {
            SessionReplay.Output(instant: .zero, content: .error(error)).json
        }
        XCTAssertEqual(
            json(LocalizationError(code: .network, message: "no", kind: .contentUnavailable, status: .http(404))),
            #"{"t":0.000,"type":"error","code":"network","kind":"contentUnavailable","httpStatus":404,"message":"no"}"#)
        XCTAssertEqual(
            json(
                LocalizationError(
                    code: .critical, message: "no", cause: "x", kind: .sensorFailed, status: .system(19))),
            #"{"t":0.000,"type":"error","code":"critical","kind":"sensorFailed","errno":19,"message":"no","cause":"x"}"#
        )
        let state = SessionReplay.Output(
            instant: .zero, content: .state(.error(LocalizationError(code: .credential, message: "no"))))
        XCTAssertEqual(
            state.json,
            #"{"t":0.000,"type":"state","state":"error","code":"credential","kind":"invalidCredentials","#
                + #""message":"credential error: no"}"#)
    }

    func testAnEventWithoutAPayloadHasNoPayloadMember() {
        XCTAssertEqual(
            json(.enterFence(fence(nil))),
            #"{"t":1.500,"type":"event","event":"enterFence","venueId":7,"id":3,"name":"Desk"}"#)
        XCTAssertEqual(
            json(.exitRoom(Room(id: 4, name: "Hall", mapID: 1))),
            #"{"t":1.500,"type":"event","event":"exitRoom","venueId":7,"id":4,"name":"Hall"}"#)
    }
}

/// The files that `replay` writes for other programs.
final class WalkOutputTests: XCTestCase {
    private static let recording = "Fixtures/recordings/one-floor/scan.jsonl.gz"

    /// A short recording whose header has a start time.
    private func timedRecording() throws -> String {
        var recording = try ShortRecording(lines: 300)
        let header = try XCTUnwrap(recording.lines.first)
        recording.lines[0] = header.dropLast() + #","startedAt":"2026-05-04T09:30:00.000Z"}"#
        return try recording.write(to: temporaryFolder())
    }

    /// Returns the number of points of a track that gpsbabel reads.
    private func points(_ file: String, _ format: String) throws -> Int {
        let process = Process()
        process.executableURL = try TestPort.program("gpsbabel", ofPackage: "gpsbabel")
        process.arguments = ["-t", "-i", format, "-f", file, "-o", "unicsv", "-F", "-"]
        let output = Pipe()
        process.standardOutput = output
        try ProcessSignals.withAll { try process.run() }
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).count - 1
    }

    func testEveryFormatHasAllPositions() throws {
        let folder = try temporaryFolder()
        let files = ["gpx", "kml", "csv", "geojson", "nmea"].map { ($0, folder + "/walk." + $0) }
        let result = try Tool.run(
            ["replay", "--venue", "Fixtures/office", try timedRecording()] + files.flatMap { ["--" + $0.0, $0.1] })
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.errors, "")
        let count = result.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertGreaterThan(count, 3)
        XCTAssertEqual(try points(folder + "/walk.gpx", "gpx"), count)
        XCTAssertEqual(try points(folder + "/walk.kml", "kml"), count)
        // gpsbabel counts the sentences of one position as one point.
        XCTAssertEqual(try points(folder + "/walk.nmea", "nmea"), count)
        let csv = try String(contentsOfFile: folder + "/walk.csv", encoding: .utf8)
        XCTAssertEqual(csv.split(separator: "\r\n").count, count + 1)
        XCTAssertTrue(csv.contains("\n2026-05-04T09:30:"), String(csv.prefix(500)))
        for (_, file) in files {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            XCTAssertEqual(mode, 0o600, "\(file) contains the locations of a person")
        }
    }

    func testSentencesNeedTheStartOfTheRecordingBeforeTheReplay() throws {
        let file = try temporaryFolder() + "/walk.nmea"
        let result = try Tool.run(["replay", "--venue", "Fixtures/office", Self.recording, "--nmea", file])
        XCTAssertEqual(result.status, 1)
        XCTAssertFalse(result.output.contains("position"), "the replay has begun")
        XCTAssertTrue(result.errors.contains(#"add "startedAt" to its header"#), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: file))
    }

    func testAVenueWithoutGeoreferenceIsReportedBeforeTheReplayForEachFormat() throws {
        for format in ["gpx", "kml", "geojson", "nmea"] {
            let file = try temporaryFolder() + "/walk"
            let result = try Tool.run([
                "replay", "--venue", "Fixtures/packets/accepted/smallest", "Fixtures/office/tracks/ground.jsonl",
                "--" + format, file,
            ])
            XCTAssertEqual(result.status, 1, format)
            XCTAssertEqual(result.output, "", "the replay has begun")
            XCTAssertTrue(result.errors.contains("has no georeference; give a center and bearing"), result.errors)
        }
    }

    /// The office with the georeference of its ground floor removed.
    private func officeWithoutOneGeoreference() throws -> String {
        let folder = try temporaryFolder() + "/office"
        try FileManager.default.copyItem(atPath: try FixtureFolder("office").path, toPath: folder)
        let file = URL(filePath: folder + "/venue.json")
        var venue = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var maps = try XCTUnwrap(venue["maps"] as? [[String: Any]])
        maps[0]["georeference"] = nil
        venue["maps"] = maps
        try JSONSerialization.data(withJSONObject: venue).write(to: file)
        return folder
    }

    func testPositionsOnAMapWithoutGeoreferenceAreLeftOutWithAWarning() throws {
        let venue = try officeWithoutOneGeoreference()
        let folder = try temporaryFolder()
        let result = try Tool.run([
            "replay", "--venue", venue, Self.recording, "--geojson", folder + "/a.geojson", "--gpx", folder + "/a.gpx",
            "--csv", folder + "/a.csv",
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        let count = result.lines.count { $0.contains(#""type":"position""#) }
        XCTAssertTrue(
            result.errors.contains("\(count) positions left out of the files with coordinates: map 1"), result.errors)
        XCTAssertEqual(try points(folder + "/a.gpx", "gpx"), 0)
        XCTAssertEqual(
            try String(contentsOfFile: folder + "/a.csv", encoding: .utf8).split(separator: "\r\n").count, count + 1)
    }

    func testTheLocalFrameNeedsNoGeoreference() throws {
        let venue = try officeWithoutOneGeoreference()
        let file = try temporaryFolder() + "/walk.geojson"
        let result = try Tool.run([
            "replay", "--venue", venue, Self.recording, "--local-frame", "--geojson", file,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.errors, "")
        let tree = try XCTUnwrap(
            JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any])
        XCTAssertNotNil(tree["coordinateFrame"])
        let features = try XCTUnwrap(tree["features"] as? [[String: Any]])
        let kinds = features.compactMap { ($0["properties"] as? [String: Any])?["kind"] as? String }
        XCTAssertEqual(
            kinds.count { $0 == "position" }, result.lines.count { $0.contains(#""type":"position""#) })
        let points = features.compactMap { $0["geometry"] as? [String: Any] }
            .compactMap { $0["coordinates"] as? [Double] }
        XCTAssertTrue(points.allSatisfy { (0...36).contains($0[0]) && (0...20).contains($0[1]) }, "\(points)")
        let export = try temporaryFolder() + "/venue.geojson"
        XCTAssertEqual(try Tool.run(["venue", "export", venue, "-o", export]).status, 1)
        XCTAssertEqual(try Tool.run(["venue", "export", venue, "-o", export, "--local-frame"]).status, 0)
    }
}
