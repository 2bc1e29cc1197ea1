import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class IdealReadingsTests: XCTestCase {
    private static let seed: UInt64 = 11
    private static let mapID = MapID(rawValue: 1)
    private static let identity = BeaconIdentity(
        uuid: BeaconUUID("7C2F0A10-0000-4000-8000-000000000003")!, major: 1, minor: 1)

    func testReadingsScatterAroundTheExpectedRSSIOfTheField() throws {
        let field = Self.field
        let place = MapPoint(x: 12, y: 5)
        let truth = SurveyRecording.Waypoint(instant: .zero, mapID: Self.mapID, point: place, isHold: true)
        var ideal = IdealReadings(field: field, waypoints: [truth], seed: Self.seed)
        // Readings that are further apart than the correlation time have independent errors.
        let levels = (0..<4000).map { Self.level(ideal.replacing(Self.sighting(at: 2 * Double($0)))) }
        let mean = levels.reduce(0, +) / 4000
        let variance = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 4000
        let expected = try XCTUnwrap(field.expectation(of: 0, at: place, on: Self.mapID))
        let noise = field.readingDeviation * field.readingDeviation + field.model.fastFading * field.model.fastFading
        XCTAssertEqual(mean, expected.rssi, accuracy: 0.5, "seed \(Self.seed)")
        XCTAssertEqual(variance, expected.variance + noise, accuracy: 0.08 * (expected.variance + noise))
    }

    func testReadingsOfOneMomentShareTheirError() {
        var field = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed)
        let levels = (0..<20).map { Self.level(field.replacing(Self.sighting(at: 1 + 0.01 * Double($0)))) }
        let mean = levels.reduce(0, +) / 20
        let deviation = (levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 20).squareRoot()
        XCTAssertLessThan(deviation, 2 * Self.field.model.fastFading, "seed \(Self.seed)")
    }

    func testAMovingDeviceIsBetweenTheWaypoints() {
        // The device passes the beacon at (20, 5): its readings are strongest halfway.
        var ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed)
        var means = [0.0, 0, 0]
        for round in 0..<300 {
            for (index, time) in [2.0, 20, 38].enumerated() {
                means[index] += Self.level(ideal.replacing(Self.sighting(at: time + 1e-3 * Double(round)))) / 300
            }
            ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed + UInt64(round))
        }
        XCTAssertGreaterThan(means[1], means[0] + 10)
        XCTAssertEqual(means[0], means[2], accuracy: 2)
    }

    func testTheSameSeedGivesTheSameReadings() {
        func levels(_ seed: UInt64) -> [Double] {
            var ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: seed)
            return (0..<30).map { Self.level(ideal.replacing(Self.sighting(at: Double($0)))) }
        }
        XCTAssertEqual(levels(3), levels(3))
        XCTAssertNotEqual(levels(3), levels(4))
    }

    func testAReadingWithoutAKnownBeaconOrPlaceIsUnchanged() {
        let late = SurveyRecording.Waypoint(
            instant: .init(seconds: 50), mapID: Self.mapID, point: MapPoint(x: 1, y: 5), isHold: false)
        let room = Truth(instant: .zero, room: "kitchen")
        for waypoints in [[], [late], [room].compactMap(\.waypoint)] {
            var ideal = IdealReadings(field: Self.field, waypoints: waypoints, seed: Self.seed)
            XCTAssertEqual(ideal.replacing(Self.sighting(at: 1)), Self.sighting(at: 1))
        }
        var ideal = IdealReadings(field: Self.field, waypoints: Self.path, seed: Self.seed)
        let stranger = SensorReading.sighting(
            Sighting(
                instant: .init(seconds: 1),
                beacon: BeaconIdentity(uuid: Self.identity.uuid, major: 9, minor: 9), rssi: -60))
        XCTAssertEqual(ideal.replacing(stranger), stranger)
        let pressure = SensorReading.pressure(PressureSample(instant: .init(seconds: 1), hectopascals: 1000))
        XCTAssertEqual(ideal.replacing(pressure), pressure)
    }

    private static let path = [
        SurveyRecording.Waypoint(instant: .zero, mapID: mapID, point: MapPoint(x: 0, y: 5), isHold: false),
        SurveyRecording.Waypoint(
            instant: .init(seconds: 40), mapID: mapID, point: MapPoint(x: 40, y: 5), isHold: false),
    ]

    private static let field = SignalField(
        venue: Venue(
            id: VenueID(rawValue: 1), name: "hall",
            maps: [VenueMap(id: mapID, name: "floor", level: 0, width: 40, height: 10)],
            beacons: [
                VenueBeacon(identity: identity, mapID: mapID, point: MapPoint(x: 20, y: 5), measuredPower: -60)
            ]))

    private static func sighting(at seconds: Double) -> SensorReading {
        .sighting(Sighting(instant: Instant(seconds: seconds), beacon: identity, rssi: -77))
    }

    private static func level(_ reading: SensorReading) -> Double {
        guard case .sighting(let sighting) = reading else { return .nan }
        return sighting.rssi
    }
}
