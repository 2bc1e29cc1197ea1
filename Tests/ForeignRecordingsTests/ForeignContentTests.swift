import ForeignRecordings
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The content determines the format.
final class ForeignDetectionTests: XCTestCase {
    private func format(_ text: String) throws -> ForeignFormat? {
        let path = try temporaryFile("file", Array(text.utf8))
        switch try ConvertibleFile(path: path, settings: ForeignRecordingSettings(), strictness: .strict) {
        case .foreign(let reader): return reader.format
        case .recorded: return nil
        }
    }

    func testTheFirstLineDeterminesTheFormat() throws {
        for (text, expected) in [
            ("\u{FEFF}Time;Mac;RSSI\n", ForeignFormat.csv), ("t\trssi\tidentity\n", .csv),
            ("t,rssi,uuid,major,minor", .csv), ("% anything\n", .getSensorData),
            ("ACCE;0.1;0.1;1;2;3;3\n", .getSensorData),
            ("#\tstartTime:1\n", .indoorLocation), ("1574659531598\tTYPE_WIFI\tx\n", .indoorLocation),
            ("home/x/BTtoMQTT/y {\"id\":1}\n", .mqtt), ("1767225600.5 a b/c {}\n", .mqtt),
            ("2026-01-01T00:00:00+0100 a/c [1]\n", .mqtt), ("[\n{\n\"kismet.device.base.key\":1", .kismet),
            ("{\"bluetooth.device\":{}}\n", .kismet), ("{\"address\":\"x\",\"rssi\":-1}\n", .bleak),
            ("[{\"manufacturer_data\":{}}]\n", .bleak),
            ("{\"time\":1,\"type\":\"ADV_IND\",\"rssi\":-60}\n", .bleak), ("TIME;MAC;RSSI\n", .csv),
            ("home/gateway/LWT online\nhome/x/BTtoMQTT/y {\"id\":1}\n", .mqtt),
            ("ble {\"id\":1,\"rssi\":-60}\n", .mqtt),
            ("WigleWifi-1.4,appRelease=2.53\nMAC,SSID\n", .csv),
            ("date,b3001,b3002\n1,-70,-200\n", .csv),
            ("name,t,rssi\nC0:00:00:00:00:01,1,-60\n", .csv),
            ("[{\"sensor\":\"a\",\"seconds_elapsed\":\"1\"}]", .sensorLogger),
            ("time,seconds_elapsed,rssi,id,manufacturerData\n1,0,-60,x,\n", .csv),
            ("SQLite format 3\0", .kismetDatabase), ("=====\n== dumpstate: 2026\n", .btsnooz),
            ("Bluetooth Status\n  enabled: true\n", .btsnooz),
            ("BLE2MQTT-1/Version 1\nBLE2MQTT-1/c0:00:00:00:00:01/RSSI -60\n", .mqtt),
        ] {
            XCTAssertEqual(try format(text), expected, text)
        }
        for text in [
            "", "{\"type\":\"header\"}\n", "{\"t\":1,\"type\":\"beacon\",\"rssi\":-60}\n", "btsnoop\0",
        ] {
            XCTAssertNil(try format(text), text)
        }
    }

    func testAFileOfNoKnownFormatNamesTheKnownOnes() throws {
        for text in ["a,b,c\n", "hello\n", "time,rssi\n"] {
            XCTAssertThrowsError(try format(text), text) { error in
                XCTAssertTrue(
                    "\(error)".hasSuffix(
                        "the format is not recognised. Known are recordings, btsnoop, csv, pcap, kismet, mqtt, "
                            + "getsensordata, indoor-location, bleak, sensor-logger, kismetdb, btsnooz; try --from."),
                    "\(error)")
            }
        }
        XCTAssertThrowsError(try format("name,timestamp,rssiOne\nC0:00:00:00:00:01,1,-60\n")) { error in
            XCTAssertTrue(
                "\(error)".contains(
                    "a table whose columns are unknown: \"name\", \"timestamp\", \"rssiOne\". Name the"),
                "\(error)")
        }
    }

    func testATextInUTF16IsRead() throws {
        let text = "time;mac;rssi\r\n1;C0:00:00:00:00:01;-60,5\r\n"
        for isBigEndian in [false, true] {
            let units = [0xFEFF] + Array(text.utf16)
            let bytes = units.flatMap { unit in
                let pair = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
                return isBigEndian ? pair.reversed() : pair
            }
            let file = try ForeignFixture.read(try temporaryFile("file", bytes))
            XCTAssertEqual(file.format, .csv)
            guard case .measurement(.advertisement(let heard))? = file.entries.first else { return XCTFail() }
            XCTAssertEqual(heard.rssi, -60.5)
        }
    }

    func testARecordingAndACaptureAreReadAsBefore() throws {
        let walk = try ForeignFixture.walk()
        let path = try FixtureFolder("recordings/one-floor").file("scan.jsonl.gz")
        switch try ConvertibleFile(path: path, settings: ForeignRecordingSettings(), strictness: .strict) {
        case .foreign(let reader): XCTFail("read as \(reader.format)")
        case .recorded(let file):
            switch consume file {
            case .capture: XCTFail("read as a capture")
            case .recording(var reader):
                XCTAssertEqual(try reader.readAll().dropFirst().prefix(walk.count), walk[...])
            }
        }
    }
}

/// The rules of single formats.
final class ForeignContentTests: XCTestCase {
    private func read(
        _ text: String, as format: ForeignFormat, _ settings: ForeignRecordingSettings = ForeignRecordingSettings()
    ) -> [RecordingEntry] {
        let result = ForeignFixture.decode(Array(text.utf8), as: format, settings)
        XCTAssertEqual(result.problems, [])
        return result.entries
    }

