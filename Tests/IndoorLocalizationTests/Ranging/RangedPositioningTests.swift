import IndoorLocalization
import XCTest
@testable import IndoorPositioning

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

    func testTrilaterationUsesDistances() throws {
        var settings = PositioningSettings()
        settings.method = .trilateration
        let engine = RangedHall.engine(RangedHall.readings(at: place, seconds: 3), settings: settings)
        XCTAssertLessThan(try estimate(engine).point.distance(to: place), 0.5)
    }
}

final class RangeCollectorTests: XCTestCase {
    private var collector = RangeCollector(model: RangeModel())

    private func add(_ anchor: Int, at seconds: Double) {
        let instant = Instant(seconds: seconds)
        let range = RangeReading(instant: instant, anchor: "A\(anchor)", distance: 3, technology: .uwb)
        collector.add(range, anchor: anchor)
    }

    /// The anchors whose distances the update at a time uses.
    private func anchors(at seconds: Double) -> [Int] {
        collector.drain(at: Instant(seconds: seconds))?.measured.map(\.anchor) ?? []
    }

    func testADistanceThatArrivesAfterTheUpdateOfItsInstantCountsInTheNextOne() {
        add(0, at: 0.9)
        XCTAssertEqual(anchors(at: 1), [0])
        add(1, at: 0.95)
        add(2, at: 1)
        XCTAssertEqual(anchors(at: 1.5), [1, 2])
        add(3, at: 1.2)
        XCTAssertEqual(anchors(at: 6), [], "no longer in the window")
    }

    func testADistanceCountsInOneUpdate() {
        add(0, at: 1)
        add(1, at: 1.1)
        XCTAssertEqual(anchors(at: 1), [0, 1])
        XCTAssertEqual(anchors(at: 1.5), [])
        XCTAssertEqual(collector.snapshot(at: Instant(seconds: 1.5))?.measured.map(\.anchor), [0, 1])
    }
}

final class RangeDensityTests: XCTestCase {
    private func integral(_ density: RangeDensity, over range: ClosedRange<Float>, step: Float = 0.01) -> Double {
        stride(from: range.lowerBound, to: range.upperBound, by: step).reduce(0) {
            $0 + Double(density.value(at: $1) * step)
        }
    }

    func testTheDensityIntegratesToOne() {
        for (deviation, excess) in [(0.15, 1.0), (1, 4), (0.05, 10)] {
            let density = RangeDensity(deviation: deviation, excess: excess, excessShare: 0.5)
            // The tail beyond 300 m, and the error of the logistic function.
            XCTAssertEqual(integral(density, over: -20...300), 1, accuracy: 0.05, "σ \(deviation), λ \(excess)")
        }
    }

    func testLongErrorsAreMoreProbableThanShortOnes() {
        let density = RangeDensity(deviation: 0.15, excess: 1, excessShare: 0.3)
        XCTAssertGreaterThan(density.value(at: 2), 100 * density.value(at: -2))
        XCTAssertEqual(density.value(at: 0.1), density.value(at: -0.1), accuracy: 0.2)
    }

    func testEveryErrorHasAPositiveFiniteDensity() {
        for share in [0.0, 0.3, 1] {
            let density = RangeDensity(deviation: 50, excess: 0.001, excessShare: share)
            for error in [Float(-10_000), -500, -1, 0, 1, 500, 10_000] {
                let value = density.value(at: error)
                XCTAssertTrue(value > 0 && value.isFinite, "\(value) at \(error)")
            }
        }
    }
}

final class RangedSessionTests: XCTestCase {
    private let place = MapPoint(x: 11, y: 7)
    private let other = Venue(
        id: 6, name: "yard", maps: [VenueMap(id: 9, name: "yard", level: 0, width: 20, height: 20)],
        anchors: [VenueAnchor(id: "Y1", mapID: 9, point: MapPoint(x: 1, y: 1))])

    private func outputs(_ readings: [SensorReading]) -> [SessionReplay.Output] {
        var replay = SessionReplay(
            venues: [RangedHall.venue, other], settings: LocalizationSettings(), seed: 0)
        return replay.start() + readings.flatMap { replay.handle($0) } + replay.finish()
    }

    private func states(_ outputs: [SessionReplay.Output]) -> [String] {
        outputs.compactMap { if case .state(let state) = $0.content { state.name } else { nil } }
    }

