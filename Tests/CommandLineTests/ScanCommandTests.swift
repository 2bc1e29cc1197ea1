import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import RecordUpload
import ScanRecording
import XCTest

@testable import indoorloc

/// `scan` with a scripted source; guest tests cover the radio.
final class ScanCommandTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    /// Readings with an arbitrary first instant, as of a machine with a long uptime.
    private func readings() throws -> [SensorReading] {
        let at = { (seconds: Double) in Instant(seconds: 5000 + seconds) }
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        let advertisement = Advertisement(
            instant: at(1.5), address: DeviceAddress(rawValue: 7), rssi: -60, data: try frame.advertisingData())
        return [
            .radio(RadioEvent(instant: at(0), status: .scanning, adapter: "hci0")), .advertisement(advertisement),
            .sighting(try XCTUnwrap(try advertisement.sighting())),
            .advertisement(
                Advertisement(instant: at(2), address: DeviceAddress(rawValue: 8), rssi: -90, data: [2, 1, 6])),
        ]
    }

    private func record(_ name: String, _ source: ScriptedSource) async throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)-\(name)").path
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let arguments = try ParsedArguments(["--record", path], syntax: ScanCommand.syntax)
        try await ScanCommand(arguments).listen(to: source)
        return path
    }

    func testARecordedScanReplaysFromZero() async throws {
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = try await record(name, ScriptedSource(try readings(), pace: .live))
            var reader = try RecordingReader(path: path)
            var recorded: [SensorReading] = []
            while let entry = try reader.next() {
                if case .measurement(let reading) = entry { recorded.append(reading) }
            }
            var expected = try readings()
            for index in expected.indices { expected[index].instant.nanoseconds -= 5_000_000_000_000 }
            XCTAssertEqual(recorded, expected, name)
            XCTAssertNotNil(reader.header?.startedAt)
        }
    }

    func testAKilledScanLosesAtMostTwoSecondsOfItsRecording() throws {
        let folder = try temporaryFolder()
        let walk = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        let names = ["a.jsonl", "b.jsonl.gz", "c.btsnoop"]
        let scans = try names.map { name in
            try ServiceProcess(["--replay", walk, "--record", folder + "/" + name], command: "scan")
        }
        for (name, scan) in zip(names, scans) {
            try scan.wait(for: "\"t\":5.")
            scan.send(SIGKILL)
            XCTAssertEqual(try scan.end(), 128 + SIGKILL)
            var last = 0.0
            if name.hasSuffix("btsnoop") {
                var reader = try BTSnoopReader(path: folder + "/" + name)
                while let reading = try reader.next() { last = reading.instant.seconds }
            } else {
                var reader = try RecordingReader(path: folder + "/" + name, strictness: .lenient)
                while let entry = try reader.next() { last = entry.instant?.seconds ?? last }
            }
            XCTAssertGreaterThan(last, 3, name)
        }
    }

    func testARecordingBeginsByTheSourcesWallClockAtItsFirstReading() async throws {
        let source = ScriptedSource(try readings(), pace: .live)
        source.wallClock = WallClock(timeOfZero: .milliseconds(1_741_064_767_250) - .seconds(5000))
        let path = try await record("walk.jsonl", source)
        var reader = try RecordingReader(path: path)
        while let entry = try reader.next(), case .header = entry {}
        XCTAssertEqual(reader.header?.startedAt, "2025-03-04T05:06:07.250Z")
        XCTAssertEqual(reader.header?.wallClock?.unixTime(at: .zero).milliseconds, 1_741_064_767_250)
    }

    func testACaptureHoldsTheAdvertisements() async throws {
        let path = try await record("walk.btsnoop", ScriptedSource(try readings(), pace: .live))
        var reader = try BTSnoopReader(path: path)
        var rssis: [Double] = []
        while let reading = try reader.next() {
            if case .advertisement(let advertisement) = reading { rssis.append(advertisement.rssi) }
        }
        XCTAssertEqual(rssis, [-60, -90])
    }

    func testTheRecordingHasTheReadingsBeforeAnError() async throws {
        struct Unplugged: Error {}
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).jsonl").path
        addTeardownBlock { try? FileManager.default.removeItem(atPath: path) }
        let arguments = try ParsedArguments(["--record", path], syntax: ScanCommand.syntax)
        let source = ScriptedSource(try readings(), pace: .live, failure: Unplugged())
        do {
            try await ScanCommand(arguments).listen(to: source)
            XCTFail("it should have thrown")
        } catch { XCTAssertTrue(error is Unplugged, "\(error)") }
        var reader = try RecordingReader(path: path)
        var count = 0
        while try reader.next() != nil { count += 1 }
        XCTAssertEqual(count, 1 + (try readings().count))
    }

    func testReadingsAreInTheUploadQueueBeforeTheEnd() async throws {
        let folder = try temporaryFolder()
        let queue = folder + "/new/uploads.db"
        let arguments = try ParsedArguments(
            ["--record", folder + "/walk.jsonl", "--upload-url", "http://127.0.0.1:1", "--upload-queue", queue],
            syntax: ScanCommand.syntax)
        try await ScanCommand(arguments).listen(to: ScriptedSource(try readings(), pace: .live))
        let batch = try await UploadQueue(path: queue).nextBatch(size: 10, device: "a")
        XCTAssertEqual(batch?.count, 1)
        XCTAssertTrue(String(decoding: try XCTUnwrap(batch).body, as: UTF8.self).contains("\"major\":3,"))
    }

    private func scan(_ path: String, _ options: String..., source: ScriptedSource) async throws {
        try await ScanCommand(ParsedArguments(["--record", path] + options, syntax: ScanCommand.syntax)).listen(
            to: source)
    }

    func testARadioThatCannotBeUsedLeavesTheExistingFile() async throws {
        struct NoRadio: Error {}
        let path = try temporaryFolder() + "/walk.jsonl"
        try await scan(path, source: ScriptedSource(try readings(), pace: .live))
        let before = try bytes(path)
        // The radio reports its status but no reading.
        let events = Array(try readings().prefix(1))
        for readings in [[], events] {
            do {
                try await scan(
                    path, "--overwrite", source: ScriptedSource(readings, pace: .live, failure: NoRadio()))
                XCTFail("it should have thrown")
            } catch { XCTAssertTrue(error is NoRadio, "\(error)") }
            XCTAssertEqual(try bytes(path), before)
        }
    }

    func testAnExistingRecordingIsRefusedReplacedOrContinued() async throws {
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = try temporaryFolder() + "/" + name
            let source = ScriptedSource(try readings(), pace: .live)
            try await scan(path, source: source)
            let before = try bytes(path)
            do {
                try await scan(path, source: source)
                XCTFail("it should have thrown")
            } catch {
                XCTAssertEqual(
                    "\(error)",
                    "\(path) already exists: use --append to continue it, or --overwrite to replace it")
            }
            XCTAssertEqual(try bytes(path), before)
            try await scan(path, "--append", source: source)
            var reader = try RecordingReader(path: path)
            let entries = try reader.readAll()
            XCTAssertEqual(entries.count, 1 + 2 * (try readings().count), name)
            XCTAssertEqual(entries.compactMap(\.instant), entries.compactMap(\.instant).sorted(), name)
            XCTAssertTrue(try bytes(path).starts(with: before), "what was there has changed")
            try await scan(path, "--overwrite", source: source)
            var replaced = try RecordingReader(path: path)
            XCTAssertEqual(try replaced.readAll().count, 1 + (try readings().count), name)
        }
    }

    func testAnIncompleteLastLineIsNotContinued() async throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        let source = ScriptedSource(try readings(), pace: .live)
        try await scan(path, source: source)
        try bytes(path).dropLast().write(to: URL(filePath: path))
        try await scan(path, "--append", source: source)
        var reader = try RecordingReader(path: path)
        XCTAssertEqual(try reader.readAll().count, 1 + 2 * (try readings().count))
    }

    func testBeaconLinesHaveSmoothedRSSIDistanceAndProximity() throws {
        var lines = ScanLines()
        let sighting = Sighting(instant: Instant(seconds: 1.5), beacon: beacon, rssi: -59, measuredPower: -59)
        XCTAssertEqual(
            try lines.line(of: .sighting(sighting)),
            """
            {"t":1.5,"type":"beacon","uuid":"00000000-0000-0001-0000-000000000002","major":3,"minor":4,"rssi":-59,\
            "measuredPower":-59,"smoothed":-59.0,"distance":1.00,"proximity":"near"}
            """)
    }

    func testInvalidOptionsAreRefused() throws {
        for (words, message) in [
            (["--adapter", "foo"], "--adapter must be a name such as hci0 or an address, not 'foo'"),
            (["--adapter", "hci"], "--adapter must be a name such as hci0 or an address, not 'hci'"),
            (["--route", "usb"], "--route must be hci or dbus, not 'usb'"),
            (
                ["--record", "walk.txt"],
                "--record 'walk.txt' must end in .jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa"
            ),
            (["--seconds", "0"], "--seconds must be a whole number from 1 to 31536000, not '0'"),
            (["--append"], "--append requires --record"),
            (
                ["--record", "a.jsonl", "--append", "--overwrite"], "--append and --overwrite can't be combined"
            ),
            (
                ["--record", "a.snoop", "--append"],
                "--append requires a recording, .jsonl or .jsonl.gz; a capture can't be continued"
            ),
            (["extra"], "unexpected operand 'extra'"),
        ] {
            let result = try Tool.run(["scan"] + words)
            XCTAssertEqual(result.status, 2)
            XCTAssertEqual(result.errors, "indoorloc scan: \(message)\nTry 'indoorloc scan --help'.\n")
        }
    }
}