    func testTheSizeOfANumberDeterminesTheUnitOfATime() throws {
        let nine = 1_767_225_609.25
        for (first, second) in [
            ("1767225600", "1767225609.25"), ("1767225600000", "1767225609250"),
            ("1767225600000000", "1767225609250000"),
            ("1767225600000000000", "1767225609250000000"), ("2026-01-01T00:00:00Z", "2026-01-01 01:00:09.25+01:00"),
        ] {
            let text = "time,mac,rssi\n\(first),C0:00:00:00:00:01,-60\n\(second),C0:00:00:00:00:01,-60\n"
            let entries = read(text, as: .csv)
            XCTAssertEqual(entries.map { $0.instant?.seconds }, [0, nine - 1_767_225_600], text)
        }
        let entries = read("time,mac,rssi\n12.5,C0:00:00:00:00:01,-60\n1.3e1,C0:00:00:00:00:01,-60\n", as: .csv)
        XCTAssertEqual(entries.map { $0.instant?.seconds }, [12.5, 13], "a time without a date stays as it is")
    }

    func testTheUnitInAHeaderDeterminesTheTimesOfItsColumn() throws {
        for (header, second) in [
            ("time_ms", "3000"), ("timestamp_us", "3000000"), ("time_ns", "3e9"), ("Time [µs]", "3000000"),
            ("timestamp (s)", "3"), ("timeMs", "3000.0"), ("seconds", "3"), ("times", "3"), ("timestamps", "3"),
        ] {
            let text = "\(header),mac,rssi\n0,C0:00:00:00:00:01,-60\n\(second),C0:00:00:00:00:01,-60\n"
            XCTAssertEqual(read(text, as: .csv).map { $0.instant?.seconds }, [0, 3], header)
        }
        // Times since 1970 in the unit of the header, and texts.
        for (first, second) in [
            ("1767225600000", "1767225603000"), ("2026-01-01T00:00:00Z", "2026-01-01T00:00:03Z"),
        ] {
            let text = "time_ms,mac,rssi\n\(first),C0:00:00:00:00:01,-60\n\(second),C0:00:00:00:00:01,-60\n"
            let path = try temporaryFile("walk.csv", Array(text.utf8))
            let file = try ForeignFixture.read(path)
            XCTAssertEqual(file.entries.map { $0.instant?.seconds }, [0, 3], first)
            XCTAssertEqual(file.start, 1_767_225_600_000_000)
        }
        var settings = ForeignRecordingSettings()
        settings.columns = [.time: "Zeit_ms"]
        let own = "Zeit_ms,mac,rssi\n0,C0:00:00:00:00:01,-60\n3000,C0:00:00:00:00:01,-60\n"
        XCTAssertEqual(read(own, as: .csv, settings).map { $0.instant?.seconds }, [0, 3], "a header that is named")
        settings.timeFormat = ForeignTimeFormat("seconds")
        XCTAssertEqual(read(own, as: .csv, settings).map { $0.instant?.seconds }, [0, 3000], "the option wins")
    }

    func testALateReadingKeepsItsTime() throws {
        let text = "time,mac,rssi\n5,C0:00:00:00:00:01,-60\n4.1,C0:00:00:00:00:02,-61\n3,C0:00:00:00:00:03,-62\n"
        XCTAssertEqual(read(text, as: .csv).map { $0.instant?.seconds }, [3, 4.1, 5], "a table is sorted")
        func line(_ time: Double) -> String { "{\"time\":\(time),\"address\":\"C0:00:00:00:00:01\",\"rssi\":-60}\n" }
        let late = line(5) + line(4.1) + line(7)
        XCTAssertEqual(read(late, as: .bleak).map { $0.instant?.seconds }, [4.1, 5, 7])
        var live = ForeignRecordingSettings()
        live.isLive = true
        XCTAssertEqual(read(late, as: .bleak, live).map { $0.instant?.seconds }, [5, 5, 7], "nothing waits in a pipe")
    }

    func testARoomIsWrittenWhereItChangesInTheOrderOfTime() throws {
        let text =
            "time,mac,rssi,room\n1,C0:00:00:00:00:01,-60,A\n3,C0:00:00:00:00:01,-60,A\n2,C0:00:00:00:00:01,-60,B\n"
        let rooms = read(text + "4,C0:00:00:00:00:01,-60,A\n", as: .csv).compactMap { entry in
            if case .truth(let truth) = entry { "\(truth.instant.seconds) \(truth.room ?? "")" } else { nil }
        }
        XCTAssertEqual(rooms, ["1.0 A", "2.0 B", "3.0 A"])
    }

    func testAColumnIsFoundByItsGivenHeader() throws {
        var settings = ForeignRecordingSettings()
        settings.columns = [.time: "Zeit", .rssi: "Pegel, gemittelt", .address: "Sender"]
        let text = "\"Pegel, gemittelt\",Zeit,Sender,RSSI\n-60,\"1\",c000-00,0\n"
        XCTAssertEqual(
            ForeignFixture.decode(Array(text.utf8), as: .csv, settings).problems.map(\.field), ["Sender"])
        let good = "\"Pegel, gemittelt\",Zeit,Sender,RSSI\n-60,\"1\",c00000000001,0\n"
        XCTAssertEqual(
            read(good, as: .csv, settings),
            [
                .measurement(
                    .advertisement(
                        Advertisement(
                            instant: Instant(seconds: 1), address: DeviceAddress(rawValue: 0xC000_0000_0001), rssi: -60,
                            data: [])))
            ])
        XCTAssertEqual(
            try failure("Pegel;Zeit;Sender\n", as: .csv, settings)?.hasPrefix(
                "file:1: field `Pegel, gemittelt` is missing: expected a column of this name in \"Pegel\", \"Zeit\", "),
            true)
    }

