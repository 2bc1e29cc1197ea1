import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// Conversion between recordings and captures.
final class ConvertCommandTests: XCTestCase {
    /// A recording's sightings after a conversion to a capture and back: with the assumed measured power and kind of
    /// address.
    private func sightings(_ path: String) throws -> [Sighting] {
        try SurveyRecording(path: path).sightings.map { sighting in
            var sighting = sighting
            sighting.measuredPower = sighting.measuredPower ?? -59
            sighting.address = sighting.address.map { DeviceAddress(rawValue: $0.rawValue, kind: $0.kind ?? .public) }
            return sighting
        }
    }

    private func convert(_ arguments: String..., line: UInt = #line) throws -> Tool.Result {
        let result = try Tool.run(["convert"] + arguments)
        XCTAssertEqual(result.status, 0, result.errors, line: line)
        XCTAssertEqual(result.output, "", line: line)
        return result
    }

    private func text(_ path: String) throws -> [String] {
        try String(contentsOf: URL(filePath: path), encoding: .utf8).split(separator: "\n").map(String.init)
    }

    func testARecordingSurvivesConversionToEachCaptureFormatAndBack() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 200)
        // With a start time, as in a recording of the radio.
        recording.lines[0] =
            #"{"type":"header","format":"indoor-localization-recording","version":1,"startedAt":"2025-03-04T05:06:07Z"}"#
        let path = try recording.write(to: folder)
        for (name, datalink) in [
            ("a.btsnoop", BTSnoopDatalink.monitor), ("a.SNOOP", .monitor), ("a.log", .uart), ("a.cfa", .uart),
        ] {
            _ = try convert(path, folder + "/" + name)
            var reader = try BTSnoopReader(path: folder + "/" + name)
            _ = try reader.next()
            XCTAssertEqual(reader.datalink, datalink, name)
            _ = try convert("--overwrite", folder + "/" + name, folder + "/back.jsonl")
            let back = try text(folder + "/back.jsonl")
            XCTAssertTrue(back[0].contains(#""startedAt":"2025-03-04T05:06:07.000Z""#), back[0])
            let (expected, found) = try (sightings(path), sightings(folder + "/back.jsonl"))
            XCTAssertGreaterThan(expected.count, 50)
            XCTAssertTrue(expected == found, name)
        }
    }

    func testConvertReportsDataThatACaptureCannotStore() throws {
        let folder = try temporaryFolder()
        let recording = try ShortRecording(lines: 100)
        let path = try recording.write(to: folder)
        let errors = try convert(path, folder + "/a.btsnoop").errors
        func count(_ type: String) -> Int { recording.lines.count { $0.contains("\"\(type)\"") } }
        XCTAssertGreaterThan(count("truth"), 0)
        XCTAssertTrue(errors.contains("\(count("truth")) truth"), errors)
        XCTAssertTrue(errors.contains("the header's venueId"), errors)
        XCTAssertTrue(errors.contains("\(count("beacon")) beacon lines without bytes"), errors)
        XCTAssertTrue(errors.contains("-59 dBm as the unknown measured power"), errors)
    }

    func testConvertCompressesARecordingWithoutLoss() throws {
        let folder = try temporaryFolder()
        let path = try ShortRecording(lines: 100).write(to: folder)
        XCTAssertEqual(try convert(path, folder + "/packed.jsonl.gz").errors, "")
        XCTAssertEqual(try convert(folder + "/packed.jsonl.gz", folder + "/again.jsonl").errors, "")
        var before = try RecordingReader(path: path)
        var after = try RecordingReader(path: folder + "/again.jsonl")
        XCTAssertEqual(try before.readAll(), try after.readAll())
    }

    func testACaptureReplaysLikeItsRecording() throws {
        let folder = try temporaryFolder()
        let path = try ShortRecording(lines: 300).write(to: folder)
        _ = try convert(path, folder + "/a.btsnoop")
        _ = try convert(folder + "/a.btsnoop", folder + "/a.jsonl")
        let outputs = try ["/a.btsnoop", "/a.jsonl"].map {
            try Tool.run(["replay", "--venue", "Fixtures/office", folder + $0]).output
        }
        XCTAssertTrue(outputs[0].contains(#""type":"position""#))
        XCTAssertTrue(outputs[0] == outputs[1])
    }

    func testConvertWritesAndSelectsTheAdapter() throws {
        let folder = try temporaryFolder()
        let path = try ShortRecording(lines: 30).write(to: folder)
        _ = try convert("--adapter", "3", path, folder + "/a.btsnoop")
        _ = try convert("--adapter", "3", folder + "/a.btsnoop", folder + "/three.jsonl")
        _ = try convert("--adapter", "0", folder + "/a.btsnoop", folder + "/zero.jsonl")
        XCTAssertGreaterThan(try text(folder + "/three.jsonl").count, 1)
        XCTAssertEqual(try text(folder + "/zero.jsonl").count, 1)
        XCTAssertEqual(try convert("--adapter", "hci3", folder + "/a.btsnoop", folder + "/name.jsonl").errors, "")
        XCTAssertEqual(try text(folder + "/name.jsonl"), try text(folder + "/three.jsonl"))
    }

    func testConvertReportsAnAdapterWithoutAdvertisements() throws {
        let folder = try temporaryFolder()
        let path = try ShortRecording(lines: 30).write(to: folder)
        _ = try convert("--adapter", "3", path, folder + "/a.btsnoop")
        XCTAssertEqual(
            try convert("--adapter", "7", folder + "/a.btsnoop", folder + "/seven.jsonl").errors,
            "indoorloc: \(folder)/a.btsnoop: hci7 received no advertisement, but hci3 did\n")
    }

    func testATruncatedCaptureIsAnErrorOrAWarningIfLenient() throws {
        let folder = try temporaryFolder()
        let path = try ShortRecording(lines: 30).write(to: folder)
        _ = try convert(path, folder + "/whole.btsnoop")
        try bytes(folder + "/whole.btsnoop").dropLast().write(to: URL(filePath: folder + "/cut.btsnoop"))
        let strict = try Tool.run(["convert", folder + "/cut.btsnoop", folder + "/a.jsonl"])
        XCTAssertEqual(strict.status, 1)
        XCTAssertTrue(strict.errors.hasPrefix("indoorloc: \(folder)/cut.btsnoop: record at byte "), strict.errors)
        let lenient = try convert("--lenient", folder + "/cut.btsnoop", folder + "/a.jsonl")
        XCTAssertTrue(lenient.errors.contains("cut.btsnoop: 1 invalid record skipped: "), lenient.errors)
        XCTAssertFalse(lenient.errors.contains("eniently"), lenient.errors)
        XCTAssertTrue(strict.errors.contains("--lenient to get the records before this one"), strict.errors)
    }

    func testABeaconThatCannotBeEncodedIsAnErrorOrAWarningIfLenient() throws {
        let folder = try temporaryFolder()
        var recording = try ShortRecording(lines: 30)
        let beacon = try XCTUnwrap(recording.lines.firstIndex { $0.contains("\"beacon\"") })
        recording.lines[beacon] = recording.lines[beacon].dropLast() + ",\"measuredPower\":4}"
        let path = try recording.write(to: folder)
        let strict = try Tool.run(["convert", path, folder + "/a.btsnoop"])
        XCTAssertEqual(strict.status, 1)
        XCTAssertTrue(strict.errors.contains("Measured power 4 dBm"), strict.errors)
        let lenient = try convert("--lenient", path, folder + "/a.btsnoop")
        XCTAssertTrue(lenient.errors.contains("1 reading rejected: "), lenient.errors)
    }

    func testInvalidConvertOptionsAreUsageErrors() throws {
        let folder = try temporaryFolder()
        let path = try ShortRecording(lines: 3).write(to: folder)
        let before = try bytes(path)
        for (arguments, message) in [
            ([], "INPUT is missing"), ([path], "OUTPUT is missing"),
            ([path, folder + "/a.txt"], "must end in .jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa"),
            (["--adapter", "65535", path, "a.jsonl"], "--adapter must be a whole number from 0 to 65534"),
        ] {
            let result = try Tool.run(["convert"] + arguments)
            XCTAssertEqual(result.status, 2, message)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
        XCTAssertEqual(try bytes(path), before)
        let missing = try Tool.run(["convert", folder + "/missing", folder + "/out.jsonl"])
        XCTAssertEqual(missing.status, 1)
        XCTAssertTrue(missing.errors.contains(folder + "/missing"), missing.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/out.jsonl"))
    }
}
