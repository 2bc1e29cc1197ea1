import IndoorLocalization
import XCTest

final class RangingTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private func sighting(_ seconds: Double, _ rssi: Double, power: Double? = -59) -> Sighting {
        Sighting(instant: Instant(seconds: seconds), beacon: beacon, rssi: rssi, measuredPower: power)
    }

    // MARK: - Filter

    func testTheFilterReachesAStepOfTheInput() {
        var filter = RSSIFilter(rssi: -60, at: .zero)
        for index in 1...500 { filter.update(rssi: -69, at: Instant(seconds: Double(index) / 10)) }
        XCTAssertEqual(filter.mean, -69, accuracy: 0.01)
    }

    func testAStepOfTenDecibelsIsHalfReachedWithinTwoSeconds() {
        var filter = RSSIFilter(rssi: -60, at: .zero)
        for index in 1...100 { filter.update(rssi: -60, at: Instant(seconds: Double(index) / 10)) }
        for index in 101...120 { filter.update(rssi: -70, at: Instant(seconds: Double(index) / 10)) }
        XCTAssertLessThan(filter.mean, -65)
    }

    func testASingleOutlierMovesTheMeanByLessThanTwoDecibels() {
        var filter = RSSIFilter(rssi: -60, at: .zero)
        for index in 1...50 { filter.update(rssi: -60, at: Instant(seconds: Double(index) / 10)) }
        filter.update(rssi: -100, at: Instant(seconds: 5.1))
        XCTAssertLessThan(filter.mean, -60, "it counts")
        XCTAssertGreaterThan(filter.mean, -62, "but little")
    }

    func testNoiseIsSmoothed() {
        let seed: UInt64 = 42
        var generator = SeededGenerator(seed: seed)
        var filter = RSSIFilter(rssi: -70, at: .zero)
        var squares = 0.0
        for index in 1...1000 {
            // A sum of twelve uniform numbers is normal with a standard deviation of 1, nearly.
            let noise = (0..<12).reduce(-6.0) { sum, _ in sum + generator.uniform() } * 5
            filter.update(rssi: -70 + noise, at: Instant(seconds: Double(index) / 10))
            squares += (filter.mean + 70) * (filter.mean + 70)
        }
        // Steady state for these settings: a gain of 0.12 leaves 5 dB · √(0.12 / 1.88) = 1.3 dB.
        XCTAssertLessThan((squares / 1000).squareRoot(), 1.8, "seed \(seed)")
    }

    func testUncertaintyGrowsInSilenceAndShrinksWithMeasurements() {
        var filter = RSSIFilter(rssi: -60, at: .zero)
        let first = filter.standardDeviation(at: .zero)
        XCTAssertGreaterThan(filter.standardDeviation(at: Instant(seconds: 3)), first)
        filter.update(rssi: -60, at: Instant(seconds: 0.1))
        XCTAssertLessThan(filter.standardDeviation(at: Instant(seconds: 0.1)), first)
    }

    func testALateMeasurementDoesNotMoveTimeBackwards() {
        var filter = RSSIFilter(rssi: -60, at: Instant(seconds: 10))
        filter.update(rssi: -62, at: Instant(seconds: 9))
        XCTAssertEqual(filter.instant, Instant(seconds: 10))
        XCTAssertLessThan(filter.mean, -60)
        XCTAssertGreaterThan(filter.mean, -62)
    }

    // MARK: - Model

    func testDistanceAndRSSIAreInverse() {
        for exponent in [1.5, 2, 3.3] {
            let model = PathLossModel(measuredPower: -59, exponent: exponent)
            for meters in [0.1, 1, 4.2, 30] {
                let distance = model.distance(rssi: model.rssi(at: meters), deviation: 1)
                XCTAssertEqual(distance.meters, meters, accuracy: 1e-9 * meters)
            }
        }
    }

    func testTwentyDecibelsAreAFactorOfTenInFreeSpace() {
        let model = PathLossModel(measuredPower: -59, exponent: 2)
        XCTAssertEqual(model.distance(rssi: -59, deviation: 0).meters, 1, accuracy: 1e-12)
        XCTAssertEqual(model.distance(rssi: -79, deviation: 0).meters, 10, accuracy: 1e-12)
    }

    func testDeviationAndAccuracyAreThoseOfTheDistancesDistribution() {
        let seed: UInt64 = 11
        var generator = SeededGenerator(seed: seed)
        let model = PathLossModel(measuredPower: -59, exponent: 2, shadowing: 3)
        let estimate = model.distance(rssi: -75, deviation: 2)
        let deviation = (3.0 * 3 + 2 * 2).squareRoot()
        let distances = (0..<100_000).map { _ in
            let normal = (0..<12).reduce(-6.0) { sum, _ in sum + generator.uniform() }
            return model.distance(rssi: -75 + normal * deviation, deviation: 0).meters
        }.sorted()
        let mean = distances.reduce(0, +) / 100_000
        let variance = distances.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 100_000
        // 100 000 samples: quantiles and moments are known to about 1 %, and the sum of 12 is a little short-tailed.
        XCTAssertEqual(estimate.meters, distances[50_000], accuracy: 0.02 * estimate.meters, "seed \(seed)")
        XCTAssertEqual(estimate.standardDeviation, variance.squareRoot(), accuracy: 0.04 * estimate.standardDeviation)
        let halfWidth = (distances[84_134] - distances[15_866]) / 2
        XCTAssertEqual(estimate.accuracy, halfWidth, accuracy: 0.02 * halfWidth)
    }

    func testAnImpossibleExponentIsClampedToItsRange() {
        XCTAssertEqual(PathLossModel(measuredPower: -59, exponent: 0, shadowing: -1).exponent, 0.5)
        XCTAssertEqual(PathLossModel(measuredPower: -59, exponent: 0, shadowing: -1).shadowing, 0)
        XCTAssertTrue(
            PathLossModel(measuredPower: 127, exponent: 0).distance(rssi: -127, deviation: 50).meters.isFinite)
    }

    // MARK: - Proximity

    func testProximityClassesHaveTheirSpecifiedLimits() {
        for (meters, proximity) in [
            (0, .immediate), (0.499, .immediate), (0.5, .near), (3, .near), (3.001, .far), (100, .far),
        ] as [(Double, Proximity)] {
            XCTAssertEqual(Proximity(meters: meters), proximity, "\(meters) m")
        }
        XCTAssertEqual(Proximity.allCases.sorted(), [.immediate, .near, .far])
    }

    func testWithoutAMeasuredPowerDistanceAndProximityAreUnknown() throws {
        var ranger = Ranger()
        ranger.observe(sighting(0, -50, power: nil))
        let estimate = try XCTUnwrap(ranger.estimate(of: beacon, at: .zero))
        XCTAssertNil(estimate.distance)
        XCTAssertNil(estimate.proximity)
        XCTAssertEqual(estimate.rssi, -50)
    }

    // MARK: - Ranger

    func testABeaconSilentForFiveSecondsIsForgotten() {
        var ranger = Ranger()
        ranger.observe(sighting(1, -70))
        XCTAssertEqual(ranger.estimates(at: Instant(seconds: 5.999)).map(\.beacon), [beacon])
        XCTAssertEqual(ranger.estimates(at: Instant(seconds: 6)), [])
        ranger.forgetSilent(at: Instant(seconds: 5.999))
        XCTAssertEqual(ranger.count, 1)
        ranger.forgetSilent(at: Instant(seconds: 6))
        XCTAssertEqual(ranger.count, 0)
    }

    func testAForgottenBeaconStartsWithANewFilter() throws {
        var ranger = Ranger()
        for index in 0..<20 { ranger.observe(sighting(Double(index) / 10, -50)) }
        ranger.observe(sighting(100, -90))
        XCTAssertEqual(try XCTUnwrap(ranger.estimate(of: beacon, at: Instant(seconds: 100))).rssi, -90)
    }

    func testAnInvalidRSSIIsIgnored() {
        var ranger = Ranger()
        for rssi in [127, 0, 5, -200, .nan] as [Double] { ranger.observe(sighting(0, rssi)) }
        XCTAssertEqual(ranger.count, 0)
    }

    func testAKnownModelHasPriorityOverTheAdvertisedPower() throws {
        var ranger = Ranger(models: [beacon: PathLossModel(measuredPower: -69, exponent: 2)])
        ranger.observe(sighting(0, -69, power: -59))
        XCTAssertEqual(
            try XCTUnwrap(ranger.estimate(of: beacon, at: .zero)?.distance).meters, 1, accuracy: 1e-12)
    }

    func testEstimatesAreOrderedByBeacon() {
        var ranger = Ranger()
        let beacons = (0..<20).map { BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: $0) }
        for beacon in beacons.reversed() { ranger.observe(Sighting(instant: .zero, beacon: beacon, rssi: -60)) }
        XCTAssertEqual(ranger.estimates(at: .zero).map(\.beacon), beacons)
    }
}
