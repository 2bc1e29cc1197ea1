import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

/// Each error states its place, its field, and what to do.
final class ForeignErrorTests: XCTestCase {
    func testAnErrorOfACSVFileStatesLineAndHeader() throws {
        let header = "time,mac,RSSI\n"
        for (text, expected) in [
            ("", "file: the file is empty. Check that the program that writes the file has written it."),
            (
                "when,mac,RSSI\n",
                "file:1: field `time` is missing: expected a column with the time, such as \"time\"; name it with "
                    + "--columns, or give the time between lines with --spacing. Add it, or read leniently to skip such "
                    + "lines."
            ),
            (
                "time,RSSI\n1,-60\n",
                "file:2: field `identity` is missing: expected columns with \"uuid\", \"major\" and \"minor\", "
                    + "\"identity\" or \"mac\"; name them with --columns, or the only beacon of the file with --beacon. "
                    + "Add it, or read leniently to skip such lines."
            ),
            (
                header + "1,C0:00:00:00:00:01,loud\n",
                "file:2: field `RSSI` is \"loud\"; expected a number of dBm. Correct the value, or read leniently to skip "
                    + "such lines."
            ),
            (
                header + "\n1,C0:00:00:00:00,-60\n",
                "file:3: field `mac` is \"C0:00:00:00:00\"; expected six hexadecimal pairs. Correct the value, or read "
                    + "leniently to skip such lines."
            ),
            (
                header + "1,,-60\n",
                "file:2: field `mac` is missing: expected a beacon or an address. Add it, or read leniently to skip such "
                    + "lines."
            ),
            (
                header + "10-18-2016 11:15:21,C0:00:00:00:00:01,-60\n",
                "file:2: field `time` is \"10-18-2016 11:15:21\"; expected a time in ISO 8601 or a number; give any other "
                    + "form with --time-format. Correct the value, or read leniently to skip such lines."
            ),
            (
                header + "1,\"C0:00:00:00:00:01,-60\n",
                "file:2: the line is malformed: the closing quote of a field is missing. Check that the format is csv, or "
                    + "read leniently to skip such lines."
            ),
            (
                "time,mac,rssi,x,y\n",
                "file:1: field `map` is missing: expected a column with the map of x and y, or its number with --map. Add "
                    + "it, or read leniently to skip such lines."
            ),
            (
                "time,mac,rssi,x,y,Floor\n",
                "file:1: field `map` is missing: expected the map of x and y: --columns map=Floor if \"Floor\" has the "
                    + "numbers of maps, or --map if all lines are on one map. Add it, or read leniently to skip such lines."
            ),
            (
                "time,mac,rssi,x,y,map\n0,C0:00:00:00:00:01,-60,2,5,10,0,1\n",
                "file:2: the line has 8 fields, but the header has 6. Write decimals with a point, or separate the fields "
                    + "by semicolons."
            ),
            (
                "time;mac;rssi;room\n0;C0:00:00:00:00:01;-60,5;a;b\n",
                "file:2: the line has 5 fields, but the header has 4. Put a field that contains the separator into quotes."
            ),
            (
                "time,mac,rssi,x,y,map\n0,C0:00:00:00:00:01,-60,1e300,5,1\n",
                "file:2: field `x` is \"1e300\"; expected a number of metres from -1000000 to 1000000. Correct the value, "
                    + "or read leniently to skip such lines."
            ),
            (
                "time_ms,mac,rssi\n1767225600,C0:00:00:00:00:01,-60\n",
                "file:2: field `time_ms` has a time that most likely counts seconds since 1970, not milliseconds. Give "
                    + "--time-format seconds, or --time-format milliseconds if the header is right."
            ),
            (
                "time [s],mac,rssi\n1767225600000,C0:00:00:00:00:01,-60\n",
                "file:2: field `time [s]` is \"1767225600000\"; expected a time in ISO 8601 or a number of seconds; give "
                    + "any other form with --time-format. Correct the value, or read leniently to skip such lines."
            ),
        ] {
            XCTAssertEqual(try failure(text, as: .csv), expected)
        }
    }