    func testDistancesAloneCarryASessionToPositions() throws {
        let outputs = outputs(RangedHall.readings(at: place, seconds: 15))
        XCTAssertEqual(
            states(outputs),
            ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning", "idle"])
        let positions = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        let last = try XCTUnwrap(positions.last)
        XCTAssertEqual(last.mapID, RangedHall.ground)
        XCTAssertLessThan(last.point.distance(to: place), 0.3)
    }

    func testDistancesKeepASessionInItsVenue() {
        let outputs = outputs(RangedHall.readings(at: place, seconds: 70))
        XCTAssertEqual(states(outputs).suffix(2), ["localizationRunning", "idle"])
        XCTAssertFalse(outputs.contains { if case .diagnosis = $0.content { true } else { false } })
    }

    func testDistancesToUnknownAnchorsAreTheDiagnosis() throws {
        let readings = (0..<20).map { second -> SensorReading in
            .range(
                RangeReading(
                    instant: Instant(seconds: Double(second)), anchor: "Z\(second % 4)", distance: 3, technology: .wifi)
            )
        }
        let diagnoses = outputs(readings).compactMap { output -> SessionDiagnosis? in
            if case .diagnosis(let diagnosis) = output.content { diagnosis } else { nil }
        }
        let diagnosis = try XCTUnwrap(diagnoses.first)
        XCTAssertEqual(diagnosis.reason, .unknownAnchors)
        XCTAssertEqual(diagnosis.unknownAnchors, ["Z0", "Z1", "Z2", "Z3"])
        XCTAssertEqual(
            diagnosis.description,
            "Distances to 4 anchors were measured, of which none belongs to a known venue: \"Z0\", \"Z1\", \"Z2\" "
                + "and 1 more.")
    }

    func testASummaryNamesTheAnchorsOfItsVenue() {
        XCTAssertEqual(
            VenueSummary(of: other).regions, [BeaconRegion(VenueAnchor(id: "Y1", mapID: 1, point: place).identity)])
    }
}

/// A hall of 30 × 20 m on two floors, with six anchors on the lower one and none on the upper one.
enum RangedHall {
    static let ground: MapID = 1
    static let upstairs: MapID = 2
    static let points = [(1.0, 1.0), (15, 0.5), (29, 1), (29, 19), (15, 19.5), (1, 19)].map { MapPoint(x: $0, y: $1) }
    static let height = 3.0

    static let venue = Venue(
        id: 5, name: "hall",
        maps: [
            VenueMap(id: ground, name: "ground", level: 0, width: 30, height: 20, elevation: 0),
            VenueMap(id: upstairs, name: "upstairs", level: 1, width: 30, height: 20, elevation: 4),
        ],
        anchors: points.enumerated().map { VenueAnchor(id: "A\($0)", mapID: ground, point: $1, z: height) })

    /// Returns the true distance in space to an anchor of a device at a height above the lower floor.
    static func distance(to anchor: Int, from point: MapPoint, height: Double = 1.2) -> Double {
        let (planar, rise) = (point.distance(to: points[anchor]), Self.height - height)
        return (planar * planar + rise * rise).squareRoot()
    }

    /// Returns distances to all anchors, one a second each, with normal noise.
    ///
    /// - Parameter excess: the excess in metres of some anchors.
    static func readings(
        at point: MapPoint, height: Double = 1.2, from start: Int = 0, seconds: Int, noise: Double = 0.05,
        offset: Double = 0, excess: [Int: Double] = [:], technology: RangeTechnology = .uwb, seed: UInt64 = 1
    ) -> [SensorReading] {
        var generator = SeededGenerator(seed: seed)
        return (start..<start + seconds).flatMap { second in
            points.indices.map { anchor in
                .range(
                    RangeReading(
                        instant: Instant(seconds: Double(second) + 0.1 * Double(anchor)), anchor: "A\(anchor)",
                        distance: distance(to: anchor, from: point, height: height) + offset
                            + excess[anchor, default: 0]
                            + noise * generator.normal(), technology: technology))
            }
        }
    }

    /// Returns an engine that has received readings, advanced once a second.
    static func engine(
        _ readings: [SensorReading], settings: PositioningSettings = PositioningSettings(), after: [SensorReading] = []
    ) -> PositioningEngine {
        var engine = PositioningEngine(venue: venue, settings: settings, seed: 3)
        var next = Instant(seconds: 1)
        for reading in readings + after {
            while reading.instant >= next {
                engine.advance(to: next)
                next = next.advanced(by: .seconds(1))
            }
            engine.observe(reading)
        }
        engine.advance(to: next)
        return engine
    }
}
