import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest

@testable import indoorloc

/// `regions watch`, `rooms watch` and `rooms train --live` on a recording instead of the radio.
final class WatchCommandTests: XCTestCase {
    private static let home = "7C2F0A10-0000-4000-8000-000000000010"
    private static let other = "7C2F0A10-0000-4000-8000-000000000011"
    private static let header =
        #"{"type":"header","format":"indoor-localization-recording","version":1,"startedAt":"2025-03-04T05:06:07Z"}"#

    private func beacon(_ seconds: Double, _ minor: Int = 1, rssi: Int = -60, uuid: String = home) -> String {
        #"{"t":\#(seconds),"type":"beacon","uuid":"\#(uuid)","major":1,"minor":\#(minor),"rssi":\#(rssi),"measuredPower":-59}"#
    }

    /// A recording with one stay per room of the given seconds. Each room has two strong beacons of six.
    private func stays(_ rooms: [Int], seconds: Int = 40, from begin: Double = 100) -> [String] {
        rooms.enumerated().flatMap { stay, room in
            (0..<seconds).flatMap { second in
                (0..<6).map { minor in
                    let rssi = minor / 2 == room ? -55 - minor % 2 : -78 - 3 * abs(minor / 2 - room) - second % 3
                    return beacon(begin + Double(stay * seconds + second) + 0.1, minor, rssi: rssi)
                }
            }
        }
    }

