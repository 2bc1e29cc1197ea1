import Foundation
import IndoorLocalizationTesting
import XCTest

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
