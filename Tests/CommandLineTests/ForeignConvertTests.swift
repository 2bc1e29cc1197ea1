import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// Conversion of recordings of other programs.
final class ForeignConvertTests: XCTestCase {
    private func shell(_ line: String) throws -> Tool.Result {
        try Tool.run(["-c", "set -o pipefail; T='\(try Tool.path())'; " + line], program: "/bin/bash")
    }

    /// The samples, with the options that they need.
    private let samples = [
        ("walk.csv", ""), ("hci.pcap", ""), ("link-layer.pcap", ""), ("nordic.pcapng", ""), ("kismet.jsonl.gz", ""),
        ("theengs.log", ""), ("getsensordata.txt.gz", "--venue Fixtures/office"),
        ("indoor-location.txt.gz", "--map 1,20"), ("bleak.jsonl", ""),
    ]

    func testEachSampleIsConvertedAndReplayed() throws {
        let folder = try temporaryFolder()
        for (name, options) in samples {
            let output = "\(folder)/\(name).jsonl"
            let result = try shell("$T convert \(options) Fixtures/foreign/\(name) \(output)")
            XCTAssertEqual(result.status, 0, "\(name): \(result.errors)")
            let replay = try shell("$T replay --venue Fixtures/office \(output)")
            XCTAssertEqual(replay.status, 0, "\(name): \(replay.errors)")
            let positions = replay.lines.filter { $0.contains(#""type":"position""#) }
            XCTAssertGreaterThan(positions.count, 1, name)
            // The walk begins at 2 m, 10 m and goes right.
            let last = try XCTUnwrap(
                JSONSerialization.jsonObject(with: Data((positions.last ?? "{}").utf8)) as? [String: Any], name)
            XCTAssertEqual(last["mapId"] as? Int, 1, name)
            XCTAssertEqual(try XCTUnwrap(last["x"] as? Double, name), 8, accuracy: 6, name)
            XCTAssertEqual(try XCTUnwrap(last["y"] as? Double, name), 10, accuracy: 5, name)
        }
    }

    func testAnInertialSampleScoresLikeTheWalk() throws {
        let folder = try temporaryFolder()
        let converted = try shell(
            "$T convert --venue Fixtures/office Fixtures/foreign/getsensordata.txt.gz \(folder)/walk.jsonl")
        XCTAssertEqual(converted.status, 0, converted.errors)
        XCTAssertTrue(converted.errors.contains("left out: 1 WIFI lines"), converted.errors)
        var reader = try RecordingReader(path: folder + "/walk.jsonl")
        let entries = try reader.readAll()
        XCTAssertEqual(reader.header?.device, "simulator one-floor")
        var original = try RecordingReader(
            path: try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz"))
        let truths = try [entries, original.readAll()].map { entries in
            entries.compactMap { entry in
                if case .truth(let truth) = entry, truth.instant < Instant(seconds: 6) { truth.point } else { nil }
            }
        }
        XCTAssertGreaterThan(truths[0].count, 0)
        XCTAssertEqual(truths[0].count, truths[1].count)
        for (one, other) in zip(truths[0], truths[1]) {
            XCTAssertEqual(one.x, other.x, accuracy: 0.02, "the georeference places the marks")
            XCTAssertEqual(one.y, other.y, accuracy: 0.02)
        }
    }

    func testATagsRecordingNamesItsGateways() throws {
        let folder = try temporaryFolder()
        let result = try shell(
            "$T convert --tag phone:walker --spacing 0.02 Fixtures/foreign/espresense.log \(folder)/walk.jsonl")
        XCTAssertEqual(result.status, 0, result.errors)
        let replay = try shell("$T replay --venue Fixtures/office \(folder)/walk.jsonl")
        XCTAssertEqual(replay.status, 0, replay.errors)
        XCTAssertTrue(replay.errors.contains("no position"), replay.errors)
    }

    func testAConversionToStandardOutputIsReplayedThroughPipes() throws {
        let plain = try shell("$T convert Fixtures/foreign/link-layer.pcap - | $T replay --venue Fixtures/office -")
        XCTAssertEqual(plain.status, 0, plain.errors)
        XCTAssertTrue(plain.output.contains(#""type":"position""#))
        let packed = try shell(
            """
            gzip -c Fixtures/foreign/link-layer.pcap | $T convert - - | gzip -c | $T replay --venue Fixtures/office -
            """)
        XCTAssertEqual(packed.status, 0, packed.errors)
        XCTAssertTrue(packed.output == plain.output)
        let page = try temporaryFolder() + "/page.html"
        let view = try shell(
            "$T convert Fixtures/foreign/bleak.jsonl - | $T view --venue Fixtures/office --output \(page) -")
        XCTAssertEqual(view.status, 0, view.errors)
        XCTAssertTrue(FileManager.default.fileExists(atPath: page))
    }

    func testAForcedFormatReadsWhatTheContentDoesNotShow() throws {
        let folder = try temporaryFolder()
        try Data("Pegel;Zeit;Sender\n-60;0;c0:00:00:00:00:01\n".utf8).write(to: URL(filePath: folder + "/a.csv"))
        let unknown = try shell("$T convert \(folder)/a.csv -")
        XCTAssertEqual(unknown.status, 1)
        let named = try shell("$T convert --columns time=Zeit,rssi=Pegel,address=Sender \(folder)/a.csv -")
        XCTAssertEqual(named.status, 0, named.errors)
        XCTAssertTrue(
            named.output.hasSuffix(#""address":"C0:00:00:00:00:01","rssi":-60,"data":""}"# + "\n"), named.output)
        let forced = try shell("$T convert --from bleak \(folder)/a.csv -")
        XCTAssertEqual(forced.status, 1)
        XCTAssertTrue(
            forced.errors.contains(
                "a.csv:1: the object is malformed: expected a JSON object. Check that the format is bleak, "
                    + "or use --lenient to skip such objects."), forced.errors)
        XCTAssertEqual(forced.output, "")
    }

    func testATableWithoutColumnsOfReadingsIsAnError() throws {
        let folder = try temporaryFolder()
        try Data("time,x,y,b1,b2\n0,1,2,-70,-80\n1,2,3,-60,-75\n".utf8).write(to: URL(filePath: folder + "/wide.csv"))
        let result = try Tool.run(["convert", "--map", "1", folder + "/wide.csv", folder + "/wide.jsonl"])
        XCTAssertEqual(result.status, 1, result.errors)
        XCTAssertTrue(
            result.errors.contains("wide.csv has ground truth, but no reading; name the columns"), result.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["wide.csv"])
    }

    func testInvalidOptionsOfForeignFormatsAreUsageErrors() throws {
        for (options, message) in [
            (
                "--from xml",
                "--from must be one of csv, pcap, kismet, mqtt, getsensordata, indoor-location, bleak, not 'xml'"
            ),
            ("--columns rssi", "--columns must be NAME=HEADER, such as rssi=Level, not 'rssi'"),
            ("--map x", "--map must be ID or ID,HEIGHT, not 'x'"),
            ("--map 1,0", "--map: the height must be 0.1 to 100000 metres, not '0'"),
            ("--spacing 0", "--spacing must be a number of seconds"),
            ("--receiver a --tag b", "--receiver and --tag can't be combined"),
        ] {
            let result = try shell("$T convert \(options) Fixtures/foreign/walk.csv -")
            XCTAssertEqual(result.status, 2, options)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }
}