    func testAnIdentityAndAdvertisingDataAreReadFromCSV() throws {
        let uuid = "6c1d5b0e-3a47-4f0b-9c7e-0d5a1e2b3c4f"
        let entries = read(
            "t\tidentity\trssi\troom\tdata\tmac\n1\t\(uuid)/1/2\t-60\tHall\t\t\n2\t\(uuid)_1_3\t-61\tHall\t\t\n"
                + "3\t\t-62\tShop\t020106\tc0:00:00:00:00:01\n", as: .csv)
        XCTAssertEqual(entries.compactMap(ForeignFixture.sighting).map(\.beacon.minor), [2, 3])
        let truths = entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        XCTAssertEqual(truths.map(\.room), ["Hall", "Shop"])
        XCTAssertEqual(truths.map(\.isHold), [true, true])
        guard case .measurement(.advertisement(let heard))? = entries.last else { return XCTFail("no advertisement") }
        XCTAssertEqual(heard.data, [2, 1, 6])
    }

    func testLinesWithoutAHeaderHaveAGivenForm() throws {
        var settings = ForeignRecordingSettings()
        settings.line = LinePattern("{identity} = {rssi} {time}")
        let text = "3 = -72,5 2018-07-04 06:30:48\n4 = -88 2018-07-04 06:30:49\n"
        let entries = read(text, as: .csv, settings)
        XCTAssertEqual(entries.map { $0.instant?.seconds }, [0, 1])
        XCTAssertEqual(entries.compactMap(ForeignFixture.sighting).map(\.rssi), [-72.5, -88])
        XCTAssertEqual(Set(entries.compactMap(ForeignFixture.sighting).map(\.beacon)).count, 2)
        // The content determines the format.
        XCTAssertEqual(try ForeignFixture.read(temporaryFile("log", Array(text.utf8)), settings).format, .csv)
        XCTAssertEqual(
            try failure(text + "4: -70 2018-07-04 06:30:50\n", as: .csv, settings),
            "file:3: field `identity` is malformed: expected \" = \" behind it, as --line has it. Check that the format is "
                + "csv, or read leniently to skip such lines.")
        // The text before, between and behind columns, and one that isn't read.
        settings.line = LinePattern("<{_}> Node {identity}: {rssi} dBm")
        settings.spacing = .seconds(1)
        XCTAssertEqual(
            read("<7> Node A: -31 dBm\n<8> Node B: -44 dBm\n", as: .csv, settings)
                .compactMap(ForeignFixture.sighting).map(\.rssi), [-31, -44])
        XCTAssertEqual(
            try failure("7 Node A: -31 dBm\n", as: .csv, settings)?.prefix(61),
            "file:1: the line is malformed: expected \"<\" at its beginning,")
        XCTAssertNotNil(try failure("<7> Node A: -31\n", as: .csv, settings), "the text at the end is missing")
        for form in ["", "rssi", "{rssi}{time}", "{rssi} {rssi}", "{level}", "{rssi", "{_} {_}"] {
            XCTAssertNil(LinePattern(form), form)
        }
        settings.line = LinePattern("{time}")
        XCTAssertTrue(try failure("1\n", as: .csv, settings)?.contains("a column with the signal strength") == true)
    }

    func testAPowerOfTheTransmitterIsNoPowerAtOneMetre() throws {
        let uuid = "6c1d5b0e-3a47-4f0b-9c7e-0d5a1e2b3c4f"
        let entries = read("t,identity,rssi,Tx Power\n1,\(uuid)/1/2,-60,8\n2,\(uuid)/1/2,-60,-59\n", as: .csv)
        XCTAssertEqual(entries.compactMap(ForeignFixture.sighting).map(\.measuredPower), [nil, -59])
    }

    func testBeaconsOfEachKindAreReadFromAColumn() throws {
        let entries = read(
            "t,beacon,rssi\n1,edd1ebeac04e5defa017/0BDB87539B67,-60\n2,EDD1EBEAC04E5DEFA017-0bdb87539b67,-61\n"
                + "3,2F234454CF6D4A0FADF2F4911BA9FFA600010002,-62\n"
                + "4,2f234454-cf6d-4a0f-adf2-f4911ba9ffa6-1-2,-63\n", as: .csv)
        XCTAssertEqual(
            entries.compactMap(ForeignFixture.sighting).map(\.beacon.description),
            Array(repeating: "EDD1EBEA-C04E-5DEF-A017-0BDB87539B67/0/0", count: 2)
                + Array(repeating: "2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2", count: 2))
    }

    func testAMessageWithoutATimeGetsThatOfItsArrivalOrASpacing() throws {
        let line = "espresense/devices/aabbccddeeff/hall {\"mac\":\"aabbccddeeff\",\"rssi\":-60}\n"
        var settings = ForeignRecordingSettings()
        settings.arrival = { .seconds(1_767_225_600) }
        var decoder = ForeignDecoder(format: .mqtt, settings: settings)
        decoder.fill { $0 += Array(line.utf8) }
        guard case .entry(let entry) = try decoder.next() else { return XCTFail("no entry") }
        XCTAssertEqual(entry.instant, .zero)
        XCTAssertEqual(decoder.start, 1_767_225_600_000_000_000)
        settings.arrival = nil
        settings.spacing = .milliseconds(1500)
        XCTAssertEqual(read(line + line, as: .mqtt, settings).map { $0.instant?.seconds }, [0, 1.5])
    }

