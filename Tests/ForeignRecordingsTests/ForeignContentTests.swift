import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

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

    func testAReadingThatIsSlightlyLateGetsTheTimeBeforeIt() throws {
        let text = "time,mac,rssi\n5,C0:00:00:00:00:01,-60\n4.1,C0:00:00:00:00:02,-61\n"
        XCTAssertEqual(read(text, as: .csv).map { $0.instant?.seconds }, [5, 5])
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
        let packets = [
            head + [0x03, 0x04] + access + pdu, head + [0x02, 0x0C] + access + pdu,
            head + [0x03, 0x0C] + [1, 2, 3, 4] + pdu, head + [0x03, 0x0C] + access + [3, 0],
        ]
        decoder.fill { $0 += capture(linkType: 256, packets) }
        XCTAssertEqual(try decoder.next(), .needsMore)
        XCTAssertEqual(
            decoder.ignored,
            ["packets with a wrong checksum": 1, "whitened packets": 1, "packets of connections": 1, "requests": 1])
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
