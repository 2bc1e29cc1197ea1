import IndoorLocalization
import LiveMap
import XCTest

/// Frames, venues and events of a session.
final class LiveMapFrameTests: XCTestCase {
    private func snapshot() -> SessionSnapshot {
        SessionSnapshot(
            instant: Instant(seconds: 12.34567), state: LiveMapStage.running(),
            position: LiveMapStage.position(3.14159, at: 12),
            maps: [.init(mapID: 40, probability: 0.91), .init(mapID: 41, probability: 0.09)],
            particles: [
                .init(mapID: 41, point: MapPoint(x: 40, y: 0)), .init(mapID: 40, point: MapPoint(x: 10, y: 5)),
                .init(mapID: 40, point: MapPoint(x: -3, y: 25)),
            ],
            beacons: [
                .init(
                    identity: LiveMapStage.beacon(1), rssi: -61.26, instant: Instant(seconds: 11.3), isKnown: true,
                    expectedRSSI: -63.04, deviation: 4.449),
                .init(identity: LiveMapStage.beacon(9), rssi: -80, instant: Instant(seconds: 13), isKnown: false),
            ])
    }

    func testAFrameHasTheRoundedContentOfTheSnapshot() {
        let frame = LiveMapFrame(snapshot(), id: 5, route: [.init(mapId: 40, x: 1, y: 2)])
        XCTAssertEqual([frame.t, Double(frame.id)], [12.346, 5])
        XCTAssertEqual(frame.state, "localizationRunning")
        XCTAssertEqual(frame.text, "In Hall, Ground")
        XCTAssertEqual([frame.venueId, frame.mapId], [4, 40])
        XCTAssertEqual(
            frame.estimate,
            .init(
                t: 12, mapId: 40, x: 3.14, y: 10, radius: 2.35, course: 90, speed: 1.24, label: "Kitchen",
                floorCertainty: 0.9877))
        XCTAssertEqual(frame.levels, [.init(mapId: 40, probability: 0.91), .init(mapId: 41, probability: 0.09)])
        XCTAssertEqual(
            frame.beacons,
            [
                .init(
                    id: LiveMapStage.beacon(1).description, rssi: -61.3, age: 1, expected: -63, deviation: 4.4,
                    isKnown: true),
                .init(id: LiveMapStage.beacon(9).description, rssi: -80, age: 0, isKnown: false),
            ])
        XCTAssertEqual(frame.route.count, 1)
        XCTAssertNil(frame.diagnosis)
    }

    func testParticlesAreSharesOfTheirMapAndStayOnThePlan() throws {
        let sheets = try XCTUnwrap(LiveMapFrame(snapshot(), id: 1).particles)
        XCTAssertEqual(sheets.map(\.mapId), [40, 41])
        let points = sheets.map(LiveMapStage.points)
        XCTAssertEqual(points[0].count, 2)
        XCTAssertEqual(points[0][0][0], 0.25, accuracy: 1e-5)
        XCTAssertEqual(points[0][0][1], 0.25, accuracy: 1e-5)
        XCTAssertEqual(points[0][1], [0, 1], "at the nearest edge")
        XCTAssertEqual(points[1], [[1, 0]])
    }

    func testALiveFrameHasTheTimeOfTheDisplay() {
        let frame = LiveMapFrame(snapshot(), id: 1, t: 100)
        XCTAssertEqual(frame.t, 100)
        XCTAssertEqual(frame.estimate?.t ?? 0, 99.654, accuracy: 1e-3)
    }

    func testTheErrorIsTheDistanceToTheTruthAtTheInstantOfTheEstimate() {
        var frame = LiveMapFrame(snapshot(), id: 1)
        // The device walks one metre a second along x.
        frame.setTruth { LiveMapFrame.Place(mapId: 40, x: $0 - 9, y: 10) }
        XCTAssertEqual(frame.truth?.x ?? 0, 3.346, accuracy: 1e-9)
        XCTAssertEqual(frame.error ?? 0, 0.14, accuracy: 1e-9)
        frame.setTruth { LiveMapFrame.Place(mapId: 41, x: $0, y: 10) }
        XCTAssertNil(frame.error, "on another map")
        frame.setTruth { _ in nil }
        XCTAssertNil(frame.truth)
    }

    func testAFrameWithoutPositionsHasTheDiagnosis() {
        var diagnosis = SessionDiagnosis(state: .searchVenue, reason: .unknownBeacons)
        diagnosis.unknownBeacons = [LiveMapStage.beacon(9)]
        var snapshot = SessionSnapshot(instant: .zero, state: .searchVenue, diagnosis: diagnosis)
        let frame = LiveMapFrame(snapshot, id: 1)
        XCTAssertEqual(frame.diagnosis?.reason, "unknownBeacons")
        XCTAssertEqual(frame.diagnosis?.beacons, [LiveMapStage.beacon(9).description])
        XCTAssertEqual(frame.diagnosis?.text, diagnosis.description)
        XCTAssertNotNil(frame.diagnosis?.help)
        XCTAssertNil(frame.estimate)
        XCTAssertEqual(frame.text, "Searching for a venue")
        snapshot.diagnosis?.reason = .located
        XCTAssertNil(LiveMapFrame(snapshot, id: 1).diagnosis)
    }

    func testNumbersThatAreNotFiniteBecomeZero() {
        var snapshot = snapshot()
        snapshot.position?.radius = .infinity
        snapshot.position?.point = MapPoint(x: .nan, y: 1)
        let frame = LiveMapFrame(snapshot, id: 1)
        XCTAssertEqual(frame.estimate?.radius, 0)
        XCTAssertNoThrow(try JSONEncoder().encode(frame))
    }

    func testAVenueHasMapsAreasPointsAndBeacons() throws {
        let venue = LiveMapVenue(
            LiveMapStage.hall,
            tiles: [41: .init(width: 512, height: 256, tileSize: 256, overlap: 0, format: "png")])
        XCTAssertEqual([venue.id, venue.version], [4, 3])
        XCTAssertEqual(venue.maps.map(\.name), ["Ground", "First"])
        XCTAssertEqual(venue.maps.map(\.hasImage), [true, false])
        XCTAssertEqual(venue.maps[0].walls, [[0, 5, 10, 5.123]])
        XCTAssertEqual(venue.maps[0].walkable, [[0, 0, 40, 0, 40, 20]])
        XCTAssertNil(venue.maps[0].tiles)
        XCTAssertEqual(venue.maps[1].tiles?.width, 512)
        XCTAssertEqual(venue.rooms.map(\.name), ["Kitchen"], "a room without a shape is left out")
        XCTAssertEqual(venue.rooms[0].circle, .init(x: 5, y: 5, radius: 2))
        XCTAssertEqual(venue.fences[0].polygon, [0, 0, 1, 0, 1, 1])
        XCTAssertEqual(venue.pointsOfInterest, [.init(id: 7, name: "Books", mapId: 41, x: 1, y: 2)])
        XCTAssertEqual(
            venue.beacons, [.init(id: LiveMapStage.beacon(1).description, mapId: 40, x: 5, y: 6)])
    }

    func testAVenueHasTheBeaconsThatTheSurveyPlaced() {
        var venue = LiveMapStage.hall
        venue.radioMap = RadioMap(
            beacons: [1, 2].map {
                RadioMap.Beacon(
                    identity: LiveMapStage.beacon($0), mapID: 41, point: MapPoint(x: 8, y: 9), power: -60)
            }, fingerprints: [], pathLossExponent: 2, readingDeviation: 3)
        XCTAssertEqual(LiveMapVenue(venue).beacons.map(\.mapId), [40, 41])
    }
}