    func testValuesInTopicsOfTheirOwnBecomeReadings() throws {
        func lines(_ second: Int, _ gateway: String, _ address: String, _ values: [(String, String)]) -> String {
            values.map { "\(1_767_225_600 + second) \(gateway)/\(address)/\($0) \($1)\n" }.joined()
        }
        let (a, b) = ("c0:00:00:00:00:01", "c0:00:00:00:00:02")
        let instance = [("Namespace", "00010203040506070809"), ("Instance", "0a0b0c0d0e0f")]
        // The log begins within an advertisement. A sensor has no identity, and an advertisement may lack its end.
        let text =
            lines(0, "G", a, [("Major", "1"), ("Minor", "2")])
            + lines(0, "G", a, [("Type", "Eddystone"), ("RSSI", "-60"), ("Distance", "1.00")] + instance)
            + lines(1, "G", b, [("Type", "Xiaomi Mijia Sensor"), ("RSSI", "-61"), ("Temperature", "21")])
            + lines(
                2, "G", a, [("Type", "iBeacon"), ("RSSI", "-62"), ("UUID", "6c1d5b0e-3a47-4f0b-9c7e-0d5a1e2b3c4f")])
            + lines(3, "G", b, [("Type", "iBeacon"), ("RSSI", "-63")])
        let entries = read(text, as: .mqtt)
        let found = entries.compactMap { entry -> (Double, Double, Bool)? in
            guard case .measurement(let reading) = entry else { return nil }
            return switch reading {
            case .sighting(let sighting): (sighting.instant.seconds, sighting.rssi, true)
            case .advertisement(let heard): (heard.instant.seconds, heard.rssi, false)
            default: nil
            }
        }
        XCTAssertEqual(found.map(\.0), [0, 1, 2, 3])
        XCTAssertEqual(found.map(\.1), [-60, -61, -62, -63])
        XCTAssertEqual(found.map(\.2), [true, false, false, false])
        XCTAssertEqual(
            entries.first.flatMap(ForeignFixture.sighting)?.beacon,
            BeaconIdentity(eddystoneNamespace: "00010203040506070809", instance: "0a0b0c0d0e0f"))
        XCTAssertEqual(
            try failure(lines(0, "G", a, [("Type", "iBeacon"), ("RSSI", "loud")]), as: .mqtt),
            "file:2: field `RSSI` is \"loud\"; expected a number of dBm. Correct the value, or read leniently to skip "
                + "such lines.")
        // Two gateways that hear one tag.
        var settings = ForeignRecordingSettings()
        settings.tag = a.uppercased()
        let both = lines(0, "G", a, [("Type", "iBeacon"), ("RSSI", "-60")]) + lines(0, "H", a, [("RSSI", "-70")])
        XCTAssertEqual(read(both, as: .mqtt, settings).count, 2)
    }

    func testALocalTimeOfAnyFormatHasTheZoneThatIsGiven() throws {
        var settings = ForeignRecordingSettings()
        settings.zoneOffset = { _ in 3600 }
        for (text, format) in [
            ("time,mac,rssi\n2026-01-01T01:00:00,C0:00:00:00:00:01,-60\n", ForeignFormat.csv),
            ("{\"time\":\"2026-01-01 01:00:00\",\"address\":\"C0:00:00:00:00:01\",\"rssi\":-60}\n", .bleak),
            ("2026-01-01T01:00:00 espresense/devices/a/hall {\"mac\":\"c00000000001\",\"rssi\":-60}\n", .mqtt),
            (
                "tele/x/SENSOR {\"Time\":\"2026-01-01T01:00:00\",\"BLEDevices\":{\"total\":1,"
                    + "\"C00000000001\":{\"r\":-60}}}\n", .mqtt
            ),
            ("2026-01-01T02:00:00+0200 espresense/devices/a/hall {\"mac\":\"c00000000001\",\"rssi\":-60}\n", .mqtt),
        ] {
            var decoder = ForeignDecoder(format: format, settings: settings)
            var rest = Array(text.utf8)
            while case .needsMore = try decoder.next() {
                decoder.fill { bytes in
                    bytes += rest
                    rest = []
                }
            }
            XCTAssertEqual(decoder.start, 1_767_225_600_000_000_000, text)
        }
    }

