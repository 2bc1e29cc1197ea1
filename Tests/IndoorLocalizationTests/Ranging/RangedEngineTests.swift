import IndoorLocalization
import XCTest

final class RangedEngineTests: XCTestCase {
    private let place = MapPoint(x: 11, y: 7)

    private func estimate(_ engine: PositioningEngine, on map: MapID = RangedHall.ground) throws
        -> PositioningEngine.Estimate
    {
        try XCTUnwrap(engine.estimate(on: map))
    }

    func testDistancesAloneLocateADevice() throws {
        let rest = (1...19).map { second -> SensorReading in
            .motion(
                MotionSample(
                    instant: Instant(seconds: Double(second) / 2), acceleration: Vector3(x: 0, y: 0, z: 9.80665)))
        }
        let readings = (RangedHall.readings(at: place, seconds: 10) + rest).sorted { $0.instant < $1.instant }
        let found = try estimate(RangedHall.engine(readings))
        XCTAssertLessThan(found.point.distance(to: place), 0.25)
        XCTAssertLessThan(found.radius, 0.8, "the least radius of beacons")
        XCTAssertGreaterThanOrEqual(found.radius, 0.3)
    }

    func testReflectedDistancesToTwoOfSixAnchorsMoveThePositionByDecimetres() throws {
        let readings = RangedHall.readings(at: place, seconds: 5, excess: [0: 6, 3: 4])
        XCTAssertLessThan(try estimate(RangedHall.engine(readings)).point.distance(to: place), 0.4)
    }

    func testAWrongBeginningDoesNotLast() throws {
        // At first, only the reflections of three anchors arrive, which fit another place.
        let other = MapPoint(x: 25, y: 14)
        let wrong = RangedHall.readings(at: other, seconds: 3)
        let engine = RangedHall.engine(wrong, after: RangedHall.readings(at: place, from: 3, seconds: 15))
        XCTAssertLessThan(try estimate(engine).point.distance(to: place), 0.4)
    }

    func testACommonOffsetOfAllDistancesIsEstimated() throws {
        let readings = RangedHall.readings(at: place, seconds: 5, offset: 2, technology: .ble)
        XCTAssertLessThan(try estimate(RangedHall.engine(readings)).point.distance(to: place), 0.6)
    }

    func testTheHeightOfTheDeviceIsEstimated() {
        let near = MapPoint(x: 3, y: 4)
        XCTAssertEqual(RangedHall.engine([]).deviceHeight.value, 1.2)
        let high = RangedHall.engine(RangedHall.readings(at: near, height: 3, seconds: 20)).deviceHeight.value
        let low = RangedHall.engine(RangedHall.readings(at: near, height: 0.5, seconds: 20)).deviceHeight.value
        XCTAssertGreaterThan(high, 1.8, "the prior is 1.2 ± 1 m, and the device is at 3 m")
        XCTAssertLessThan(low, 1)
    }

    func testDistancesDetermineTheFloor() throws {
        let below = RangedHall.engine(RangedHall.readings(at: place, seconds: 10)).mapProbabilities
        XCTAssertGreaterThan(try XCTUnwrap(below[RangedHall.ground]), 0.9)
    }

    func testDistancesToUnknownAnchorsAreIgnored() {
        let range = RangeReading(instant: .zero, anchor: "B1", distance: 3, technology: .uwb)
        XCTAssertNil(RangedHall.engine([.range(range)]).estimate(on: RangedHall.ground))
    }

    func testAnInvalidDistanceIsIgnored() throws {
        let bad = [Double.nan, .infinity, 1e9].map {
            SensorReading.range(RangeReading(instant: .zero, anchor: "A0", distance: $0, technology: .uwb))
        }
        let readings = RangedHall.readings(at: place, seconds: 3)
        XCTAssertEqual(
            try estimate(RangedHall.engine(bad + readings)), try estimate(RangedHall.engine(readings)))
    }

    func testTheSameDistancesAndSeedGiveTheSameEstimate() throws {
        let readings = RangedHall.readings(at: place, seconds: 4)
        XCTAssertEqual(try estimate(RangedHall.engine(readings)), try estimate(RangedHall.engine(readings)))
    }

    func testTheRadiusGrowsWithoutDistances() throws {
        let readings = RangedHall.readings(at: place, seconds: 5)
        var engine = RangedHall.engine(readings)
        let before = try estimate(engine).radius
        for second in 6...20 { engine.advance(to: Instant(seconds: Double(second))) }
        XCTAssertGreaterThan(try estimate(engine).radius, 2 * before)
    }

    func testTheMethodWithoutMemoryUsesDistances() throws {
        var settings = PositioningSettings()
        settings.method = .fingerprint
        let engine = RangedHall.engine(RangedHall.readings(at: place, seconds: 3), settings: settings)
        XCTAssertLessThan(try estimate(engine).point.distance(to: place), 0.5)
    }
}
