import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

/// Short files as other programs really write them.
final class ForeignCaseTests: XCTestCase {
    /// Reads a file, detecting its format; returns a line of text for each entry, and the tally.
    private func read(
        _ name: String, _ settings: ForeignRecordingSettings = ForeignRecordingSettings()
    ) throws -> (lines: [String], tally: ForeignRecordingReader.Tally, start: String?) {
        let file = try ForeignFixture.read(try ForeignFixture.path("cases/" + name), settings)
        let lines = try file.entries.map { entry in
            String(decoding: try RecordEncoder.line(for: entry), as: UTF8.self).trimmingCharacters(in: .newlines)
        }
        return (lines, file.tally, file.start.map(RecordingStart.text))
    }

    private func advertisement(_ time: String, _ address: String, _ rssi: Int, _ data: String = "") -> String {
        #"{"t":\#(time),"type":"advertisement","address":"\#(address)","rssi":\#(rssi),"data":"\#(data)"}"#
    }

    func testAWaypointThatWasWrittenLateHasItsOwnTime() throws {
        var settings = ForeignRecordingSettings()
        (settings.map, settings.mapHeight) = (7, 400)
        let file = try read("indoor_location_late_waypoint.txt", settings)
        XCTAssertEqual(file.start, "2019-11-20T08:56:44.200Z")
        let truth = try XCTUnwrap(file.lines.first { $0.contains("truth") })
        XCTAssertTrue(truth.hasPrefix(#"{"t":17.29,"type":"truth""#), truth)
        XCTAssertEqual(file.lines.count, 4)
        XCTAssertEqual(file.tally.lateEntries, 0)
    }

    func testAWaypointBehindSeveralSamplesHasItsOwnTime() throws {
        func trace(waypoint: Int) -> [UInt8] {
            let samples = (0...15).map { "\(1_574_240_204_000 + $0 * 1000)\tTYPE_ACCELEROMETER\t0.1\t0.2\t9.8\t2" }
            let late = "\(1_574_240_204_000 + waypoint)\tTYPE_WAYPOINT\t3\t4"
            return Array(
                (samples + [late, "1574240219500\tTYPE_ACCELEROMETER\t0.1\t0.2\t9.8\t2\n"])
                    .joined(separator: "\n").utf8)
        }
        // The sample before the waypoint was taken at 15 s.
        let (entries, problems) = ForeignFixture.decode(trace(waypoint: 8100), as: .indoorLocation)
        XCTAssertEqual(problems.map { "\($0)" }, [])
        let instants = entries.compactMap(\.instant)
        XCTAssertEqual(instants, instants.sorted())
        let truths = entries.compactMap { entry in if case .truth(let truth) = entry { truth } else { nil } }
        XCTAssertEqual(truths.map(\.instant), [Instant(seconds: 8.1)])
        // Later than 10 s, it is an error.
        XCTAssertEqual(ForeignFixture.decode(trace(waypoint: 100), as: .indoorLocation).problems.count, 1)
    }

    func testARetainedMessageBeforeTheOthersIsNoReading() throws {
        var settings = ForeignRecordingSettings()
        settings.spacing = .seconds(1)
        XCTAssertEqual(
            try read("mqtt_retained_first.log", settings).lines, [advertisement("0", "C4:7C:8D:00:00:01", -82)])
    }

    func testManufacturerDataAsTextLeaveAddressAndStrength() throws {
        var settings = ForeignRecordingSettings()
        settings.spacing = .seconds(1)
        XCTAssertEqual(
            try read("mqtt_omg_text_manufacturerdata.log", settings).lines,
            [advertisement("0", "C4:7C:8D:00:00:01", -82)])
    }

    func testAShellysAdvertisementIsKept() throws {
        let file = try read("mqtt_shelly_data_lost.log")
        XCTAssertEqual(
            file.lines, [advertisement("0", "02:F0:9E:00:00:3E", -56, "02010610FFA90B0105000B04200A3C3F889EF0C8")])
        XCTAssertEqual(file.start, "2024-05-03T20:00:10.222Z")
    }

    func testATableWithSemicolonsIsNoLogOfGetSensorData() throws {
        XCTAssertEqual(try read("csv_TIME_semicolon.csv").lines, [advertisement("0", "AA:BB:CC:DD:EE:01", -70)])
    }

    func testTheColumnOfAddressesIsFoundAndATableIsSorted() throws {
        XCTAssertThrowsError(try read("csv_unknown_headers_and_unsorted.csv")) { error in
            XCTAssertTrue("\(error)".contains("a table whose columns are unknown: \"name\", "), "\(error)")
        }
        var settings = ForeignRecordingSettings()
        settings.columns = [.rssi: "rssiOne"]
        XCTAssertEqual(
            try read("csv_unknown_headers_and_unsorted.csv", settings).lines,
            [
                advertisement("0", "FF:FF:C0:00:00:1A", -88), advertisement("0.033", "FF:FF:C0:00:00:31", -90),
                advertisement("1.567", "FF:FF:C0:00:00:BA", -93),
            ])
    }

    func testTimesInOtherFormsAreRead() throws {
        XCTAssertThrowsError(try read("csv_us_date.csv")) { error in
            XCTAssertTrue("\(error)".contains("give any other form with --time-format"), "\(error)")
        }
        for form in ["us", "%m-%d-%Y %H:%M:%S", "%D %T"] {
            var settings = ForeignRecordingSettings()
            settings.timeFormat = try XCTUnwrap(ForeignTimeFormat(form), form)
            guard form != "%D %T" else {
                XCTAssertThrowsError(try read("csv_us_date.csv", settings), "a year of two digits")
                continue
            }
            let file = try read("csv_us_date.csv", settings)
            XCTAssertEqual(file.start, "2016-10-18T11:15:21.000Z", form)
            settings.zoneOffset = { _ in 7200 }
            XCTAssertEqual(try read("csv_us_date.csv", settings).start, "2016-10-18T09:15:21.000Z", form)
        }
        XCTAssertEqual(try read("csv_ctime.csv").start, "2023-03-24T14:13:33.000Z")
    }

    func testTheOnlyBeaconOfAFileIsGiven() throws {
        var settings = ForeignRecordingSettings()
        settings.columns = [.rssi: "Rx Power [dBm]"]
        settings.beacon = "aa:bb:cc:dd:ee:01"
        XCTAssertEqual(
            try read("csv_single_beacon.csv", settings).lines, [advertisement("0", "AA:BB:CC:DD:EE:01", -79)])
    }

    func testNumberedBeaconsHaveTheIdentitiesOfATable() throws {
        let uuid = "6c1d5b0e-3a47-4f0b-9c7e-0d5a1e2b3c4f"
        let text = "beacon;uuid;major;minor;mac\n3;\(uuid);1;3;\n19;;;;C0:00:00:00:00:19\n"
        var settings = ForeignRecordingSettings()
        settings.beacons = try ForeignBeacon.table("beacons.csv", bytes: Array(text.utf8))
        let file = try read("csv_numbered_beacons.csv", settings)
        XCTAssertEqual(file.lines.count, 2)
        XCTAssertTrue(file.lines[0].contains(#""minor":3,"#), file.lines[0])
        XCTAssertEqual(file.lines[1], advertisement("0.022", "C0:00:00:00:00:19", -92))
        XCTAssertEqual(file.tally.standIns, [])
        XCTAssertEqual(try read("csv_numbered_beacons.csv").tally.standIns, ["3", "19"])
        XCTAssertThrowsError(try ForeignBeacon.table("b.csv", bytes: Array("name,mac\n1,x\n".utf8))) { error in
            XCTAssertTrue("\(error)".hasPrefix("b.csv:2: field `mac` is \"x\""), "\(error)")
        }
    }

    func testATableHasAColumnOfEachBeacon() throws {
        var settings = ForeignRecordingSettings()
        settings.timeFormat = ForeignTimeFormat("us")
        settings.beacons = ["b3001": ForeignBeacon(address: DeviceAddress(rawValue: 0xC000_0000_0001))]
        XCTAssertThrowsError(try read("csv_wide.csv", settings), "b3002 is not in the table") { error in
            XCTAssertTrue("\(error)".contains("a name in the table of --beacons"), "\(error)")
        }
        settings.beacons["b3002"] = ForeignBeacon(address: DeviceAddress(rawValue: 0xC000_0000_0002))
        settings.beaconColumns = ["b3002"]
        let file = try read("csv_wide.csv", settings)
        XCTAssertEqual(file.lines.count, 2)
        XCTAssertTrue(file.lines[0].contains(#""room":"O02""#), file.lines[0])
        XCTAssertEqual(file.lines[1], advertisement("0", "C0:00:00:00:00:02", -78))
        settings.notHeard = [-78]
        XCTAssertEqual(try read("csv_wide.csv", settings).lines.count, 1)
        var named = ForeignRecordingSettings()
        named.timeFormat = ForeignTimeFormat("us")
        XCTAssertEqual(try read("csv_wide.csv", named).tally.standIns, ["b3002"])
    }

    func testRowsWithoutATimeAreStays() throws {
        var settings = ForeignRecordingSettings()
        (settings.spacing, settings.map) = (.seconds(2), 1)
        let text = "x;y;b1;b2\n1,5;2;-70,5;100\n3;4;-100;-60\n"
        let result = ForeignFixture.decode(Array(text.utf8), as: .csv, settings)
        XCTAssertEqual(result.problems, [])
        XCTAssertEqual(result.entries.map { $0.instant?.seconds }, [0, 0, 2, 2])
        guard case .truth(let truth)? = result.entries.first else { return XCTFail() }
        XCTAssertTrue(truth.isHold)
        XCTAssertEqual(truth.point, MapPoint(x: 1.5, y: 2))
    }

    func testAScanOfBleakMayHaveAType() throws {
        XCTAssertEqual(try read("bleak_with_type.jsonl").lines, [advertisement("0", "AA:BB:CC:DD:EE:01", -70)])
    }

    func testSensorLoggerWritesNumbersAsText() throws {
        let file = try read("sensorlogger.json")
        XCTAssertEqual(file.lines, [advertisement("0", "02:00:00:00:00:01", -79, "03FF9904")])
        XCTAssertEqual(file.start, "2023-07-25T20:18:30.897Z")
    }

    func testAnAccessPointIsNoBeacon() throws {
        let file = try read("kismet_wifi_without_phyname.json")
        XCTAssertEqual(file.lines, [advertisement("0", "06:AA:BB:CC:DD:EE", -80)])
        XCTAssertEqual(file.tally.ignored, ["devices of Wi-Fi AP": 1])
    }

    func testUbertoothsHeaderHasTheStrength() throws {
        let file = try read("ubertooth_ppi.pcap")
        // The highest value of the receiver is -28.
        XCTAssertEqual(
            file.lines,
            [
                #"{"t":0,"type":"advertisement","address":"02:00:00:00:00:01","addressType":"public","rssi":-81,"data":"020105"}"#
            ])
    }

    func testAPacketWithoutStrengthIsLeftOut() throws {
        let file = try read("nordic_packet_id_0.pcap")
        XCTAssertEqual(file.lines, [])
        XCTAssertEqual(file.tally.ignored, ["packets without a signal strength: their RSSI is 0": 1])
    }

    func testWigleHasALineBeforeItsHeader() throws {
        let file = try read("wigle.csv")
        XCTAssertEqual(file.lines, [advertisement("0", "02:00:00:00:00:02", -67)])
        XCTAssertEqual(file.tally.ignored, ["lines of WIFI": 1])
        XCTAssertEqual(file.start, "2018-08-01T13:13:30.000Z")
    }
}
