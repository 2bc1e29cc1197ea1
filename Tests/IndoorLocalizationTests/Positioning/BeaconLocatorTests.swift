import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class BeaconLocatorTests: XCTestCase {
    private static let seed: UInt64 = 21

    func testTheLocatorFindsABeaconBesideTheRoute() throws {
        let beacon = MapPoint(x: 12, y: 9)
        let readings = Self.readings(of: beacon, at: Self.bend, deviation: 2)
        let found = try XCTUnwrap(Self.places(of: [readings])[0])
        XCTAssertEqual(found.distance(to: beacon), 0, accuracy: 3, "seed \(Self.seed)")
    }

    func testBothSidesOfAStraightRouteAreEquallyLikely() throws {
        let readings = Self.readings(of: MapPoint(x: 12, y: 9), at: Self.line, deviation: 2)
        let found = try XCTUnwrap(Self.places(of: [readings])[0])
        XCTAssertEqual(found.x, 12, accuracy: 3, "seed \(Self.seed)")
        XCTAssertEqual(found.y, 0, accuracy: 1, "seed \(Self.seed)")
    }

    func testTheLocatorIsMoreAccurateThanTheWeightedMean() {
        var generator = SeededGenerator(seed: Self.seed)
        let beacons = (0..<20).map { _ in
            MapPoint(x: 4 + 24 * generator.uniform(), y: -6 + 24 * generator.uniform())
        }
        let readings = beacons.enumerated().map { index, beacon in
            Self.readings(of: beacon, at: Self.bend, deviation: 3, power: -60 - 6 * generator.uniform(), index)
        }
        let found = Self.places(of: readings).map { $0 ?? MapPoint(x: .nan, y: .nan) }
        let errors = zip(found, beacons).map { $0.distance(to: $1) }.sorted()
        let means = zip(readings, beacons).map { Self.loudest($0).distance(to: $1) }.sorted()
        XCTAssertLessThan(errors[10], 0.7 * means[10], "seed \(Self.seed)")
    }

    func testABeaconDetectedOnceIsAtItsReading() throws {
        let reading = BeaconLocator.Reading(point: MapPoint(x: 3, y: 4), rssi: -70, count: 1)
        let found = try XCTUnwrap(Self.places(of: [[reading]])[0])
        XCTAssertEqual(found.distance(to: MapPoint(x: 3, y: 4)), 0, accuracy: 1e-6)
    }

    func testABeaconWithoutReadingsHasNoPosition() {
        XCTAssertEqual(Self.places(of: [[]]), [nil])
        XCTAssertEqual(Self.places(of: []), [])
    }

    func testThinningKeepsReadingsEvenly() throws {
        let beacon = MapPoint(x: 12, y: 9)
        let many = (0..<900).map { Self.bend[$0 * Self.bend.count / 900] }
        let readings = Self.readings(of: beacon, at: many, deviation: 3)
        let found = try XCTUnwrap(Self.places(of: [readings])[0])
        XCTAssertEqual(found.distance(to: beacon), 0, accuracy: 3, "seed \(Self.seed)")
    }

    /// A way of 30 m to the right, 20 m down and back to the left, a place each metre.
    private static let bend =
        line + (1...20).map { MapPoint(x: 30, y: Double($0)) } + (1...30).map { MapPoint(x: Double(30 - $0), y: 20) }
    private static let line = (0...30).map { MapPoint(x: Double($0), y: 0) }

    private static func places(of readings: [[BeaconLocator.Reading]]) -> [MapPoint?] {
        BeaconLocator(model: SignalModel()).places(of: readings)
    }

    /// The mean of the places, weighted by amplitude.
    private static func loudest(_ readings: [BeaconLocator.Reading]) -> MapPoint {
        let weights = readings.map { pow(10, $0.rssi / 20) }
        let sum = zip(weights, readings).reduce(MapPoint(x: 0, y: 0)) { $0 + $1.1.point * $1.0 }
        return sum * (1 / weights.reduce(0, +))
    }

    private static func readings(
        of beacon: MapPoint, at points: [MapPoint], deviation: Double, power: Double = -62, _ index: Int = 0
    ) -> [BeaconLocator.Reading] {
        var generator = SeededGenerator(seed: seed &+ UInt64(index))
        return points.map { point in
            let level = SignalModel().pathLoss(
                power: power, exponent: 2, planar: point.distance(to: beacon), height: 0.5)
            return BeaconLocator.Reading(point: point, rssi: level + deviation * generator.normal(), count: 4)
        }
    }
}
