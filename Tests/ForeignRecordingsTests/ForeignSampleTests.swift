import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

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