    func testATableThatIsNotUTF8IsAnErrorWithItsLine() throws {
        let row = Array("1,C0:00:00:00:00:01,-60,K".utf8)
        let (ofLine, ofFile) = (":2: the line isn't UTF-8.", ": the file isn't UTF-8.")
        for (header, name, place) in [("room", [0xFC], ofLine), ("r\u{E4}ume", [0x63], ofFile)]
            as [(String, [UInt8], String)]
        {
            // A letter of Latin-1 is its scalar.
            let bytes = "time,mac,rssi,\(header)\n".unicodeScalars.map { UInt8($0.value) } + row + name + [0x0A]
            XCTAssertEqual(try failure(bytes, as: .csv), "file\(place) Save the file as UTF-8.")
            let path = try temporaryFile("walk.csv", bytes)
            XCTAssertThrowsError(try ForeignFixture.read(path), "the format is detected all the same") { error in
                XCTAssertTrue("\(error)".hasSuffix("\(place) Save the file as UTF-8."), "\(error)")
            }
        }
        // Names from the air may have any bytes; a header that is skipped would make a header of the first reading.
        let other = Array("time,mac,rssi,name\n1,C0:00:00:00:00:01,-60,K".utf8) + [0xFC, 0x0A]
        XCTAssertNil(try failure(other, as: .csv))
        let header = Array("time,mac,rssi,r".utf8) + [0xE4] + Array("ume\n1,C0:00:00:00:00:01,-60,K\n".utf8)
        let path = try temporaryFile("header.csv", header)
        XCTAssertThrowsError(try ForeignFixture.read(path, strictness: .lenient)) { error in
            XCTAssertTrue("\(error)".hasSuffix("\(ofFile) Save the file as UTF-8."), "\(error)")
        }
        XCTAssertNil(try failure("time,mac,rssi,room\n1,C0:00:00:00:00:01,-60,K\u{FC}che\n", as: .csv))
        XCTAssertThrowsError(try ForeignBeacon.table("b.csv", bytes: Array("name,mac\nK".utf8) + [0xFC, 0x0A])) {
            error in
            XCTAssertEqual("\(error)", "b.csv:2: the line isn't UTF-8. Save the file as UTF-8.")
        }
    }

    func testAPositionOfATraceIsWithinTheLimitOfCoordinates() throws {
        let found = try failure("1\tTYPE_WAYPOINT\t1e300\t1\n", as: .indoorLocation)
        XCTAssertEqual(found?.hasPrefix("file:1: field `x` is \"1e300\"; expected a number from -1000000.0 to"), true)
        var settings = ForeignRecordingSettings()
        settings.place = { _, _ in (1, MapPoint(x: 2e6, y: 0)) }
        let far = try failure("POSI;1;1;50;8;1;1\n", as: .getSensorData, settings)
        XCTAssertEqual(far?.contains("the position is more than 1000 km from the map"), true, far ?? "")
    }

    func testAnErrorOfAPhonesLogStatesLineAndField() throws {
        for (text, format, expected) in [
            ("ACCE;1;1;0;0\n", ForeignFormat.getSensorData, "file:1: field `ACCE z` is missing: expected a number"),
            (
                "PRES;1;1;101325;3\n", .getSensorData,
                "file:1: field `Pres(mbar)` is \"101325\"; expected a number from 100.0"
            ),
            ("BLE4;1;iBeacon;C0:00:00:00:00:01;-60;-59;1;70000;x\n", .getSensorData, "file:1: field `UUID` is \"x\""),
            ("% x\nnonsense\n", .getSensorData, "file:2: the line is malformed: expected a word such as ACCE"),
            ("1\tTYPE_BEACON\tx\n", .indoorLocation, "file:1: field `UUID` is \"x\"; expected a UUID"),
            ("now\tTYPE_WIFI\n", .indoorLocation, "file:1: field `time` is \"now\"; expected a number of milliseconds"),
            ("1\tWIFI\n", .indoorLocation, "file:1: field `type` is \"WIFI\"; expected a type such as TYPE_BEACON"),
        ] {
            let found = try XCTUnwrap(try failure(text, as: format), text)
            XCTAssertTrue(found.hasPrefix(expected), found)
        }
    }