    func testTheTableOfSensorLoggerKeepsItsAdvertisements() throws {
        let frame = "4c0002156c1d5b0e3a474f0b9c7e0d5a1e2b3c4f00010002c5"
        let text =
            "time,seconds_elapsed,rssi,id,txPowerLevel,manufacturerData\n"
            + "1690316310897000000,0.906,-79,02:00:00:00:00:01,,9904\n"
            + "1690316310997000000,1.006,-60,02:00:00:00:00:02,12,\(frame)\n"
            + "1690316311097000000,1.106,-61,02:00:00:00:00:03,,\n"
        let heard = read(text, as: .csv).compactMap { entry -> Advertisement? in
            if case .measurement(.advertisement(let heard)) = entry { heard } else { nil }
        }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: frame.count, by: 2) {
            bytes.append(try XCTUnwrap(UInt8(frame.dropFirst(place).prefix(2), radix: 16)))
        }
        XCTAssertEqual(heard.map(\.instant.seconds), [0, 0.1, 0.2])
        XCTAssertEqual(heard.map(\.data), [[3, 0xFF, 0x99, 4], [26, 0xFF] + bytes, []])
        XCTAssertEqual(heard.map(\.address.rawValue), [0x0200_0000_0001, 0x0200_0000_0002, 0x0200_0000_0003])
        // iOS has identifiers of its own in place of addresses, so only beacons are read.
        let phone = text.replacingOccurrences(of: "02:00:00:00:00:", with: "7A3F0B9C-1C5D-4C4E-9B1A-0000000000")
        let found = read(phone, as: .csv)
        XCTAssertEqual(found.compactMap(ForeignFixture.sighting).map(\.beacon.minor), [2])
        XCTAssertEqual(found.count, 1)
        // Newer versions have the whole advertisement.
        let whole = "time,rssi,id,manufacturerData,advertisement\n1,-60,02:00:00:00:00:01,9904,02010603ff9904\n"
        guard case .measurement(.advertisement(let newer))? = read(whole, as: .csv).first else { return XCTFail() }
        XCTAssertEqual(newer.data, [2, 1, 6, 3, 0xFF, 0x99, 4])
        XCTAssertEqual(
            try failure("time,rssi,id,manufacturerData\n1,-60,02:00:00:00:00:01,9x\n", as: .csv),
            "file:2: field `manufacturerData` is \"9x\"; expected pairs of hexadecimal digits. Correct the value, or "
                + "read leniently to skip such lines.")
    }

    func testAReceiverIsSelectedAmongSeveral() throws {
        let lines = ["hall", "shop", "hall"].enumerated().map { index, name in
            "\(1_767_225_600 + index) espresense/devices/aabbccddeeff/\(name) {\"mac\":\"aabbccddeeff\",\"rssi\":-6\(index)}\n"
        }.joined()
        var settings = ForeignRecordingSettings()
        settings.receiver = "hall"
        XCTAssertEqual(read(lines, as: .mqtt, settings).map { $0.instant?.seconds }, [0, 2])
        settings.receiver = nil
        settings.tag = "AA:BB:CC:DD:EE:FF"
        XCTAssertEqual(Set(read(lines, as: .mqtt, settings).compactMap(ForeignFixture.sighting).map(\.beacon)).count, 2)
    }

    func testValuesOfSensorsAtTheSameTimeBecomeOneSample() throws {
        let text =
            "ACCE;1;1;1;2;3;3\nGYRO;1.005;1;4;5;6;3\nMAGN;1.006;1;7;8;9;3\nACCE;1.02;1;1;2;3;3\nMAGN;1.5;1;7;8;9;3\n"
        let samples = read(text, as: .getSensorData).compactMap {
            if case .measurement(.motion(let sample)) = $0 { sample } else { nil }
        }
        XCTAssertEqual(samples.count, 3)
        XCTAssertEqual(
            samples.first,
            MotionSample(
                instant: Instant(seconds: 1), acceleration: Vector3(x: 1, y: 2, z: 3),
                rotationRate: Vector3(x: 4, y: 5, z: 6), magneticField: Vector3(x: 7, y: 8, z: 9)))
        XCTAssertNil(samples[1].magneticField)
        XCTAssertNil(samples[2].acceleration)
    }

    func testAnExtendedAdvertisementIsReadFromTheLinkLayer() throws {
        // AUX_ADV_IND with an address (flag 0), an ADI (flag 3) and two structures.
        let pdu: [UInt8] = [0x47, 16, 9, 0b1001, 1, 2, 3, 4, 5, 0xC6, 0x34, 0x12, 2, 1, 6, 2, 9, 0x41]
        let packet = [20, 0xC4, 0x80, 0, 0, 0, 0, 0, 0x03, 0x0C] + [0xD6, 0xBE, 0x89, 0x8E] + pdu + [0, 0, 0]
        let result = ForeignFixture.decode(capture(linkType: 256, [packet]), as: .pcap)
        XCTAssertEqual(result.problems, [])
        guard case .measurement(.advertisement(let heard))? = result.entries.first else {
            return XCTFail("no advertisement")
        }
        XCTAssertEqual(heard.address, DeviceAddress(rawValue: 0xC605_0403_0201, kind: .random))
        XCTAssertEqual(heard.data, [2, 1, 6, 2, 9, 0x41])
        XCTAssertEqual(heard.rssi, -60)
    }

    func testPacketsOfConnectionsAndDamagedOnesAreLeftOut() throws {
        let pdu: [UInt8] = [2, 6, 1, 2, 3, 4, 5, 6]
        let head: [UInt8] = [37, 0xC4, 0x80, 0, 0, 0, 0, 0]
        let access: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
        var decoder = ForeignDecoder(format: .pcap, settings: ForeignRecordingSettings())
        let parts: [(flags: [UInt8], access: [UInt8], pdu: [UInt8])] = [
            ([0x03, 0x04], access, pdu), ([0x02, 0x0C], access, pdu), ([0x03, 0x0C], [1, 2, 3, 4], pdu),
            ([0x03, 0x0C], access, [3, 0]),
        ]
        let packets = parts.map { head + $0.flags + $0.access + $0.pdu }
        decoder.fill { $0 += capture(linkType: 256, packets) }
        XCTAssertEqual(try decoder.next(), .needsMore)
        XCTAssertEqual(
            decoder.ignored,
            ["packets with a wrong checksum": 1, "whitened packets": 1, "packets of connections": 1, "requests": 1])
    }

    func testAPacketThatTheSnifferHasNotCheckedNeedsItsChecksum() throws {
        let head: [UInt8] = [37, 0xC4, 0x80, 0, 0, 0, 0, 0, 3, 0, 0xD6, 0xBE, 0x89, 0x8E]
        let pdu: [UInt8] = [2, 6, 1, 2, 3, 4, 5, 6]
        let valid: [UInt8] = [127, 197, 208]
        let wrong: [UInt8] = [126, 197, 208]
        let other: [UInt8] = [2, 6, 9, 2, 3, 4, 5, 6]
        let long: [UInt8] = [2, 200, 1, 2, 3, 4, 5, 6]
        // The last ones have no checksum, a wrong length, and no payload.
        let contents: [[UInt8]] = [pdu + valid, pdu + wrong, other + valid, pdu, long + valid, [2]]
        let packets: [[UInt8]] = contents.map { head + $0 }
        let path = try temporaryFile("noise.pcap", capture(linkType: 256, packets))
        let file = try ForeignFixture.read(path)
        XCTAssertEqual(file.entries.count, 2)
        XCTAssertEqual(file.tally.ignored, ["packets with a wrong checksum": 2, "damaged packets": 2])
    }

    func testTheMonitorOfLinuxIsReadFromPcap() throws {
        let data: [UInt8] = [2, 1, 6]
        let report: [UInt8] = [2, 1, 3, 1, 1, 2, 3, 4, 5, 0xC6, 3] + data + [0xC4]
        let event: [UInt8] = [0, 1, 0, 3, 0x3E, UInt8(report.count)] + report
        let result = ForeignFixture.decode(capture(linkType: 254, [[0, 1, 0, 2, 3, 0x0C, 0], event]), as: .pcap)
        XCTAssertEqual(result.problems, [])
        XCTAssertEqual(result.entries.count, 1)
    }

    func testTimesOfPcapngHaveTheirResolutionAndOffset() {
        XCTAssertEqual(PacketTime(resolution: 6, offset: 1).nanoseconds(2_500_000), 3_500_000_000)
        XCTAssertEqual(PacketTime(resolution: 12, offset: 0).nanoseconds(2_500_000_000_000), 2_500_000_000)
        XCTAssertEqual(PacketTime(resolution: 0x80 | 10, offset: 0).nanoseconds(1536), 1_500_000_000)
        XCTAssertEqual(PacketTime(resolution: 0x80, offset: 0).nanoseconds(3), 3_000_000_000)
        XCTAssertNil(PacketTime(resolution: 0, offset: 0).nanoseconds(.max))
        XCTAssertNil(PacketTime(resolution: 6, offset: .max).nanoseconds(0))
    }

    func testASourceEmitsTheSightingBehindItsAdvertisementAndNoTruth() async throws {
        let source = ForeignRecordingSource(path: try ForeignFixture.path("link-layer.pcap"), format: .pcap)
        XCTAssertNil(source.wallClock)
        var readings: [SensorReading] = []
        for try await reading in source.readings() { readings.append(reading) }
        XCTAssertEqual(readings.count, 2 * (try ForeignFixture.sightings().count))
        guard case .advertisement(let heard) = readings[0], case .sighting(let sighting) = readings[1] else {
            return XCTFail("\(readings.prefix(2))")
        }
        XCTAssertEqual(heard.instant, sighting.instant)
        XCTAssertEqual(source.wallClock?.timeOfZero, .microseconds(ForeignFixture.start + 2000))
        let walk = ForeignRecordingSource(path: try ForeignFixture.path("walk.csv"), format: .csv)
        var count = 0
        for try await _ in walk.readings() { count += 1 }
        XCTAssertEqual(count, try ForeignFixture.sightings().count)
    }

    /// A pcap file of packets, all at one second.
    private func capture(linkType: Int, _ packets: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
        bytes += [UInt8(linkType & 0xFF), UInt8(linkType >> 8), 0, 0]
        for packet in packets {
            let length = UInt8(packet.count)
            bytes += [0, 0, 0, 0x60, 0, 0, 0, 0, length, 0, 0, 0, length, 0, 0, 0] + packet
        }
        return bytes
    }
}

