import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class RangeSimulationTests: XCTestCase {
    private static func venue(walls: [[MapPoint]] = []) -> Venue {
        var venue = SimulatedHall.venue(walls: walls, beacons: 0)
        venue.anchors = [VenueAnchor(id: "A", mapID: SimulatedHall.ground, point: SimulatedHall.middle, z: 1.2)]
        return venue
    }

    private func distances(
        walls: [[MapPoint]] = [], _ change: (inout RangeSettings) -> Void, path: WalkPath? = nil, seed: UInt64 = 1
    ) throws -> [RangeReading] {
        var settings = SimulatedHall.quiet()
        settings.radio.deviceHeight = 1.2
        settings.ranges.interval = 0.1
        settings.ranges.lossShare = 0
        change(&settings.ranges)
        let path = path ?? SimulatedHall.stay(at: MapPoint(x: 20, y: 30), seconds: 100)
        let walk = try WalkSimulator(venue: Self.venue(walls: walls), path: path, settings: settings, seed: seed)
        return walk.sensorReadings().compactMap { if case .range(let range) = $0 { range } else { nil } }
    }

    func testDistancesScatterAboutTheTrueOne() throws {
        let found = try distances { $0.excessShare = 0 }.map(\.distance)
        XCTAssertEqual(found.count, 1000)
        let mean = found.reduce(0, +) / 1000
        XCTAssertEqual(mean, 10, accuracy: 0.01)
        let variance = found.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 1000
        XCTAssertEqual(variance.squareRoot(), 0.1, accuracy: 0.01)
    }

    func testAReflectedPathIsLongerByAnAmountThatDependsOnThePlace() throws {
        let walk = SimulatedHall.walk([MapPoint(x: 1, y: 30), MapPoint(x: 39, y: 30)])
        let found = try distances(
            {
                $0.excessShare = 1
                $0.excess = 2
                $0.deviation = 0
                $0.interval = 0.05
            }, path: walk)
        let excesses = found.map {
            $0.distance - MapPoint(x: 1 + $0.instant.seconds, y: 30).distance(to: SimulatedHall.middle)
        }
        XCTAssertGreaterThan(excesses.min() ?? -1, -0.01)
        XCTAssertEqual(Set(excesses.map { Int(($0 * 20).rounded()) }).count, 19, accuracy: 6, "twenty areas of 2 m")
    }

    func testAWallMakesReflectionsMoreProbable() throws {
        let wall = [[MapPoint(x: 0, y: 25), MapPoint(x: 40, y: 25)]]
        let found = try distances(walls: wall) {
            $0.excessShare = 0
            $0.hiddenExcessShare = 1
            $0.deviation = 0
        }
        XCTAssertGreaterThan(found.first?.distance ?? 0, 10.001)
    }

    func testNoDistanceArrivesBeyondTheReachOrWithoutAnInterval() throws {
        XCTAssertTrue(try distances { $0.reach = 9 }.isEmpty)
        XCTAssertTrue(try distances { $0.interval = 0 }.isEmpty)
    }

    func testALostShareOfTheDistancesIsMissing() throws {
        XCTAssertEqual(try distances { $0.lossShare = 0.3 }.count, 700, accuracy: 60)
    }

    func testTheSameSeedGivesTheSameDistancesAndAnotherOneOthers() throws {
        let one = try distances({ _ in }, seed: 4)
        XCTAssertEqual(one, try distances({ _ in }, seed: 4))
        XCTAssertNotEqual(one, try distances({ _ in }, seed: 5))
    }

    func testASettingOutOfRangeIsRefused() {
        var settings = SimulationSettings()
        XCTAssertThrowsError(try settings.set("ranges.reach", to: .number(0)))
        XCTAssertNoThrow(try settings.set("ranges.interval", to: .number(0.5)))
        XCTAssertEqual(settings.ranges.interval, 0.5)
    }
}

private func XCTAssertEqual(_ first: Int, _ second: Int, accuracy: Int, _ message: String = "") {
    XCTAssertLessThanOrEqual(abs(first - second), accuracy, "\(first) instead of \(second) \(message)")
}

/// Compares an engine with the least possible error for distances whose errors follow the normal distribution.
final class RangeBoundTests: XCTestCase {
    private static let anchors = [(0.5, 0.5), (19.5, 1), (18, 14.5), (2, 14), (10, 0.3)].map { MapPoint(x: $0, y: $1) }
    private static let deviation = 0.8
    private static let venue = Venue(
        id: 1, name: "hall", maps: [VenueMap(id: 1, name: "hall", level: 0, width: 20, height: 15)],
        anchors: anchors.enumerated().map { VenueAnchor(id: "\($0)", mapID: 1, point: $1) })

    /// The settings that match the simulated distances: without reflections, offset and movement.
    private static func settings(correlationTime: Double) -> PositioningSettings {
        var settings = PositioningSettings()
        settings.particleCount = 600
        settings.ranges.uwb.offsetDeviation = 0
        settings.ranges.excessShare = 0
        settings.ranges.deviceHeightDeviation = 0
        settings.ranges.uwb.correlationTime = correlationTime
        settings.motion.standingWander = 0
        settings.priorShare = 0
        return settings
    }