    func testAnErrorOfJSONStatesLineAndField() throws {
        for (text, format, expected) in [
            ("{\"address\":\"C0:00:00:00:00:01\"}\n", ForeignFormat.bleak, "file:1: field `time` is missing"),
            ("{\"time\":1}\n\n{\"time\":1,\"rssi\":\"x\"}\n", .bleak, "file:1: field `rssi` is missing"),
            (
                "{\"time\":1,\"rssi\":-60,\"manufacturer_data\":{\"76\":\"0g\"}}", .bleak,
                "file:1: field `manufacturer_data.76` is \"0g\"; expected pairs of hexadecimal digits"
            ),
            ("scanning ...\n{}\n", .bleak, "file:1: the object is malformed: expected a JSON object"),
            (
                [5, 7, 3].map { "{\"time\":\($0),\"mac\":\"C0:00:00:00:00:01\",\"rssi\":-60}\n" }.joined(), .bleak,
                "file:3: field `time` goes back from 5.0 s to 3.0 s. Sort the file by time, or read leniently"
            ),
            ("{\"time\":1,", .bleak, "file:1: the object is malformed: the file ends within the object"),
            (
                "[\n{\"kismet.device.base.phyname\":\"BTLE\"}]", .kismet,
                "file:2: field `kismet.device.base.macaddr` is missing"
            ),
            (
                "[{\"kismet.device.base.macaddr\":\"C0:00:00:00:00:01\",\"kismet.device.base.last_time\":5}]", .kismet,
                "file:1: field `kismet.device.base.last_time` is \"5.0\"; expected seconds since 1970"
            ),
        ] {
            let found = try XCTUnwrap(try failure(text, as: format), text)
            XCTAssertTrue(found.hasPrefix(expected), found)
        }
    }

    func testAnErrorOfAGatewayLogStatesLineAndCause() throws {
        let topic = "espresense/devices/aabbccddeeff/hall"
        for (text, expected) in [
            ("nothing\n", "file:1: the line is malformed: expected a topic, a space and a payload."),
            (
                "1767225600 \(topic) {\"mac\":\"aabbccddeeff\",\"rssi\":\"x\"}\n",
                "file:1: the line is malformed: espresense message at byte 29: rssi: expected a number."
            ),
            (
                "\(topic) {\"mac\":\"aabbccddeeff\",\"rssi\":-60}\n",
                "file:1: field `time` is missing, in the line and in the message. Print it with "
                    + "`mosquitto_sub -F '%U %t %p'`"
            ),
            (
                "1767225600 \(topic) {\"mac\":\"aabbccddeeff\",\"rssi\":-60}\n"
                    + "1767225601 \(topic)2 {\"mac\":\"aabbccddeeff\",\"rssi\":-60}\n",
                "file:2: field `receiver` changes, but a recording has one: the log has messages of \"hall\" and \"hall2\""
            ),
        ] {
            let found = try XCTUnwrap(try failure(text, as: .mqtt), text)
            XCTAssertTrue(found.hasPrefix(expected), found)
        }
    }

    func testAnErrorOfAPacketStatesNumberAndOffset() throws {
        XCTAssertEqual(
            try failure(bytes("without-signal.pcap"), as: .pcap),
            "file: packet 1 at byte 24: field `signal strength` is missing: packets of link type 251 don't contain it. "
                + "Capture with a sniffer that writes link type 256 or 272.")
        XCTAssertEqual(
            try failure([UInt8](bytes("link-layer.pcap").dropLast()), as: .pcap)?.contains(": packet 268 at byte "),
            true)
        var other = try bytes("hci.pcap")
        other[20] = 1
        XCTAssertEqual(
            try failure(other, as: .pcap),
            "file: packet 1 at byte 24: field `link type` is 1, which holds no advertisements of Bluetooth LE. This package "
                + "reads the link types 187, 192, 201, 254, 256, 272.")
        // The valid signal strength of the second packet.
        var silent = try bytes("link-layer.pcap")
        let second = 24 + 16 + Int(silent[32])
        silent[second + 16 + 8] &= ~2
        XCTAssertEqual(
            try failure(silent, as: .pcap),
            "file: packet 2 at byte \(second): field `signal strength` is missing: expected a packet whose flags say that it "
                + "is valid. Add it, or read leniently to skip such packets.")
        // The length of the advertisement in the first packet, of which the file lacks the end.
        var long = try bytes("link-layer.pcap")
        long[24 + 16 + 10 + 5] = 200
        long[24 + 12] += 100
        XCTAssertEqual(
            try failure(long, as: .pcap)?.hasPrefix("file: packet 1 at byte 24: the packet needs 206 bytes but has "),
            true)
        XCTAssertEqual(
            try failure([1, 2, 3, 4], as: .pcap)?.contains("expected the beginning of a pcap or pcapng file"), true)
        XCTAssertEqual(try failure([UInt8](), as: .pcap)?.hasPrefix("file: the file is empty"), true)
    }