/// Each sample contains the same walk, so that its readings are known.
final class ForeignSampleTests: XCTestCase {
    /// Asserts that a sample contains the beacons of the walk.
    ///
    /// - Parameter precision: the resolution of the times in the sample.
    private func assertWalk(
        _ name: String, _ format: ForeignFormat, isUnix: Bool = true, precision: Double = 0.002, power: Double? = -59,
        line: UInt = #line
    ) throws {
        let file = try ForeignFixture.read(ForeignFixture.path(name))
        XCTAssertEqual(file.format, format, line: line)
        // The samples may contain frames of further transmitters at their end.
        let found = file.entries.compactMap(ForeignFixture.sighting).filter { $0.beacon.uuid.high >> 32 == 0x6C1D_5B0E }
        let walk = try ForeignFixture.sightings()
        XCTAssertEqual(found.map(\.beacon), walk.map(\.beacon), line: line)
        XCTAssertEqual(found.map(\.rssi), walk.map(\.rssi), line: line)
        XCTAssertEqual(Set(found.map(\.measuredPower)), [power], line: line)
        // The first reading of the walk is at its time 0.002 s, or 0 s with the motion before it.
        let shift = isUnix ? Double((file.start ?? 0) - ForeignFixture.start) / 1e6 : 0
        for (one, other) in zip(found, walk) {
            XCTAssertEqual(one.instant.seconds + shift, other.instant.seconds, accuracy: precision, line: line)
        }
        XCTAssertEqual(file.start != nil, isUnix, line: line)
        XCTAssertEqual(file.tally.entries, file.entries.count, line: line)
        XCTAssertEqual(file.tally.droppedNotMeasurements, 0, line: line)
    }