    /// Returns the mean square errors in m² of the engine, of the exact posterior mean and of the Cramér–Rao bound.
    private static func measure(
        places: Int, seconds: Int, isIndependent: Bool, seed: UInt64
    ) -> (engine: Double, exact: Double, bound: Double) {
        var generator = SeededGenerator(seed: seed)
        let settings = settings(correlationTime: isIndependent ? 1e-3 : 1e9)
        let field = SignalField(venue: venue, model: settings.signal)
        let rest = Vector3(x: 0, y: 0, z: 9.80665)
        var sums = (engine: 0.0, exact: 0.0, bound: 0.0)
        for _ in 0..<places {
            let place = MapPoint(x: 1 + 18 * generator.uniform(), y: 1 + 13 * generator.uniform())
            var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: generator.next())
            var means = anchors.map { _ in 0.0 }
            var errors = anchors.map { _ in deviation * generator.normal() }
            for second in 1...seconds {
                let instant = Instant(seconds: Double(second))
                if isIndependent, second > 1 { errors = errors.map { _ in deviation * generator.normal() } }
                engine.observe(
                    .motion(MotionSample(instant: Instant(seconds: Double(second) - 0.5), acceleration: rest)))
                engine.observe(.motion(MotionSample(instant: instant, acceleration: rest)))
                for (anchor, point) in anchors.enumerated() {
                    let distance = point.distance(to: place) + errors[anchor]
                    means[anchor] += distance / Double(seconds)
                    engine.observe(
                        .range(
                            RangeReading(
                                instant: instant, anchor: "\(anchor)", distance: distance, deviation: deviation,
                                technology: .uwb)))
                }
                engine.advance(to: instant)
            }
            let variance = deviation * deviation / (isIndependent ? Double(seconds) : 1)
            let found = engine.estimate(on: 1)?.point.distance(to: place) ?? .infinity
            let exact = exactMean(of: means, variance: variance).distance(to: place)
            sums.engine += found * found / Double(places)
            sums.exact += exact * exact / Double(places)
            sums.bound += bound(at: place, variance: variance) / Double(places)
        }
        return sums
    }

    /// Returns the mean of the exact posterior on a grid of 20 cm, less than its deviation: no estimator has a smaller mean
    /// square error.
    private static func exactMean(of distances: [Double], variance: Double) -> MapPoint {
        var points: [(point: MapPoint, cost: Double)] = []
        for column in 0..<100 {
            for row in 0..<75 {
                let point = MapPoint(x: 0.1 + 0.2 * Double(column), y: 0.1 + 0.2 * Double(row))
                let cost = zip(anchors, distances).reduce(0.0) { sum, pair in
                    let error = pair.1 - pair.0.distance(to: point)
                    return sum + error * error / (2 * variance)
                }
                points.append((point, cost))
            }
        }
        let least = points.map(\.cost).min() ?? 0
        var (weight, sum) = (0.0, MapPoint(x: 0, y: 0))
        for (point, cost) in points where cost - least < 30 {
            var share = 1.0
            // exp(-x) by squaring, without a library of mathematics.
            let step = 1 - (cost - least) / 1024
            for _ in 0..<10 { share = share == 1 ? step * step : share * share }
            weight += share
            sum = sum + point * share
        }
        return sum * (1 / weight)
    }

    /// Returns the trace of the inverse Fisher information of a point: the least mean square error without a prior.
    private static func bound(at place: MapPoint, variance: Double) -> Double {
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for anchor in anchors {
            let (offset, length) = (place - anchor, place.distance(to: anchor))
            xx += offset.x * offset.x / (length * length * variance)
            xy += offset.x * offset.y / (length * length * variance)
            yy += offset.y * offset.y / (length * length * variance)
        }
        return (xx + yy) / (xx * yy - xy * xy)
    }

    func testAnEngineIsWithinFivePercentOfTheLeastPossibleError() {
        for seed: UInt64 in [1, 2] {
            let result = Self.measure(places: 60, seconds: 2, isIndependent: false, seed: seed)
            let ratio = (result.engine / result.exact).squareRoot()
            print(
                "engine \(result.engine), exact \(result.exact), bound \(result.bound) m², ratio \(ratio), seed \(seed)"
            )
            XCTAssertLessThan(ratio, 1.05, "seed \(seed)")
            XCTAssertGreaterThan(ratio, 0.97, "no estimator is better on average, seed \(seed)")
        }
    }

    func testIndependentDistancesReduceTheErrorAsMuchAsTheyCan() {
        let result = Self.measure(places: 60, seconds: 4, isIndependent: true, seed: 3)
        let ratio = (result.engine / result.exact).squareRoot()
        print("engine \(result.engine), exact \(result.exact), bound \(result.bound) m², ratio \(ratio), seed 3")
        XCTAssertLessThan(ratio, 1.05, "seed 3")
    }
}
