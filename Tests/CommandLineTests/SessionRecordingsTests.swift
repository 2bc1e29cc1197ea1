import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

@testable import indoorloc

/// `serve --record`: the readings of sessions, in files of an hour.
final class SessionRecordingsTests: XCTestCase {
    /// A time that the test moves.
    private final class Time {
        var now = ContinuousClock.now
    }

    private func reading(_ seconds: Double) -> SensorReading {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 2)
        return .sighting(Sighting(instant: .zero.advanced(by: .seconds(seconds)), beacon: beacon, rssi: -60))
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func readings(_ path: String) throws -> [SensorReading] {
        var reader = try RecordingReader(path: path, strictness: .lenient)
        var readings: [SensorReading] = []
        try reader.forEach { if case .measurement(let reading) = $0 { readings.append(reading) } }
        return readings
    }

    func testTheReadingsOfASessionAreRecorded() throws {
        let folder = try temporaryFolder() + "/recordings"
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + [
                "--state-directory", try temporaryFolder(), "--record", folder,
            ])
        // The first position can come after few readings.
        for _ in 0..<4 { try service.wait(for: "\"type\":\"position\"", from: service.told.count) }
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        let file = try XCTUnwrap(try names(folder).first)
        XCTAssertEqual(try names(folder).count, 1)
        XCTAssertTrue(RecordingFolder(path: folder, limit: 0).isRecording(file), file)
        var mode = stat()
        XCTAssertEqual(stat(folder, &mode), 0)
        XCTAssertEqual(mode.st_mode & 0o777, 0o700)
        XCTAssertEqual(stat(folder + "/" + file, &mode), 0)
        XCTAssertEqual(mode.st_mode & 0o777, 0o600)
        // The readings are those of the walk from the fifth second on, in their order.
        let walk = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        let expected = try readings(walk).filter { $0.instant >= .zero.advanced(by: .seconds(5)) }
        let recorded = try readings(folder + "/" + file)
        XCTAssertGreaterThan(recorded.count, 20)
        let first = try XCTUnwrap(expected.first?.instant)
        for (one, other) in zip(recorded, expected) {
            XCTAssertEqual(
                Instant.zero.seconds(to: one.instant), first.seconds(to: other.instant), accuracy: 0.05,
                "\(one) \(other)")
        }
        let replayed = try Tool.run(["replay", "--venue", "Fixtures/office", folder + "/" + file])
        XCTAssertEqual(replayed.status, 0, replayed.errors)
        XCTAssertTrue(replayed.output.contains(#""type":"position""#), "the recording locates")
    }

    func testTheRecordingOfAKilledServiceIsReadable() throws {
        let folder = try temporaryFolder()
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + [
                "--state-directory", try temporaryFolder(), "--record", folder,
            ])
        func span() throws -> TimeInterval {
            guard let file = try names(folder).first, let recorded = try? readings(folder + "/" + file),
                let first = recorded.first, let last = recorded.last
            else { return 0 }
            return first.instant.seconds(to: last.instant)
        }
        // The file is written after each second of readings.
        try service.wait(forLines: "\"type\":\"position\"") { try span() >= 2 }
        let written = try span()
        XCTAssertGreaterThanOrEqual(written, 2)
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        XCTAssertGreaterThanOrEqual(try span(), written)
    }

    func testEachHourHasItsFile() throws {
        let folder = try temporaryFolder()
        let time = Time()
        let recordings = SessionRecordings(folder: RecordingFolder(path: folder, limit: 1_000_000), now: { time.now })
        for second in 0..<4 {
            recordings.write(reading(Double(second) * 1800))
            time.now = time.now.advanced(by: .seconds(1800))
        }
        recordings.finish()
        let files = try names(folder)
        XCTAssertEqual(files.count, 2)
        for file in files {
            let instants = try readings(folder + "/" + file).map { Instant.zero.seconds(to: $0.instant) }
            XCTAssertEqual(instants, [0, 1800], file)
        }
    }

    func testTheOldestRecordingsAreDeletedBeyondTheLimit() {
        let files = (1...4).map { RecordingFolder.File(name: "\($0)", bytes: 100) }
        XCTAssertEqual(RecordingFolder.surplus(of: files, limit: 400, keeping: ["4"]), [])
        XCTAssertEqual(RecordingFolder.surplus(of: files, limit: 399, keeping: ["4"]), ["1"])
        XCTAssertEqual(RecordingFolder.surplus(of: files, limit: 200, keeping: ["4"]), ["1", "2"])
        XCTAssertEqual(RecordingFolder.surplus(of: files, limit: 1, keeping: ["4"]), ["1", "2", "3"])
        // The clock of the machine has gone back.
        XCTAssertEqual(RecordingFolder.surplus(of: files, limit: 200, keeping: ["1"]), ["2", "3"])
    }

    func testOnlyRecordingsOfAServiceAreDeleted() throws {
        let folder = try temporaryFolder()
        let (old, other) = ("20200101T000000Z.jsonl.gz", "20200101.jsonl.gz")
        for name in [old, other] { try Data(count: 5000).write(to: URL(filePath: folder + "/" + name)) }
        let recordings = SessionRecordings(folder: RecordingFolder(path: folder, limit: 4000))
        recordings.write(reading(0))
        recordings.finish()
        let rest = try names(folder)
        XCTAssertFalse(rest.contains(old))
        XCTAssertTrue(rest.contains(other))
        XCTAssertEqual(rest.count, 2)
    }