    func testACSVFileContainsTheWalkWithItsTruth() throws {
        try assertWalk("walk.csv", .csv, power: nil)
        let file = try ForeignFixture.read(ForeignFixture.path("walk.csv"))
        let truths = file.entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        XCTAssertGreaterThan(truths.count, 100)
        XCTAssertEqual(truths.first?.point, MapPoint(x: 2.002, y: 10))
        XCTAssertEqual(Set(truths.map(\.mapID)), [1])
        XCTAssertFalse(truths.contains(where: \.isHold))
    }

    func testPacketsOfSniffersAndOfHCIContainTheWalk() throws {
        try assertWalk("hci.pcap", .pcap)
        try assertWalk("link-layer.pcap", .pcap)
        try assertWalk("nordic.pcapng", .pcap)
        let file = try ForeignFixture.read(ForeignFixture.path("link-layer.pcap"))
        guard case .measurement(.advertisement(let heard))? = file.entries.first else {
            return XCTFail("no advertisement")
        }
        XCTAssertEqual(heard.address, DeviceAddress(rawValue: 0xC000_0000_0110, kind: .random))
        XCTAssertEqual(heard.data.prefix(5), [2, 1, 6, 26, 0xFF])
    }

    func testKismetsEventsContainTheWalkToTheSecond() throws {
        try assertWalk("kismet.jsonl.gz", .kismet, precision: 1.01)
    }

    func testALogOfKismetContainsTheWalkAndReports() throws {
        let file = try ForeignFixture.read(ForeignFixture.path("walk.kismet"))
        XCTAssertEqual(file.format, .kismetDatabase)
        let walk = try ForeignFixture.sightings()
        let shift = try XCTUnwrap(file.start.map { Double($0 - ForeignFixture.start) / 1e6 })
        let found = file.entries.compactMap(ForeignFixture.sighting)
        // A report of an app at 2.5 s, and a packet with a header at 6 s, are added to the walk.
        let report = try XCTUnwrap(found.first { abs($0.instant.seconds + shift - 2.5) < 1e-9 && $0.rssi == -66 })
        XCTAssertEqual(report.beacon, walk.first?.beacon)
        let own = found.filter { $0 != report && $0.instant.seconds + shift < 6 }
        XCTAssertEqual(own.map(\.beacon), walk.map(\.beacon))
        XCTAssertEqual(own.map(\.rssi), walk.map(\.rssi))
        for (one, other) in zip(own, walk) {
            XCTAssertEqual(one.instant.seconds + shift, other.instant.seconds, accuracy: 1e-6)
        }
        XCTAssertEqual(found.last?.rssi, -61, "the header has the strength")
        XCTAssertEqual(found.count, walk.count + 2)
        let heard = file.entries.compactMap { entry -> Advertisement? in
            if case .measurement(.advertisement(let heard)) = entry, heard.data.isEmpty { heard } else { nil }
        }
        XCTAssertEqual(heard.map(\.address), [DeviceAddress(rawValue: 0xC000_0000_00FB, kind: .random)])
        XCTAssertEqual(heard.map(\.rssi), [-72])
        XCTAssertEqual(
            file.tally.ignored,
            ["packets of IEEE802.11": 1, "packets with a wrong checksum": 1, "devices of BR/EDR": 1])
    }

    func testACompressedLogOfKismetWithoutPacketsHasItsDevices() throws {
        let file = try ForeignFixture.read(ForeignFixture.path("devices.kismet.gz"))
        XCTAssertEqual(file.format, .kismetDatabase)
        let walk = try ForeignFixture.sightings()
        let found = file.entries.compactMap(ForeignFixture.sighting)
        XCTAssertEqual(Set(found.map(\.beacon)), Set(walk.map(\.beacon)))
        XCTAssertEqual(found.map(\.instant), found.map(\.instant).sorted())
        XCTAssertEqual(file.tally.ignored, ["packets of IEEE802.11": 1, "devices of IEEE802.11": 1])
    }

    func testABugReportContainsTheWalkInBothVersions() throws {
        try assertWalk("bugreport.txt", .btsnooz)
        let file = try ForeignFixture.read(ForeignFixture.path("bugreport.txt"))
        XCTAssertEqual(file.tally.ignored, ["packets of other kinds": 1])
    }

    func testALogOfAValueATopicContainsTheWalk() throws { try assertWalk("ble2mqtt.log.gz", .mqtt, power: nil) }

    func testADeviceListOfKismetIsSortedByTime() throws {
        let file = try ForeignFixture.read(ForeignFixture.path("kismet.json"))
        XCTAssertEqual(file.format, .kismet)
        let walk = try ForeignFixture.sightings()
        XCTAssertEqual(
            Set(file.entries.compactMap(ForeignFixture.sighting).map(\.beacon)), Set(walk.map(\.beacon)))
        let instants = file.entries.compactMap(\.instant)
        XCTAssertEqual(instants, instants.sorted())
        XCTAssertEqual(file.tally.ignored, ["devices of IEEE802.11": 1])
    }

    func testALogOfAGatewayContainsTheWalk() throws { try assertWalk("theengs.log", .mqtt) }