    func testALenientReaderSkipsAndCountsInvalidElements() throws {
        let text = "time,mac,rssi\n1,C0:00:00:00:00:01,-60\n2,?,-60\n3,C0:00:00:00:00:01,127\n4,C0:00:00:00:00:01,-61\n"
        let path = try temporaryFile("walk.csv", Array(text.utf8))
        let file = try ForeignFixture.read(path, strictness: .lenient)
        XCTAssertEqual(file.entries.count, 2)
        XCTAssertEqual(file.tally.skippedRecords, 1)
        XCTAssertEqual(file.tally.droppedNotMeasurements, 1)
        XCTAssertEqual(file.tally.errors.map(\.place), [.line(3)])
        // The packets before a file is cut off.
        let cut = try temporaryFile("cut.pcap", [UInt8](bytes("hci.pcap").dropLast()))
        let packets = try ForeignFixture.read(cut, strictness: .lenient)
        XCTAssertEqual(packets.entries.count, 267)
        XCTAssertEqual(packets.tally.skippedRecords, 1)
    }

    func testALineBeyondTheLimitIsAnErrorWithoutMemory() throws {
        let long = "time,mac,rssi\n1,C0:00:00:00:00:01,-60\n" + String(repeating: "9", count: 1 << 20) + "9\n"
        XCTAssertEqual(
            try failure(long, as: .csv)?.hasPrefix("file:3: the line is longer than 1048576 bytes"), true)
        let object = "{\"time\":1,\"x\":\"" + String(repeating: "a", count: 1 << 20) + "\"}"
        XCTAssertEqual(
            try failure(object, as: .bleak)?.hasPrefix("file:1: the object is longer than 1048576 bytes"), true)
        let packet = try bytes("hci.pcap").prefix(32) + [0, 0, 0, 1, 0, 0, 0, 1]
        XCTAssertEqual(
            try failure([UInt8](packet), as: .pcap)?.contains("packet 1 at byte 24: the packet is longer than 1048576"),
            true)
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: ForeignFixture.path(name))))
    }
}

/// The numbers of elements that a recording of another program may have.
final class ForeignLimitTests: XCTestCase {
    func testTheColumnsOfACSVFileAreLimited() throws {
        func text(_ count: Int) -> String {
            let columns = ["time", "mac", "rssi"] + (3..<count).map { "c\($0)" }
            let values = ["1", "C0:00:00:00:00:01", "-60"] + Array(repeating: "", count: count - 3)
            return [columns, values].map { $0.joined(separator: ",") + "\n" }.joined()
        }
        XCTAssertNil(try failure(text(1_000), as: .csv))
        XCTAssertEqual(
            try failure(text(1_001), as: .csv),
            "file:1: the line has more than 1000 columns. Split the file, or check that its format is csv.")
    }

    func testTheInterfacesOfASectionAreLimited() throws {
        func block(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
            let length: [UInt8] = [UInt8(body.count + 12), 0, 0, 0]
            return type == 0x0A
                ? [0x0A, 0x0D, 0x0D, 0x0A] + length + body + length : [type, 0, 0, 0] + length + body + length
        }
        func capture(_ count: Int) -> [UInt8] {
            // The byte order, version 1.0, and an unknown length of the section.
            let section = block(0x0A, [0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0] + Array(repeating: 0xFF, count: 8))
            let interface = block(1, [201, 0, 0, 0, 0, 0, 0, 0])
            return section + Array(repeating: interface, count: count).joined()
        }
        XCTAssertNil(try failure(capture(1_000), as: .pcap))
        XCTAssertNil(try failure(capture(1_000) + capture(1_000), as: .pcap), "a section has interfaces of its own")
        XCTAssertEqual(
            try failure(capture(1_001), as: .pcap)?.contains("the packet has more than 1000 interfaces. Split"), true)
    }