    func testARecordingThatExceedsTheLimitEnds() throws {
        let folder = try temporaryFolder()
        let time = Time()
        let recordings = SessionRecordings(folder: RecordingFolder(path: folder, limit: 1), now: { time.now })
        for second in 0..<200 {
            recordings.write(reading(Double(second)))
            time.now = time.now.advanced(by: .seconds(1))
        }
        recordings.finish()
        let files = try names(folder)
        XCTAssertEqual(files.count, 1)
        let count = try readings(folder + "/" + files[0]).count
        XCTAssertTrue((1..<200).contains(count), "\(count)")
    }

    func testAnHourAfterAnErrorRecordsAgain() throws {
        let folder = try temporaryFolder() + "/recordings"
        let time = Time()
        let recordings = SessionRecordings(folder: RecordingFolder(path: folder, limit: 1_000_000), now: { time.now })
        recordings.write(reading(0))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        recordings.write(reading(1))
        XCTAssertEqual(try names(folder), [], "the hour is given up")
        time.now = time.now.advanced(by: RecordingFolder.span)
        recordings.write(reading(3600))
        recordings.finish()
        XCTAssertEqual(try names(folder).count, 1)
    }

    func testAFolderThatCannotBeWrittenIsReportedBeforeTheSession() throws {
        let file = try temporaryFolder() + "/file"
        try Data().write(to: URL(filePath: file))
        let options = try ServiceProcess.walk("one-floor", from: 5) + ["--state-directory", temporaryFolder()]
        let service = try Tool.run(["serve"] + options + ["--record", file])
        XCTAssertEqual(service.status, 1)
        XCTAssertTrue(service.errors.contains("--record: \(file): "), service.errors)
        XCTAssertEqual(service.output, "")
        let alone = try Tool.run(["serve"] + options + ["--record-limit", "5"])
        XCTAssertEqual(alone.status, 2)
        XCTAssertTrue(alone.errors.contains("--record-limit requires --record"), alone.errors)
    }
}

/// `serve --learned`: an edition of the venue that `survey --self` has written.
final class LearnedEditionTests: XCTestCase {
    /// Returns a packet of the office with another version, number or radio map.
    private func packet(_ change: (inout [String: Any]) -> Void) throws -> String {
        let folder = try temporaryFolder() + "/packet"
        try FileManager.default.copyItem(atPath: FixtureFolder("office").path, toPath: folder)
        let file = URL(filePath: folder + "/venue.json")
        var venue = try XCTUnwrap(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        change(&venue)
        try JSONSerialization.data(withJSONObject: venue).write(to: file)
        return folder
    }

    private func version(of learned: String, for base: String) throws -> Int? {
        LearnedEdition(path: learned).edition(of: try VenuePacketReader().read(base))?.venue.version
    }

    func testTheNewerEditionIsUsed() throws {
        let (one, two) = (try packet { $0["version"] = 1 }, try packet { $0["version"] = 2 })
        XCTAssertEqual(try version(of: two, for: one), 2)
        XCTAssertNil(try version(of: one, for: two), "the owner's packet is newer")
        XCTAssertNil(try version(of: two, for: two), "the owner's packet is as new")
        let other = try packet { ($0["version"], $0["id"]) = (2, 77) }
        XCTAssertNil(try version(of: other, for: one), "the edition is of another venue")
    }

    func testAPacketWithoutAUsableEditionIsUsedAlone() throws {
        let one = try packet { $0["version"] = 1 }
        XCTAssertNil(try version(of: temporaryFolder() + "/none", for: one))
        let damaged = try temporaryFolder()
        try Data("{".utf8).write(to: URL(filePath: damaged + "/venue.json"))
        XCTAssertNil(try version(of: damaged, for: one))
    }

    func testASurveyHasPrecedence() throws {
        let folder = try packet { $0["version"] = 1 }
        let map = try Tool.run([
            "survey", "--venue", folder, "--output", folder + "/map.json.gz",
            "Fixtures/office/survey/ground-west.jsonl",
        ])
        XCTAssertEqual(map.status, 0, map.errors)
        let surveyed = try packet { ($0["version"], $0["radioMap"]) = (1, "map.json.gz") }
        try FileManager.default.copyItem(atPath: folder + "/map.json.gz", toPath: surveyed + "/map.json.gz")
        let two = try packet { $0["version"] = 2 }
        XCTAssertNil(try version(of: two, for: surveyed))
        XCTAssertEqual(try version(of: two, for: folder), 2)
    }

    /// What a service records is what `survey --self` learns from, and the next start uses what it has learned.
    func testAServiceUsesWhatItsRecordingsTeach() throws {
        let (recordings, learned) = (try temporaryFolder(), try temporaryFolder() + "/learned")
        let options =
            try ServiceProcess.endlessWalk("one-floor", from: 5) + [
                "--state-directory", temporaryFolder(), "--record", recordings, "--learned", learned,
            ]
        let service = try ServiceProcess(options)
        try service.wait(for: "\"type\":\"position\"")
        // Recordings of earlier hours.
        for (hour, walk) in ["ground", "upper"].enumerated() {
            try FileManager.default.copyItem(
                atPath: FixtureFolder("office").file("tracks/\(walk).jsonl"),
                toPath: "\(recordings)/20261128T0\(hour)0000Z.jsonl")
        }
        // The service goes on recording meanwhile.
        let learning = try Tool.run([
            "survey", "--self", "--lenient", "--force", "--venue", "Fixtures/office", "--output", learned, recordings,
        ])
        XCTAssertEqual(learning.status, 0, learning.errors)
        XCTAssertTrue(learning.output.contains("edition 2 of 'Office'"), learning.output)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertFalse(service.errors.contains { $0.contains("--learned") }, "\(service.errors)")
        let next = try ServiceProcess(options + ["--once"])
        XCTAssertEqual(try next.end(), 0, "\(next.errors)")
        XCTAssertTrue(
            next.errors.contains { $0.contains("--learned: edition 2 of 'Office' is used") }, "\(next.errors)")
    }
}