    func testALogOfNodesBecomesTheRecordingOfATag() throws {
        var settings = ForeignRecordingSettings()
        settings.tag = "phone:walker"
        settings.spacing = .milliseconds(20)
        let file = try ForeignFixture.read(ForeignFixture.path("espresense.log"), settings)
        XCTAssertEqual(file.format, .mqtt)
        let found = file.entries.compactMap(ForeignFixture.sighting)
        let walk = try ForeignFixture.sightings()
        XCTAssertEqual(found.map(\.rssi), walk.map(\.rssi))
        XCTAssertEqual(Set(found.map(\.beacon)).count, Set(walk.map(\.beacon)).count, "a beacon for each node")
        XCTAssertEqual(found.first?.beacon, VenueReceiver.identity(for: "node_1_16"))
        XCTAssertEqual(found.map(\.instant), found.indices.map { Instant(seconds: Double($0) * 0.02) })
    }

    func testALogOfGetSensorDataContainsTheWalkWithItsSensors() throws {
        try assertWalk("getsensordata.txt.gz", .getSensorData, isUnix: false)
        var settings = ForeignFixture.settings
        settings.place = { coordinate, floor in
            XCTAssertEqual(floor, 0)
            return (1, MapPoint(x: coordinate.latitude, y: coordinate.longitude))
        }
        let file = try ForeignFixture.read(ForeignFixture.path("getsensordata.txt.gz"), settings)
        try assertMotion(file.entries)
        let pressures = file.entries.count { if case .measurement(.pressure) = $0 { true } else { false } }
        XCTAssertEqual(
            pressures, try ForeignFixture.walk().count { if case .measurement(.pressure) = $0 { true } else { false } })
        XCTAssertEqual(file.tally.ignored, ["WIFI lines": 1])
        let truth = file.entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }.first
        XCTAssertEqual(truth?.point?.x ?? 0, 50.110956205, accuracy: 1e-9)
        guard case .measurement(.gnss(let fix))? = file.entries.last else { return XCTFail("no satellite position") }
        XCTAssertEqual(
            fix,
            GNSSFix(
                instant: Instant(seconds: 6), coordinate: Coordinate(latitude: 52.5, longitude: 13.25), accuracy: 8,
                altitude: 40, speed: 1.2, course: 0))
        // An Eddystone line has no namespace, so that only the address identifies it.
        let plates = file.entries.compactMap {
            if case .measurement(.advertisement(let heard)) = $0 { heard } else { nil }
        }
        XCTAssertEqual(plates.map(\.address), [DeviceAddress(rawValue: 0xC000_0000_00FF)])
    }

    func testATraceOfTheCompetitionContainsTheWalkWithItsWaypoints() throws {
        try assertWalk("indoor-location.txt.gz", .indoorLocation)
        let file = try ForeignFixture.read(ForeignFixture.path("indoor-location.txt.gz"))
        try assertMotion(file.entries)
        XCTAssertEqual(file.tally.ignored, ["TYPE_WIFI lines": 1])
        let truths = file.entries.compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        let walk = try ForeignFixture.walk().compactMap { if case .truth(let truth) = $0 { truth } else { nil } }
        XCTAssertEqual(truths.compactMap(\.point?.x), walk.compactMap(\.point?.x))
        for (one, other) in zip(truths, walk) {
            XCTAssertEqual(one.point?.y ?? 0, other.point?.y ?? 0, accuracy: 0.001, "y counts up in the trace")
        }
        let without = try ForeignFixture.read(
            ForeignFixture.path("indoor-location.txt.gz"), ForeignRecordingSettings())
        XCTAssertEqual(
            without.tally.ignored["TYPE_WAYPOINT lines, which need --map with the height of the map"], walk.count)
    }

    func testObjectsOfBleakContainTheWalkAndFramesOfOtherKinds() throws {
        try assertWalk("bleak.jsonl", .bleak)
        let file = try ForeignFixture.read(ForeignFixture.path("bleak.jsonl"))
        let last = file.entries.suffix(2).compactMap(ForeignFixture.sighting)
        XCTAssertEqual(
            last.map(\.beacon.uuid.description),
            [
                "00010203-0405-0607-0809-0A0B0C0D0E0F", "7C2F0A10-0000-4000-8000-000000000003",
            ])
        XCTAssertEqual(
            last.map(\.address),
            [
                DeviceAddress(rawValue: 0xC000_0000_00FE), DeviceAddress(rawValue: 0xC000_0000_00FD),
            ])
    }

    func testAFileInSmallPiecesGivesTheSameEntries() throws {
        for (name, format) in [
            ("walk.csv", ForeignFormat.csv), ("hci.pcap", .pcap), ("nordic.pcapng", .pcap), ("kismet.json", .kismet),
            ("theengs.log", .mqtt), ("bleak.jsonl", .bleak),
        ] {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: ForeignFixture.path(name))))
            let whole = ForeignFixture.decode(bytes, as: format)
            XCTAssertEqual(whole.problems, [], name)
            XCTAssertGreaterThan(whole.entries.count, 10, name)
            for pieces in [1, 7, 1000] {
                XCTAssertTrue(
                    ForeignFixture.decode(bytes, as: format, pieces: pieces).entries == whole.entries,
                    "\(name) in pieces of \(pieces) bytes")
            }
        }
    }

    private func assertMotion(_ entries: [RecordingEntry], line: UInt = #line) throws {
        let found = entries.compactMap { if case .measurement(.motion(let sample)) = $0 { sample } else { nil } }
        let walk = try ForeignFixture.walk().compactMap {
            if case .measurement(.motion(let sample)) = $0 { sample } else { nil }
        }
        XCTAssertEqual(found.map(\.acceleration), walk.map(\.acceleration), line: line)
        XCTAssertEqual(found.map(\.rotationRate), walk.map(\.rotationRate), line: line)
    }
}
