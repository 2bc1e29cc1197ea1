import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// The office fixtures and recordings are identical to the simulator's current output.
final class OfficeFixtureTests: XCTestCase {
    /// The path, seed and recording of each walk, as in `Fixtures/make-fixtures`.
    private let walks: [(path: String, seed: UInt64, recording: String)] = [
        ("one-floor", 101, "recordings/one-floor/scan.jsonl.gz"),
        ("stairs", 102, "recordings/stairs/scan.jsonl.gz"),
        ("outdoors", 103, "recordings/outdoors/scan.jsonl.gz"),
        ("half-silent", 104, "recordings/half-silent/scan.jsonl.gz"),
        ("without-beacons", 105, "recordings/without-beacons/scan.jsonl.gz"),
        ("survey-ground-west", 201, "office/survey/ground-west.jsonl"),
        ("survey-ground-east", 202, "office/survey/ground-east.jsonl"),
        ("survey-upper-west", 203, "office/survey/upper-west.jsonl"),
        ("survey-upper-east", 204, "office/survey/upper-east.jsonl"),
        ("track-ground", 301, "office/tracks/ground.jsonl"),
        ("track-elevator", 302, "office/tracks/elevator.jsonl"),
        ("track-upper", 303, "office/tracks/upper.jsonl"),
    ]

    private func office() throws -> VenuePacket {
        try VenuePacketReader().read(FixtureFolder("office").path)
    }

    private func script(_ name: String) throws -> WalkScript {
        let file = try FixtureFolder("office/paths").file(name + ".json")
        return try WalkScript(json: Data(contentsOf: URL(filePath: file)))
    }

    private func recorded(_ name: String) throws -> [RecordingEntry] {
        var reader = try RecordingReader(path: FixtureFolder(".").file(name))
        return try reader.readAll()
    }

    func testTheOfficeIsAVenuePacketWithoutProblems() throws {
        let packet = try office()
        XCTAssertEqual(packet.warnings, [])
        XCTAssertEqual(packet.venue.maps.map(\.level), [0, 1])
        XCTAssertEqual(packet.venue.beacons.count, 32)
        let areas = packet.venue.rooms.compactMap(\.area)
        XCTAssertEqual(areas.count, packet.venue.rooms.count)
        XCTAssertTrue(areas.contains { if case .circle = $0 { true } else { false } })
        XCTAssertFalse(packet.venue.settings.isEmpty)
    }

    func testBothFloorsHaveTheSameGeographicPosition() throws {
        let maps = try office().venue.maps
        let ground = try XCTUnwrap(maps[0].geoTransform())
        let upper = try XCTUnwrap(maps[1].geoTransform())
        for point in [MapPoint(x: 0, y: 0), MapPoint(x: 36, y: 20), MapPoint(x: 27, y: 3)] {
            // One map has a centre and a bearing, the other control points with eight decimals: a millimetre each.
            let distance = ground.coordinate(at: point).distance(to: upper.coordinate(at: point))
            XCTAssertLessThan(distance, 0.005, "\(point)")
        }
    }

    func testTheRecordingsEqualTheSimulatorsCurrentOutput() throws {
        let venue = try office().venue
        for walk in walks {
            let simulator = try WalkSimulator(venue: venue, script: script(walk.path), seed: walk.seed)
            let made = [.header(simulator.header)] + simulator.entries()
            let kept = try recorded(walk.recording)
            let difference = zip(made, kept).enumerated().first { $1.0 != $1.1 }
            XCTAssertNil(difference, "\(walk.recording) differs: run Fixtures/make-fixtures if the change is intended")
            XCTAssertEqual(made.count, kept.count, walk.recording)
        }
    }

    func testTheComparisonIncludesEveryRecordingAndEveryPath() throws {
        let folders = ["recordings", "office/survey", "office/tracks"]
        let files = try folders.flatMap { try FixtureFolder($0).files() }
        // The limits are written by hand; ReplayTests reads them.
        XCTAssertEqual(files.filter { !$0.hasSuffix("/limits.json") }.count, walks.count)
        XCTAssertEqual(try FixtureFolder("office/paths").files(ending: ".json").count, walks.count)
    }

    func testNoPathCrossesAWall() throws {
        let venue = try office().venue
        for walk in walks {
            let points = try script(walk.path).path.points
            for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() where from.mapID == to.mapID {
                let map = try XCTUnwrap(venue.map(from.mapID))
                let crossed = WallCrossings(of: map).count(from: from.point, to: to.point)
                XCTAssertEqual(crossed, 0, "\(walk.path), points \(index) and \(index + 1)")
            }
        }
    }

    // MARK: - The content of each recording

    private func readings(_ name: String) throws -> [SensorReading] {
        try recorded(name).compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
    }

    func testTheOneFloorRecordingHasFiftySamplesASecondForThirtySeconds() throws {
        let samples = try readings("recordings/one-floor/scan.jsonl.gz").filter {
            if case .motion = $0 { true } else { false }
        }
        XCTAssertEqual(samples.count, 1501)
        XCTAssertEqual(samples.last?.instant, Instant(seconds: 30))
    }

    func testTheStairsRecordingEndsOnTheUpperFloor() throws {
        let maps = try recorded("recordings/stairs/scan.jsonl.gz").compactMap { entry -> MapID? in
            if case .truth(let truth) = entry { truth.mapID } else { nil }
        }
        XCTAssertEqual(maps.first, 1)
        XCTAssertEqual(maps.last, 2)
    }

    func testTheOutdoorRecordingHasGNSSPositionsAndAnIntervalWithoutBeacons() throws {
        let readings = try readings("recordings/outdoors/scan.jsonl.gz")
        XCTAssertGreaterThan(readings.filter { if case .gnss = $0 { true } else { false } }.count, 90)
        let heard = readings.compactMap { if case .sighting(let sighting) = $0 { sighting.instant } else { nil } }
        let silence = zip(heard, heard.dropFirst()).map { $0.duration(to: $1) }.max() ?? .zero
        XCTAssertGreaterThan(silence, .seconds(30))
    }

    func testHalfOfTheBeaconsStopInTheHalfSilentRecording() throws {
        let sightings = try readings("recordings/half-silent/scan.jsonl.gz").compactMap { reading -> Sighting? in
            if case .sighting(let sighting) = reading { sighting } else { nil }
        }
        let after = Set(sightings.filter { $0.instant.seconds > 30 }.map(\.beacon))
        let before = Set(sightings.filter { $0.instant.seconds <= 30 }.map(\.beacon))
        XCTAssertLessThanOrEqual(after.count, 16)
        XCTAssertGreaterThan(before.count, 24)
    }

    func testTheRecordingWithoutBeaconsHasNoSightingsAndVisitsBothFloors() throws {
        let name = "recordings/without-beacons/scan.jsonl.gz"
        for reading in try readings(name) {
            switch reading {
            case .sighting, .advertisement: XCTFail("\(reading)")
            default: break
            }
        }
        let maps = try recorded(name).compactMap { entry -> MapID? in
            if case .truth(let truth) = entry { truth.mapID } else { nil }
        }
        XCTAssertEqual(Set(maps), [1, 2])
    }
}
