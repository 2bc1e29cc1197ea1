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
        try Data("time,x,y,near,far\n0,1,2,-70,-80\n1,2,3,-60,-75\n".utf8).write(
            to: URL(filePath: folder + "/wide.csv"))
        let result = try Tool.run(["convert", "--map", "1", folder + "/wide.csv", folder + "/wide.jsonl"])
        XCTAssertEqual(result.status, 1, result.errors)
        XCTAssertTrue(
            result.errors.contains("wide.csv has ground truth, but no reading; name the columns"), result.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["wide.csv"])
    }

    func testAPreviewShowsColumnsAndBeaconsAndWritesNothing() throws {
        let folder = try temporaryFolder()
        try Data("time,near,far\n0,-70,-80\n1,-60,-100\n".utf8).write(to: URL(filePath: folder + "/wide.csv"))
        try Data("name,mac\nnear,C0:00:00:00:00:01\nfar,C0:00:00:00:00:02\n".utf8).write(
            to: URL(filePath: folder + "/beacons.csv"))
        try Data("time,x,y\n0,1,2\n1,2,3\n".utf8).write(to: URL(filePath: folder + "/truth.csv"))
        let profile = #"{"beacons":"\#(folder)/beacons.csv","truth":"\#(folder)/truth.csv","map":1}"#
        try Data(profile.utf8).write(to: URL(filePath: folder + "/profile.json"))
        let result = try shell("$T convert --preview --profile \(folder)/profile.json \(folder)/wide.csv")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertEqual(
            result.lines,
            [
                "format: csv", #"time: column "time""#, #"rssi: 2 columns of a beacon each, dBm: "near", "far""#,
                "length: 1 s", "readings: 3, ground truth: 2", "beacons: 2", "  C0:00:00:00:00:01: 2 readings",
                "  C0:00:00:00:00:02: 1 reading", "first entries:",
                #"  {"t":0,"type":"truth","mapId":1,"x":1,"y":2}"#,
                #"  {"t":0,"type":"advertisement","address":"C0:00:00:00:00:01","rssi":-70,"data":""}"#,
                #"  {"t":0,"type":"advertisement","address":"C0:00:00:00:00:02","rssi":-80,"data":""}"#,
                #"  {"t":1,"type":"truth","mapId":1,"x":2,"y":3}"#,
                #"  {"t":1,"type":"advertisement","address":"C0:00:00:00:00:01","rssi":-60,"data":""}"#,
            ])
        let missing = try shell("$T convert \(folder)/wide.csv")
        XCTAssertEqual(missing.status, 2)
        XCTAssertTrue(missing.errors.contains("OUTPUT is missing"), missing.errors)
        let unknown = try shell(
            "echo '{\"colour\":1}' > \(folder)/p; $T convert --profile \(folder)/p \(folder)/wide.csv -")
        XCTAssertEqual(unknown.status, 1)
        XCTAssertTrue(unknown.errors.contains("\"colour\" is no option of a profile"), unknown.errors)
    }

    func testAPreviewShowsTheUnitOfTheTimes() throws {
        let folder = try temporaryFolder()
        try Data("time_ms,mac,rssi\n0,C0:00:00:00:00:01,-60\n3000,C0:00:00:00:00:01,-60\n".utf8).write(
            to: URL(filePath: folder + "/walk.csv"))
        let result = try shell("$T convert --preview \(folder)/walk.csv")
        XCTAssertTrue(result.lines.contains(#"time: column "time_ms", ms"#), result.output)
        XCTAssertTrue(result.lines.contains("length: 3 s"), result.output)
    }

    func testATruthByAnotherClockNamesBothFiles() throws {
        let folder = try temporaryFolder()
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"))
        }
        for (first, second, told) in [
            ("1767225600", "0", "since 1970, but \(folder)/t.csv from 0"),
            ("0", "1767225600", "from 0, but \(folder)/t.csv since 1970"),
        ] {
            try write("r.csv", "time,mac,rssi\n\(first),C0:00:00:00:00:01,-60\n")
            try write("t.csv", "time,x,y,map\n\(second),1,1,1\n")
            for option in ["", "--lenient"] {
                let result = try shell(
                    "$T convert \(option) --truth \(folder)/t.csv \(folder)/r.csv \(folder)/o.jsonl")
                XCTAssertEqual(result.status, 1, option)
                XCTAssertTrue(
                    result.errors.contains(
                        "r.csv: the file counts its times \(told). Give both by the same clock.\n"), result.errors)
                XCTAssertFalse(result.errors.contains("to skip"), result.errors)
            }
        }
    }

    func testColumnsThatAreLeftOutAreListedAndFloorsOnOneMapCounted() throws {
        let folder = try temporaryFolder()
        let rows = [1, 1, 2].enumerated().map { "\($0),C0:00:00:00:00:01,-60,\($0),5,\($1),8.5\n" }
        try Data(("time,mac,rssi,x,y,floor,lat\n" + rows.joined()).utf8).write(to: URL(filePath: folder + "/walk.csv"))
        let result = try shell("$T convert --map 1 \(folder)/walk.csv \(folder)/walk.jsonl")
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(
            result.errors.hasSuffix(
                "walk.csv: left out: 1 values of \"floor\" that differ from the first one, as --map gives the map of all "
                    + "lines; left out the columns \"floor\", \"lat\"\n"), result.errors)
        let read = try shell("$T convert --overwrite --columns map=floor \(folder)/walk.csv \(folder)/walk.jsonl")
        XCTAssertEqual(read.status, 0, read.errors)
        XCTAssertTrue(read.errors.hasSuffix("walk.csv: left out the column \"lat\"\n"), read.errors)
    }

    func testADamagedCompressedFileIsAnError() throws {
        let folder = try temporaryFolder()
        let damaged = try shell(
            """
            gzip -c Fixtures/foreign/walk.csv | head -c -8 >\(folder)/walk.csv.gz
            printf '\\0\\0\\0\\0\\0\\0\\0\\0' >>\(folder)/walk.csv.gz
            $T convert \(folder)/walk.csv.gz \(folder)/walk.jsonl
            """)
        XCTAssertEqual(damaged.status, 1)
        XCTAssertTrue(
            damaged.errors.contains(
                "walk.csv.gz: cannot be read: the file is damaged: the checksum of the compressed data is wrong."
            ),
            damaged.errors)
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/walk.jsonl"))
    }

    func testALocalTimeHasTheZoneThatIsNamed() throws {
        let zoned = try shell(
            "$T convert --time-format us --time-zone America/New_York Fixtures/foreign/cases/csv_us_date.csv -")
        XCTAssertEqual(zoned.status, 0, zoned.errors)
        XCTAssertTrue(zoned.output.contains("2016-10-18T15:15:21.000Z"), zoned.output)
    }

    func testInvalidOptionsOfForeignFormatsAreUsageErrors() throws {
        for (options, message) in [
            (
                "--from xml",
                "--from must be one of csv, pcap, kismet, mqtt, getsensordata, indoor-location, bleak, sensor-logger, "
                    + "kismetdb, btsnooz, not 'xml'"
            ),
            ("--columns rssi", "--columns must be NAME=HEADER, such as rssi=Level, not 'rssi'"),
            ("--map x", "--map must be ID or ID,HEIGHT, not 'x'"),
            ("--map 1,0", "--map: the height must be 0.1 to 100000 metres, not '0'"),
            ("--time-format %Q", "--time-format must be one of iso, us, european"),
            ("--time-zone Mars", "--time-zone must be a zone such as Europe/Berlin, not 'Mars'"),
            ("--not-heard x", "--not-heard must be numbers of dBm"),
            ("--spacing 0", "--spacing must be a number of seconds"),
            ("--receiver a --tag b", "--receiver and --tag can't be combined"),
        ] {
            let result = try shell("$T convert \(options) Fixtures/foreign/walk.csv -")
            XCTAssertEqual(result.status, 2, options)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }
}