    func testTheReadingsOfAnArrayAreLimited() throws {
        let sample = String(
            decoding: try Data(contentsOf: URL(filePath: ForeignFixture.path("bleak.jsonl"))), as: UTF8.self)
        let object = try XCTUnwrap(sample.split(separator: "\n").first)
        /// The readings of an array of objects; the limit is three.
        func readings(_ count: Int) throws(ForeignProblem) -> Int {
            var rest = Array(("[" + Array(repeating: object, count: count).joined(separator: ",\n") + "]").utf8)
            var decoder = ForeignDecoder(format: .bleak, settings: ForeignRecordingSettings(), mostInArray: 3)
            var readings = 0
            while true {
                switch try decoder.next() {
                case .entry(.measurement): readings += 1
                case .entry: break
                case .needsMore:
                    decoder.fill { bytes in
                        bytes += rest
                        rest = []
                    }
                case .end: return readings
                }
            }
        }
        XCTAssertEqual(try readings(3), 3)
        XCTAssertThrowsError(try readings(4)) { error in
            let problem = error as? ForeignProblem
            XCTAssertEqual(problem?.problem, .tooMany(what: "readings in an array", limit: 3))
            XCTAssertEqual(problem?.endsFile, true)
        }
    }
}

/// Damaged samples of each format.
final class ForeignMutationTests: XCTestCase {
    private static let samples: [(name: String, format: ForeignFormat)] = [
        ("walk.csv", .csv), ("hci.pcap", .pcap), ("link-layer.pcap", .pcap), ("nordic.pcapng", .pcap),
        ("without-signal.pcap", .pcap), ("kismet.json", .kismet), ("theengs.log", .mqtt), ("espresense.log", .mqtt),
        ("bleak.jsonl", .bleak), ("cases/sensorlogger.json", .sensorLogger), ("cases/ubertooth_ppi.pcap", .pcap),
        ("cases/wigle.csv", .csv), ("cases/csv_wide.csv", .csv), ("bugreport.txt", .btsnooz),
        ("walk.kismet", .kismetDatabase),
    ]
    private static let seed: UInt64 = 20

    /// The start and the end of a sample, so that its last lines of other kinds take part.
    private func bytes(_ name: String) throws -> [UInt8] {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: ForeignFixture.path(name))))
        let isText = !name.contains("pcap")
        // The parts of a database and of a compressed section belong together.
        return bytes.count < 3000 || name == "walk.kismet"
            ? bytes : Array(bytes.prefix(2000)) + (isText ? bytes.suffix(1000) : [])
    }

    /// Changes, removes, repeats and inserts bytes.
    private func damage(_ bytes: inout [UInt8], using generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 1...40, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.removeSubrange(place..<end)
            case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
            default:
                bytes.insert(
                    contentsOf: Array("\"}\n,;\t{[-9e99".utf8.shuffled(using: &generator).prefix(3)), at: place)
            }
        }
    }

    func testADamagedSampleGivesEntriesInOrderThatARecordingStoresOrErrors() throws {
        var generator = SeededGenerator(seed: Self.seed)
        var settings = ForeignFixture.settings
        settings.spacing = .milliseconds(20)
        for (name, format) in Self.samples {
            let sample = try bytes(name)
            settings.tag = name == "espresense.log" ? "phone:walker" : nil
            settings.timeFormat = name == "cases/csv_wide.csv" ? ForeignTimeFormat("us") : nil
            var (entries, problems) = (0, 0)
            for round in 0..<400 {
                var bytes = sample
                damage(&bytes, using: &generator)
                let result = ForeignFixture.decode(bytes, as: format, settings, pieces: 100)
                entries += result.entries.count
                problems += result.problems.count
                let instants = result.entries.compactMap(\.instant)
                guard instants == instants.sorted() else {
                    return XCTFail("\(name), seed \(Self.seed), round \(round)")
                }
                var decoder = RecordDecoder()
                for entry in result.entries {
                    guard let line = try? RecordEncoder.line(for: entry), case .entry? = try? decoder.decode(line.span)
                    else { return XCTFail("\(name), seed \(Self.seed), round \(round): \(entry)") }
                }
                for problem in result.problems {
                    let error = ForeignRecordingError(
                        file: "a", format: format, field: problem.field, problem: problem.problem)
                    XCTAssertTrue(error.description.hasSuffix("."), "\(error)")
                }
            }
            XCTAssertGreaterThan(problems, 0, name)
            if name != "without-signal.pcap" {
                XCTAssertGreaterThan(entries, name.hasPrefix("cases/") ? 20 : 200, name)
            }
        }
    }
}
