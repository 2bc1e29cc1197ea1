import Foundation
import IndoorLocalization
import VenuePackets
import XCTest

/// `rooms train`, `classify` and `evaluate` on simulated data of three rooms and two phones.
final class RoomsCommandTests: XCTestCase {
    private static let rooms = ["attic", "bath", "cellar"]
    private static let seed: UInt64 = 12

    /// A recording of stays of 40 s each. Each room has two strong beacons; all six are received.
    private func recording(
        device: String, rooms: [String], offset: Double, using random: inout SeededGenerator
    ) -> String {
        var lines = [
            "{\"type\":\"header\",\"format\":\"indoor-localization-recording\",\"version\":1,\"device\":\"\(device)\"}"
        ]
        for (stay, room) in rooms.enumerated() {
            let start = Double(stay) * 40
            lines.append("{\"t\":\(start),\"type\":\"truth\",\"room\":\"\(room)\",\"hold\":true}")
            let home = Self.rooms.firstIndex(of: room) ?? 0
            for second in 0..<40 {
                for minor in 0..<6 {
                    let level = minor / 2 == home ? -58.0 : -74 - 4 * Double(abs(minor / 2 - home))
                    let rssi = Int((level + offset + 5 * random.normal()).rounded())
                    lines.append(
                        "{\"t\":\(start + Double(second) + 0.5),\"type\":\"beacon\","
                            + "\"uuid\":\"7C2F0A10-0000-4000-8000-000000000010\",\"major\":1,\"minor\":\(minor),\"rssi\":\(rssi)}"
                    )
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A data set with a survey of both phones and a track of each.
    private func dataSet() throws -> String {
        print("seed \(Self.seed)")
        var random = SeededGenerator(seed: Self.seed)
        let folder = try temporaryFolder() + "/house"
        let venue = """
            {"format":"indoor-localization-venue","formatVersion":1,"id":1,"name":"house","version":1,"beacons":[],
            "maps":[{"id":1,"name":"home","level":0,"widthMeters":20,"heightMeters":20}]}
            """
        var files = ["venue.json": venue]
        for (device, offset) in [("one", 0.0), ("two", -8)] {
            files["survey/\(device).jsonl"] = recording(
                device: device, rooms: Self.rooms, offset: offset, using: &random)
            files["tracks/\(device).jsonl"] = recording(
                device: device, rooms: ["bath", "attic", "cellar", "bath"], offset: offset, using: &random)
        }
        for (name, text) in files {
            let file = URL(filePath: folder + "/" + name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return folder
    }

    private func train(_ set: String, _ arguments: String...) throws -> (path: String, result: Tool.Result) {
        let path = set + "/rooms.json"
        return (path, try Tool.run(["rooms", "train", "-o", path] + arguments))
    }

    func testTrainingPrintsEachRoomWithItsScore() throws {
        let set = try dataSet()
        let (path, result) = try train(set, set + "/survey/one.jsonl")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(
            result.output,
            Self.rooms.map {
                "\($0): enough; 40 samples, 6 of 6 beacons (100 %); Crownstone's score 21 (pocket -20, samples -59)\n"
            }.joined())
        XCTAssertEqual(try RoomTrainingFile.read(path).rooms.keys.sorted(), Self.rooms)
    }

    func testTrainingCanBeExtendedAndAMovedBeaconRemoved() throws {
        let set = try dataSet()
        let (path, _) = try train(set, set + "/survey/one.jsonl")
        let beacon = "7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:3"
        let (_, result) = try train(set, "--add", path, "--forget", beacon, set + "/survey/two.jsonl")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.errors, "")
        XCTAssertEqual(
            result.lines.first,
            "attic: enough; 80 samples, 5 of 5 beacons (100 %); Crownstone's score 43 (pocket -20, samples -37)")
    }

    func testAnExistingTrainingIsNotReplacedUnasked() throws {
        let set = try dataSet()
        let (path, _) = try train(set, set + "/survey/one.jsonl")
        let before = try Data(contentsOf: URL(filePath: path))
        let (_, refused) = try train(set, set + "/survey/two.jsonl")
        XCTAssertEqual(refused.status, 1)
        XCTAssertEqual(
            refused.errors,
            "indoorloc: \(path) already exists: use --add \(path) to extend it, or --overwrite to discard its rooms\n")
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), before, "nothing is lost")

        let other = set + "/other.json"
        try Data(before).write(to: URL(filePath: other))
        let (_, elsewhere) = try train(set, "--add", other, set + "/survey/two.jsonl")
        XCTAssertEqual(elsewhere.status, 1, "adding to another training does not keep this one")

        let (_, replaced) = try train(set, "--overwrite", set + "/survey/two.jsonl")
        XCTAssertEqual(replaced.status, 0, replaced.errors)
        XCTAssertEqual(try RoomTrainingFile.read(path).rooms["attic"]?.samples.count, 40)
        XCTAssertNotEqual(try Data(contentsOf: URL(filePath: path)), before)
    }

    func testForgettingAnUnknownBeaconIsReported() throws {
        let set = try dataSet()
        let beacon = "7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:77"
        let (_, result) = try train(set, "--forget", beacon, set + "/survey/one.jsonl")
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(
            result.errors, "indoorloc: --forget \(beacon): the training has no such beacon; nothing was removed\n")
    }

    func testARoomForARecordingWithRoomNamesIsReportedAsUnused() throws {
        let set = try dataSet()
        let survey = set + "/survey/one.jsonl"
        let (path, result) = try train(set, "--room", "garage", survey)
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.errors, "indoorloc: \(survey) has room names; --room garage was not used\n")
        XCTAssertEqual(try RoomTrainingFile.read(path).rooms.keys.sorted(), Self.rooms)
    }

    func testARecordingWithoutReadingsIsNotBlamedOnTheRoom() throws {
        let path = try temporaryFolder() + "/quiet.jsonl"
        try Data("{\"type\":\"header\",\"format\":\"indoor-localization-recording\",\"version\":1}\n".utf8)
            .write(to: URL(filePath: path))
        let unnamed = try Tool.run(["rooms", "train", "--output", path + ".json", path])
        XCTAssertTrue(unnamed.errors.hasSuffix("no room in which a beacon was received; name the room with --room\n"))
        let named = try Tool.run(["rooms", "train", "--output", path + ".json", "--room", "attic", path])
        XCTAssertEqual(named.status, 1)
        XCTAssertEqual(named.errors, "indoorloc: \(path) has no reading of a beacon\n")
    }

    func testClassifyingWithTheTrainingOfAnotherBuildingIsReported() throws {
        let set = try dataSet()
        let path = set + "/other.json"
        let beacons = (1...4).compactMap { minor in
            BeaconUUID("0C2F0A10-0000-4000-8000-000000000010").map { BeaconIdentity(uuid: $0, major: 1, minor: minor) }
        }
        XCTAssertEqual(beacons.count, 4)
        let sample = RoomFingerprint.Sample(
            timestamp: 1, rssi: Dictionary(uniqueKeysWithValues: beacons.map { ($0, -60) }))
        try RoomTrainingFile.write(RoomTrainingSet(rooms: ["hut": RoomFingerprint(samples: [sample])]), to: path)
        let track = set + "/tracks/one.jsonl"
        let result = try Tool.run(["rooms", "classify", "--training", path, track])
        XCTAssertEqual(result.status, 0)
        XCTAssertEqual(result.output, "")
        XCTAssertEqual(
            result.errors,
            "indoorloc: \(track): no room, as none of the 6 received beacons is in \(path); is it the training of another building?\n"
        )
    }

    func testTheRoomOptionNamesTheRoomOfATrainingDocument() throws {
        let set = try dataSet()
        let document = set + "/kitchen.json"
        let text = "[{\"devices\": {\"7C2F0A10-0000-4000-8000-000000000010_Maj:1_Min:2\": -70}, \"timestamp\": 1.0}]"
        try Data(text.utf8).write(to: URL(filePath: document))
        let (_, unnamed) = try train(set, document)
        XCTAssertEqual(unnamed.status, 2)
        XCTAssertTrue(unnamed.errors.contains("--room is missing, for \(document)"), unnamed.errors)
        let (path, named) = try train(set, "--room", "kitchen", document)
        XCTAssertEqual(
            named.output,
            "kitchen: train longer, 1 of 30 samples; place beacons closer, 100 % of the samples have fewer than 3; "
                + "1 sample, 1 of 1 beacons (100 %); Crownstone's score 1 (pocket -20, samples -79)\n")
        let kitchen = try XCTUnwrap(RoomTrainingFile.read(path).rooms["kitchen"])
        XCTAssertEqual(String(decoding: TrainingDocument.bytes(of: kitchen), as: UTF8.self), text)
    }

    func testClassifyingPrintsTheRoomsOfAWalk() throws {
        let set = try dataSet()
        let (path, _) = try train(set, set + "/survey/one.jsonl")
        for track in ["one", "two"] {
            let result = try Tool.run(["rooms", "classify", "--training", path, set + "/tracks/\(track).jsonl"])
            XCTAssertEqual(result.status, 0, result.errors)
            let events = try result.lines.map { line -> String in
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                XCTAssertEqual(object?["type"] as? String, "room")
                return "\(object?["event"] ?? "") \(object?["room"] ?? "")"
            }
            XCTAssertEqual(
                events,
                [
                    "enter bath", "exit bath", "enter attic", "exit attic", "enter cellar", "exit cellar", "enter bath",
                ], track)
        }
    }

    func testClassifyingPrintsEachScanOnRequest() throws {
        let set = try dataSet()
        let (path, _) = try train(set, set + "/survey/one.jsonl")
        for classifier in ["naiveBayes", "nearestNeighbor", "adaptive"] {
            let result = try Tool.run([
                "rooms", "classify", "--training", path, "--classifier", classifier, "--scans",
                set + "/tracks/one.jsonl",
            ])
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertEqual(result.lines.count { $0.contains("\"estimate\"") }, 160, classifier)
        }
    }

    func testEvaluatingScoresEachClassifierWithEachTraining() throws {
        let set = try dataSet()
        let result = try Tool.run(["rooms", "evaluate", set, "--json", "--rule", "bestOf", "--count", "5"])
        XCTAssertEqual(result.status, 0, result.errors)
        let object = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        XCTAssertEqual(object["dataset"] as? String, "house")
        XCTAssertEqual(object["scans"] as? Int, 320)
        XCTAssertEqual(object["rule"] as? String, "bestOf")
        XCTAssertEqual(object["count"] as? Int, 5)
        for classifier in ["naiveBayes", "nearestNeighbor", "adaptive"] {
            let figures = try XCTUnwrap(object[classifier] as? [String: Any])
            XCTAssertEqual((figures["pairs"] as? [Any])?.count, 4, classifier)
            for device in ["same", "other"] {
                let part = try XCTUnwrap(figures[device] as? [String: Any])
                XCTAssertEqual(part["answered"] as? Int, 320, classifier)
                let accuracy = try XCTUnwrap(part["accuracy"] as? Double)
                XCTAssertTrue((0.3...1).contains(accuracy), "\(classifier) \(device): \(accuracy)")
                let bins = try XCTUnwrap(part["reliability"] as? [[String: Any]])
                XCTAssertEqual(bins.count, 10, classifier)
                XCTAssertEqual(bins.reduce(0) { $0 + ($1["scans"] as? Int ?? 0) }, 320, classifier)
                XCTAssertNotNil(part["reliabilityError"] as? Double, classifier)
                guard classifier == "adaptive" else { continue }
                XCTAssertGreaterThan(accuracy, 0.85, device)
                XCTAssertLessThanOrEqual(try XCTUnwrap(part["changeSeconds"] as? Double), 6, device)
                XCTAssertLessThanOrEqual(try XCTUnwrap(part["none"] as? Double), 0.01, device)
            }
        }
    }

    func testEvaluatingPrintsATable() throws {
        let set = try dataSet()
        let result = try Tool.run(["rooms", "evaluate", set])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(result.lines[0], "house: 3 rooms, 2 devices, 320 scans; change rule immediate")
        XCTAssertEqual(
            result.lines[2...7].map { $0.split(separator: " ").prefix(2).joined(separator: " ") },
            ["naiveBayes", "nearestNeighbor", "adaptive"].flatMap { ["\($0) same", "\($0) other"] })
        let table = try XCTUnwrap(result.lines.firstIndex(of: "adaptive, probabilities of the answers:"))
        XCTAssertTrue(result.lines[(table + 2)...].contains { $0.hasPrefix("same    90-100%") }, result.output)
    }

    func testEvaluatingReportsADataSetWithoutRooms() throws {
        let result = try Tool.run(["rooms", "evaluate", "Fixtures/office"])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("the recordings in survey of office have no room"), result.errors)
    }

    func testEvaluatingTracksWithoutATrainedBeaconIsAnErrorThatSaysWhy() throws {
        let set = try dataSet()
        for track in ["one", "two"] {
            let file = URL(filePath: set + "/tracks/\(track).jsonl")
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data(text.replacingOccurrences(of: "\"major\":1", with: "\"major\":9").utf8).write(to: file)
        }
        for arguments in [[], ["--json"]] {
            let result = try Tool.run(["rooms", "evaluate", set] + arguments)
            XCTAssertEqual(result.status, 1)
            XCTAssertEqual(result.output, "")
            XCTAssertTrue(
                result.errors.contains(
                    "house: no answer to score, as none of the 6 received beacons is in the survey"), result.errors)
        }
    }

    func testLinesOfUnknownTypesAreReported() throws {
        let set = try dataSet()
        let (path, _) = try train(set, set + "/survey/one.jsonl")
        let files = ["survey/two.jsonl", "tracks/one.jsonl"].map { set + "/" + $0 }
        for file in files {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try Data((text + "{\"t\":900,\"type\":\"weather\"}\n").utf8).write(to: URL(filePath: file))
        }
        for (arguments, reported) in [
            (["evaluate", set], files), (["classify", "--training", path, files[1]], [files[1]]),
            (["train", "-o", set + "/new.json", files[0]], [files[0]]),
        ] {
            let result = try Tool.run(["rooms"] + arguments)
            XCTAssertEqual(result.status, 0, result.errors)
            let expected = reported.map { "indoorloc: \($0): 1 line of an unknown type ignored\n" }.joined()
            XCTAssertEqual(result.errors, expected, "\(arguments)")
        }
    }

    func testInvalidRoomsOptionsAreUsageErrors() throws {
        for (arguments, message) in [
            (["train", "-o", "x"], "RECORDING is missing"),
            (
                ["train", "-o", "x", "--forget", "desk", "y"],
                "--forget must be a beacon such as UUID_Maj:1_Min:2, not 'desk'"
            ),
            (["classify", "y"], "--training is missing"),
            (
                ["classify", "--training", "x", "--rule", "dice", "y"],
                "--rule must be one of immediate, inARow, bestOf, not 'dice'"
            ),
            (["evaluate", "x", "--count", "0"], "--count must be a whole number from 1 to 100, not '0'"),
        ] {
            let result = try Tool.run(["rooms"] + arguments)
            XCTAssertEqual(result.status, 2, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), "\(arguments): \(result.errors)")
        }
    }
}