    private func write(_ lines: [String], _ name: String, to folder: String) throws -> String {
        let path = folder + "/" + name
        try Data(([Self.header] + lines).map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
        return path
    }

    private func objects(_ result: Tool.Result) throws -> [[String: Any]] {
        try result.lines.map { line in
            try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    // MARK: - Regions

    func testRegionsWatchPrintsEnteredAndLeftRegions() throws {
        let lines = (0..<60).map { beacon(100 + Double($0), uuid: $0 < 10 ? Self.home : Self.other) }
        let path = try write(lines, "scan.jsonl", to: try temporaryFolder())
        let result = try Tool.run([
            "regions", "watch", "--region", "home=\(Self.home)", "--region", "shop=\(Self.other):1", "--replay", path,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(
            result.lines,
            [
                #"{"t":0.000,"type":"region","event":"enter","region":"home"}"#,
                #"{"t":10.000,"type":"region","event":"enter","region":"shop"}"#,
                #"{"t":39.000,"type":"region","event":"exit","region":"home"}"#,
            ])
        XCTAssertEqual(result.errors, "")
    }

    /// An empty list is never printed.
    func testRegionsWatchPrintsTheBeaconsOfARegionOncePerSecond() throws {
        let lines = (0..<5).flatMap { [beacon(Double($0) + 0.2, 1), beacon(Double($0) + 0.4, 2, rssi: -70)] }
        let path = try write(lines, "scan.jsonl", to: try temporaryFolder())
        // Through a pipe, as from 'indoorloc scan'.
        let tool = try Tool.path()
        let command = "cat '\(path)' | '\(tool)' regions watch --rangings --region 'home=\(Self.home)' --replay -"
        let result = try Tool.run(["-c", command], program: "/bin/sh")
        XCTAssertEqual(result.status, 0, result.errors)
        let rangings = try objects(result).filter { $0["type"] as? String == "ranging" }
        XCTAssertEqual(rangings.count, 5)
        XCTAssertEqual(rangings.map { $0["t"] as? Double }, [1, 2, 3, 4, 4.2])
        let beacons = try XCTUnwrap(rangings.first?["beacons"] as? [[String: Any]])
        XCTAssertEqual(beacons.map { $0["minor"] as? Int }, [1, 2])
        XCTAssertEqual(beacons.map { $0["uuid"] as? String }, [Self.home, Self.home])
        XCTAssertEqual(beacons[0]["rssi"] as? Double, -60)
        XCTAssertNotNil(beacons[0]["distance"])
        XCTAssertNotNil(beacons[0]["proximity"])
    }

    func testTheSettingsGiveTheExitTimeout() throws {
        let lines = [beacon(0)] + (1..<40).map { beacon(Double($0), uuid: Self.other) }
        let path = try write(lines, "scan.jsonl", to: try temporaryFolder())
        let result = try Tool.run([
            "regions", "watch", "--region", "home=\(Self.home)", "--set", "scanner.regions.exitTimeout=5", "--replay",
            path,
        ])
        XCTAssertEqual(try objects(result).map { $0["t"] as? Double }, [0, 5])
        let short = try Tool.run([
            "regions", "watch", "--region", "home=\(Self.home)", "--seconds", "20", "--replay", path,
        ])
        XCTAssertEqual(try objects(short).map { $0["event"] as? String }, ["enter"], "it ends before the exit")
    }

    func testInvalidRegionsAreRefused() throws {
        for words in [
            ["--region", Self.home], ["--region", "a=b"], ["--region", "=\(Self.home)"],
            ["--region", "a=\(Self.home):x"], ["--region", "a=\(Self.home):1:2:3"],
            ["--region", "a=\(Self.home):70000"],
            ["--region", "a=\(Self.home)", "--region", "b=\(Self.home)"], [],
            ["--region", "a=\(Self.home)", "--replay", "x", "--adapter", "hci0"],
        ] {
            let result = try Tool.run(["regions", "watch"] + words)
            XCTAssertEqual(result.status, 2, "\(words)")
        }
    }

    /// A live source is handled like a recording, and its error is reported.
    func testALiveSourceIsReadUntilItEnds() async throws {
        struct Collector: ScannerListener {
            var told: [String] = []
            var unixTime: Double?
            mutating func begin(unixTime: Double?) { self.unixTime = unixTime }
            mutating func receive(_ directive: ScanMachine.Directive) throws {
                if case .emitRegionEvent(let event) = directive {
                    told.append("\(event.kind) \(event.instant.seconds)")
                }
                try reportTrouble(directive)
            }
            mutating func write() throws -> Bool { true }
            mutating func end() throws {}
        }
        let uuid = try XCTUnwrap(BeaconUUID(Self.home))
        let readings = [0.0, 1, 50].map { second in
            SensorReading.sighting(
                Sighting(
                    instant: Instant(seconds: 4000 + second),
                    beacon: BeaconIdentity(uuid: uuid, major: 1, minor: 1), rssi: -60))
        }
        let arguments = try ParsedArguments(["--region", "x"], syntax: RegionsWatchCommand.syntax)
        var run = ScannerRun(ScannerSettings())
        _ = run.machine.regions.track(BeaconRegion(uuid: uuid), id: "home")
        var collector = Collector()
        let source = ScriptedSource(readings, pace: .live)
        try await HeardSource(arguments).listen(to: source, &run, &collector)
        XCTAssertEqual(collector.told, ["enter 0.0", "exit 31.0", "enter 50.0"])
        XCTAssertGreaterThan(try XCTUnwrap(collector.unixTime), 1.7e9, "the wall clock's time")
    }

    // MARK: - Rooms

    /// The samples have the wall clock's time.
    func testRoomsAreTrainedLiveAndWatched() throws {
        let folder = try temporaryFolder()
        let training = folder + "/home.json"
        for (room, name) in ["attic", "bath", "cellar"].enumerated() {
            let stay = try write(stays([room]), name + ".jsonl", to: folder)
            let beacons = room == 0 ? ["--uuid", Self.home] : ["--add", training]
            let result = try Tool.run(
                ["rooms", "train", "--output", training, "--live", name, "--replay", stay] + beacons)
            XCTAssertEqual(result.status, 0, result.errors)
            XCTAssertTrue(result.output.contains("\(name): enough; "), result.output)
        }
        let trained = try RoomTrainingFile.read(training)
        XCTAssertEqual(trained.rooms.keys.sorted(), ["attic", "bath", "cellar"])
        let samples = try XCTUnwrap(trained.rooms["bath"]?.samples)
        // 2025-03-04T05:06:07Z, 100.1 s into the recording, and the first ranging a second later.
        XCTAssertEqual(samples[0].timestamp, 1_741_064_767 + 101.1, accuracy: 1e-3)
        XCTAssertEqual(samples[1].timestamp - samples[0].timestamp, 1, accuracy: 1e-3)

        let walk = try write(stays([1, 0, 2], from: 500), "walk.jsonl", to: folder)
        let watched = try Tool.run(["rooms", "watch", "--training", training, "--replay", walk])
        XCTAssertEqual(watched.status, 0, watched.errors)
        let events = try objects(watched).map { "\($0["event"] ?? "") \($0["room"] ?? "")" }
        XCTAssertEqual(events, ["enter bath", "exit bath", "enter attic", "exit attic", "enter cellar"])
        let current = try Tool.run(["rooms", "watch", "--training", training, "--current", "--replay", walk])
        let rooms = try objects(current).filter { $0["event"] as? String == "current" }
        XCTAssertGreaterThan(rooms.count, 100, "once a second of 120")
        XCTAssertEqual(rooms.last?["room"] as? String, "cellar")
    }

    func testALiveTrainingInAPocketIsMarkedAndEndsAtTheTimeLimit() throws {
        let folder = try temporaryFolder()
        let stay = try write(stays([0]), "stay.jsonl", to: folder)
        let training = folder + "/home.json"
        let result = try Tool.run([
            "rooms", "train", "--output", training, "--live", "attic", "--pocket", "--uuid", Self.home, "--seconds",
            "10",
            "--replay", stay,
        ])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.contains("train longer, "), result.output)
        let samples = try XCTUnwrap(try RoomTrainingFile.read(training).rooms["attic"]?.samples)
        XCTAssertLessThanOrEqual(samples.count, 10)
        XCTAssertGreaterThan(samples.count, 7)
        XCTAssertEqual(Set(samples.map(\.placement)), [.pocket])
    }

    func testALiveTrainingWithoutBeaconsWritesNoFile() throws {
        let folder = try temporaryFolder()
        let stay = try write(stays([0]), "stay.jsonl", to: folder)
        let training = folder + "/home.json"
        let result = try Tool.run([
            "rooms", "train", "--output", training, "--live", "attic", "--uuid", Self.other, "--replay", stay,
        ])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("nothing was trained"), result.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: training))
    }

    func testInvalidLiveTrainingOptionsAreRefused() throws {
        for words in [
            ["--live", "attic"], ["--replay", "x", "walk.jsonl"], ["--pocket", "walk.jsonl"],
            ["--seconds", "3", "walk.jsonl"],
        ] {
            let result = try Tool.run(["rooms", "train", "--output", "unused.json"] + words)
            XCTAssertEqual(result.status, 2, "\(words): \(result.errors)")
        }
    }
}
