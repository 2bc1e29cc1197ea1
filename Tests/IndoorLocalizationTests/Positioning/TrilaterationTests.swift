import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class TrilaterationTests: XCTestCase {
    private typealias Reading = Trilateration.Reading
    private static let place = MapPoint(x: 7, y: 12)

    func testExactDistancesGiveThePlaceWithinAMillimetre() throws {
        let solution = try XCTUnwrap(Trilateration.solve(Self.readings(at: Self.place)))
        XCTAssertEqual(solution.point.distance(to: Self.place), 0, accuracy: 1e-3)
    }

    func testExactDistancesToAnyBeaconsGiveThePlace() throws {
        for seed in UInt64(1)...40 {
            var generator = SeededGenerator(seed: seed)
            func point() -> MapPoint { MapPoint(x: generator.uniform() * 20, y: generator.uniform() * 20) }
            let place = point()
            let readings = Self.readings(at: place, of: PositioningStage.beaconPoints + [point(), point()])
            let solution = try XCTUnwrap(Trilateration.solve(readings), "seed \(seed)")
            XCTAssertEqual(solution.point.distance(to: place), 0, accuracy: 1e-3, "seed \(seed)")
        }
    }

    func testDistancesGiveThePlaceDespiteOneReflection() throws {
        let corner = MapPoint(x: 20, y: 20)
        func distances(_ anchors: [MapPoint], excess: Double = 0) -> [Trilateration.Distance] {
            anchors.enumerated().map { index, anchor in
                let length = (pow(anchor.distance(to: Self.place), 2) + 4).squareRoot()
                return Trilateration.Distance(
                    point: anchor, heightDifference: 2, distance: length + (index == 0 ? excess : 0), deviation: 0.2)
            }
        }
        let corners =
            [MapPoint(x: 0, y: 0), MapPoint(x: 20, y: 0), MapPoint(x: 0, y: 20), corner]
            + [MapPoint(x: 10, y: 0), MapPoint(x: 10, y: 20)]
        let origin = MapPoint(x: 0, y: 0)
        let exact = try XCTUnwrap(Trilateration.solve(distances(corners), from: origin, to: corner))
        XCTAssertEqual(exact.point.distance(to: Self.place), 0, accuracy: 1e-3)
        let reflected = try XCTUnwrap(Trilateration.solve(distances(corners, excess: 8), from: origin, to: corner))
        // Without robust weights, the error is 2.8 m.
        XCTAssertEqual(reflected.point.distance(to: Self.place), 0, accuracy: 0.3)
        XCTAssertNil(Trilateration.solve(distances(Array(corners.prefix(2))), from: origin, to: corner))
    }

    func testNoPlaceNearbyFitsBetter() throws {
        let seed: UInt64 = 4
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let readings = Self.readings(at: Self.place, noise: 4, using: &generator)
            let point = try XCTUnwrap(Trilateration.solve(readings)).point
            let best = Self.cost(readings, at: point)
            for degrees in stride(from: 0.0, to: 360, by: 30) {
                let step = MapPoint(x: cos(degrees * .pi / 180), y: sin(degrees * .pi / 180)) * 0.01
                XCTAssertGreaterThanOrEqual(Self.cost(readings, at: point + step), best, "seed \(seed)")
            }
        }
    }

    func testTheCovarianceMatchesThatOfManyTrials() throws {
        let seed: UInt64 = 8
        var generator = SeededGenerator(seed: seed)
        let trials = 1000
        let claimed = try XCTUnwrap(Trilateration.solve(Self.readings(at: Self.place, deviation: 1)))
        let points = (0..<trials).compactMap { _ in
            Trilateration.solve(Self.readings(at: Self.place, noise: 1, deviation: 1, using: &generator))?.point
        }
        XCTAssertEqual(points.count, trials)
        let mean = points.reduce(MapPoint(x: 0, y: 0), +) * (1 / Double(trials))
        let varianceX = points.reduce(0) { $0 + ($1.x - mean.x) * ($1.x - mean.x) } / Double(trials)
        let varianceY = points.reduce(0) { $0 + ($1.y - mean.y) * ($1.y - mean.y) } / Double(trials)
        // Four standard errors of a variance from 1000 trials are 18 %.
        XCTAssertEqual(claimed.varianceX / varianceX, 1, accuracy: 0.2, "seed \(seed)")
        XCTAssertEqual(claimed.varianceY / varianceY, 1, accuracy: 0.2, "seed \(seed)")
    }

    /// The share of 400 trials in which the radius holds the place, if readings scatter by `noise` dB and say 3 dB.
    private static func heldShare(noise: Double, seed: UInt64) -> Double {
        var generator = SeededGenerator(seed: seed)
        var held = 0
        for _ in 0..<400 {
            let readings = readings(at: place, noise: noise, deviation: 3, using: &generator)
            guard let solution = Trilateration.solve(readings) else { continue }
            if solution.point.distance(to: place) <= solution.radius { held += 1 }
        }
        return Double(held) / 400
    }

    func testTheRadiusContainsAboutTwoThirdsOfTheTrials() {
        XCTAssertEqual(Self.heldShare(noise: 3, seed: 15), 0.68, accuracy: 0.1, "seed 15")
    }

    /// Without their disagreement the radius would hold one in eight.
    func testReadingsThatDisagreeMakeTheRadiusLarger() {
        XCTAssertGreaterThan(Self.heldShare(noise: 9, seed: 16), 0.4, "seed 16")
    }

    func testTwiceTheDeviationGivesTwiceTheRadius() throws {
        let near = try XCTUnwrap(Trilateration.solve(Self.readings(at: Self.place, deviation: 2)))
        let far = try XCTUnwrap(Trilateration.solve(Self.readings(at: Self.place, deviation: 4)))
        XCTAssertEqual(far.radius / near.radius, 2, accuracy: 1e-3)
    }

    func testTwoBeaconsGiveNoPlace() {
        XCTAssertNil(Trilateration.solve(Array(Self.readings(at: Self.place).prefix(2))))
        XCTAssertNil(Trilateration.solve([]))
    }

    func testBeaconsOnOneLineGiveNoPlace() {
        let directions = [MapPoint(x: 1, y: 0), MapPoint(x: 0, y: 1), MapPoint(x: 1, y: 1), MapPoint(x: 0.3, y: -0.7)]
        for direction in directions {
            for count in [3, 5] {
                let beacons = (0..<count).map { MapPoint(x: 3, y: 4) + direction * (Double($0) * 4.3) }
                XCTAssertNil(Trilateration.solve(Self.readings(at: Self.place, of: beacons)), "along \(direction)")
            }
        }
    }

    func testBeaconsAtOnePlaceGiveNoPlace() {
        let beacons = [MapPoint](repeating: MapPoint(x: 5, y: 5), count: 4)
        XCTAssertNil(Trilateration.solve(Self.readings(at: Self.place, of: beacons)))
    }

    func testNaNReadingsGiveNoPlace() {
        var readings = Self.readings(at: Self.place)
        readings[0].rssi = .nan
        XCTAssertNil(Trilateration.solve(readings))
    }

    func testAnOutlierMovesThePlaceLessThanInPlainLeastSquares() throws {
        var readings = Self.readings(at: Self.place, deviation: 2)
        readings[3].rssi -= 25
        let robust = try XCTUnwrap(Trilateration.solve(readings)).point.distance(to: Self.place)
        // With deviations so large no reading counts as an outlier: least squares without robustness.
        for index in readings.indices { readings[index].deviation = 1000 }
        let plain = try XCTUnwrap(Trilateration.solve(readings)).point.distance(to: Self.place)
        XCTAssertLessThan(robust, plain / 2)
    }

    private static func readings(
        at place: MapPoint, of beacons: [MapPoint] = PositioningStage.beaconPoints, deviation: Double = 4
    ) -> [Reading] {
        beacons.map {
            Reading(
                point: $0, height: PositioningStage.height, power: PositioningStage.power,
                exponent: PositioningStage.exponent, rssi: PositioningStage.rssi(from: $0, to: place),
                deviation: deviation)
        }
    }

    private static func readings(
        at place: MapPoint, noise: Double, deviation: Double = 4, using generator: inout SeededGenerator
    ) -> [Reading] {
        var readings = readings(at: place, deviation: deviation)
        for index in readings.indices { readings[index].rssi += noise * generator.normal() }
        return readings
    }

    /// The sum of Huber's losses, written down once more.
    private static func cost(_ readings: [Reading], at point: MapPoint) -> Double {
        readings.reduce(0) { sum, reading in
            let expected = PositioningStage.rssi(from: reading.point, to: point)
            let size = abs(reading.rssi - expected) / reading.deviation
            return sum + (size <= 1.5 ? size * size : 3 * size - 2.25)
        }
    }
}

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
