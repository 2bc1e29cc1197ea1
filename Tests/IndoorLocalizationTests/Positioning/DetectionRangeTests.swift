import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// How often beacons are heard, learned by the RSSI that path loss expects.
final class DetectionCurveTests: XCTestCase {
    func testTheRateIsDetectionsBySecondsOfListening() {
        var curve = DetectionCurve()
        curve.add(detections: 6, seconds: 3, rssi: -60)
        curve.add(detections: 1, seconds: 10, rssi: -90)
        curve.finish(floor: 0.003)
        XCTAssertEqual(curve.rate(rssi: -60), 2, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: -90), 0.1, accuracy: 1e-12)
    }

    func testTheCurveNeverFallsAsTheLevelRises() {
        var curve = DetectionCurve()
        // By chance more was heard at -80 than at -70 dBm: both are one pool.
        curve.add(detections: 8, seconds: 10, rssi: -80)
        curve.add(detections: 2, seconds: 10, rssi: -70)
        curve.add(detections: 20, seconds: 10, rssi: -60)
        curve.finish(floor: 0.003)
        XCTAssertEqual(curve.rate(rssi: -80), 0.5, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: -70), 0.5, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: -60), 2, accuracy: 1e-12)
    }

    func testLevelsWithoutListeningHaveTheRateOfTheLevelBelow() {
        var curve = DetectionCurve()
        curve.add(detections: 5, seconds: 10, rssi: -80)
        curve.finish(floor: 0.003)
        XCTAssertEqual(curve.rate(rssi: -40), 0.5, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: .infinity), 0.5, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: -100), 0.003, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: -.infinity), 0.003, accuracy: 1e-12)
        XCTAssertEqual(curve.rate(rssi: .nan), 0.003, accuracy: 1e-12)
    }

    func testTheFaintestLevelIsTheFirstAboveARate() throws {
        var curve = DetectionCurve()
        curve.add(detections: 0, seconds: 10, rssi: -100)
        curve.add(detections: 5, seconds: 10, rssi: -80)
        curve.finish(floor: 0.003)
        XCTAssertEqual(try XCTUnwrap(curve.faintest(above: 0.01)), -80, accuracy: 2)
        XCTAssertNil(curve.faintest(above: 0.6))
    }

    func testASilentPlaceCountsAsListening() {
        let beacon = RadioMap.Beacon(
            identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 1), mapID: MapID(rawValue: 1),
            point: MapPoint(x: 0, y: 0), power: -60)
        let places = [[RadioMap.Reading(beacon: 0, rssi: -60, count: 4)], []].map { readings in
            RadioMap.Fingerprint(
                mapID: MapID(rawValue: 1), point: MapPoint(x: 1, y: 0), duration: 2, readings: readings)
        }
        let model = SignalModel()
        let curve = DetectionCurve(of: [beacon], places, exponents: [2], model: model)
        XCTAssertEqual(curve.rate(rssi: -60), 1, accuracy: 1e-12, "4 detections in 2 + 2 s")
    }

    func testOutsideTheSurveyTheRateFollowsPathLoss() throws {
        let map = MapID(rawValue: 1)
        let beacons = [5.0, 45].enumerated().map { index, x in
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16(index)), mapID: map,
                point: MapPoint(x: x, y: 5), measuredPower: -60)
        }
        // Surveyed in the left half alone: the near beacon is heard all the time, the far one at times.
        let places = stride(from: 1.0, through: 25, by: 1).enumerated().map { index, x in
            let far = index.isMultiple(of: 5) ? [RadioMap.Reading(beacon: 1, rssi: -92, count: 1)] : []
            return RadioMap.Fingerprint(
                mapID: map, point: MapPoint(x: x, y: 5), duration: 2,
                readings: [RadioMap.Reading(beacon: 0, rssi: -60 - x, count: 4)] + far)
        }
        let radioMap = RadioMap(
            beacons: beacons.map {
                RadioMap.Beacon(identity: $0.identity, mapID: map, point: $0.point, power: -60)
            }, fingerprints: places, pathLossExponent: 2)
        let venue = Venue(
            id: VenueID(rawValue: 1), name: "hall",
            maps: [VenueMap(id: map, name: "0", level: 0, width: 50, height: 10)],
            beacons: beacons, radioMap: radioMap)
        let field = SignalField(venue: venue).maps[0]
        let table = try XCTUnwrap(field.tables[1])
        func rate(_ x: Double) throws -> Float {
            let cell = try XCTUnwrap(field.grid.cell(at: MapPoint(x: x, y: 5)))
            let (row, column) = cell.quotientAndRemainder(
                dividingBy: field.grid.columns)
            return table.logRate[try XCTUnwrap(table.index(column: column, row: row))]
        }
        XCTAssertGreaterThan(try rate(44), try rate(10) + 1, "at the beacon's foot it is heard, surveyed or not")
        XCTAssertGreaterThan(try rate(44), Float(-1), "as often as the near one where that was surveyed")
    }

    func testEachPairOfAPlaceAndABeaconContributesAtItsPredictedLevel() {
        var generator = SeededGenerator(seed: 8)
        let map = MapID(rawValue: 1)
        let model = SignalModel()
        let beacons = (0..<30).map { index in
            RadioMap.Beacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: UInt16(index)), mapID: map,
                point: MapPoint(x: 60 * generator.uniform(), y: 60 * generator.uniform()),
                power: -70 + 20 * generator.uniform())
        }
        let exponents = beacons.map { _ in 1.5 + 2 * generator.uniform() }
        let places = (0..<40).map { _ in
            let heard = (0..<30).filter { _ in generator.uniform() < 0.4 }
            return RadioMap.Fingerprint(
                mapID: map, point: MapPoint(x: 60 * generator.uniform(), y: 60 * generator.uniform()), duration: 3,
                readings: heard.map {
                    RadioMap.Reading(beacon: $0, rssi: -80, count: 1 + Int(5 * generator.uniform()))
                })
        }
        let curve = DetectionCurve(of: beacons, places, exponents: exponents, model: model)
        var expected = DetectionCurve()
        for place in places {
            for (index, beacon) in beacons.enumerated() {
                let count = place.readings.first { $0.beacon == index }?.count ?? 0
                expected.add(
                    detections: Double(count), seconds: 3,
                    rssi: model.expectedRSSI(of: beacon, exponent: exponents[index], at: place.point))
            }
        }
        expected.finish(floor: model.unheardRate(of: beacons.count))
        for rssi in -130...(-20) {
            XCTAssertEqual(
                curve.rate(rssi: Double(rssi)), expected.rate(rssi: Double(rssi)), accuracy: 1e-9, "\(rssi) dBm")
        }
    }
}

final class DetectionRangeTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testDensePlacesWithSharpRatesGiveAShortLength() throws {
        // Rooms of 2 m along a corridor, each with a beacon that nobody hears outside; four points in each.
        let beacons = (0..<10).map { Self.beacon($0, at: MapPoint(x: 2 * Double($0) + 1, y: 5)) }
        let places = (0..<40).map { index in
            let x = 0.5 * Double(index) + 0.25
            return Self.place(MapPoint(x: x, y: 5), heard: [(Int(x / 2), 8)])
        }
        let length = try XCTUnwrap(Self.best(beacons, places, recordings: Array(places.indices))).length
        XCTAssertLessThanOrEqual(length, 1)
    }

    func testSparseWalksWithSmoothRatesGiveALongLength() throws {
        // Four walks along 120 m with faint beacons, each heard for tens of metres but seldom: about two at a place.
        let seed: UInt64 = 5
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let beacons = (0..<30).map { Self.beacon($0, at: MapPoint(x: 4 * Double($0), y: 5)) }
        var (places, recordings): ([RadioMap.Fingerprint], [Int]) = ([], [])
        for walk in 0..<4 {
            for step in 0..<40 {
                let point = MapPoint(x: 3 * Double(step) + 0.7 * Double(walk), y: 5)
                let heard = beacons.indices.filter { beacon in
                    let distance = beacons[beacon].point.distance(to: point)
                    return generator.uniform() < 0.3 * exp(-distance * distance / 200)
                }
                places.append(Self.place(point, duration: 2, heard: heard.map { ($0, 1) }))
                recordings.append(walk)
            }
        }
        let length = try XCTUnwrap(Self.best(beacons, places, recordings: recordings)).length
        XCTAssertGreaterThanOrEqual(length, 4)
    }

    func testMissingDetectionsNearBeaconsGivePathLossLittleWeight() throws {
        // Pairs of beacons on two sides of a wall: a place hears the one of its own side alone, as loud as the other.
        let places = (0..<80).map { index in
            Self.place(MapPoint(x: 1.5 * Double(index), y: 5), heard: [(index / 2 % 2, 8)])
        }
        let beacons = [Self.beacon(0, at: MapPoint(x: 60, y: 5)), Self.beacon(1, at: MapPoint(x: 60, y: 5))]
        let best = try XCTUnwrap(Self.best(beacons, places + places, recordings: Array(0..<160).map { $0 / 80 }))
        XCTAssertEqual(best.priorDetections, DetectionRange.priors[0])
    }

    func testASparseSurveyGivesPathLossWeight() throws {
        // Two walks that pass half the places each; what is heard falls with distance, as path loss expects.
        let seed: UInt64 = 9
        var generator = SeededGenerator(seed: seed)
        let beacons = (0..<15).map { Self.beacon($0, at: MapPoint(x: 8 * Double($0), y: 5)) }
        let places = (0..<60).map { step in
            let point = MapPoint(x: 2 * Double(step), y: 5)
            let heard = beacons.indices.filter { beacon in
                let distance = beacons[beacon].point.distance(to: point)
                return generator.uniform() < 0.5 * exp(-distance * distance / 100)
            }
            return Self.place(point, duration: 2, heard: heard.map { ($0, 1) })
        }
        let best = try XCTUnwrap(Self.best(beacons, places, recordings: places.indices.map { $0 / 4 }))
        XCTAssertGreaterThanOrEqual(best.priorDetections, 0.1, "seed \(seed)")
    }

    func testOneWalkGivesNoResult() {
        let places = (0..<20).map { Self.place(MapPoint(x: Double($0), y: 5), heard: [(0, 3)]) }
        let beacons = [Self.beacon(0, at: MapPoint(x: 5, y: 5))]
        XCTAssertNil(Self.best(beacons, places, recordings: places.map { _ in 0 }))
        XCTAssertNotNil(Self.best(beacons, places, recordings: places.indices.map { $0 % 2 }))
    }

    func testPlacesFarFromEachOtherGiveNoResult() {
        let beacons = [Self.beacon(0, at: MapPoint(x: 5, y: 5))]
        for (gap, tells) in [(25.0, false), (23.0, true)] {
            let places = (0..<4).map { Self.place(MapPoint(x: gap * Double($0), y: 5), heard: [(0, 3)]) }
            XCTAssertEqual(Self.best(beacons, places, recordings: [0, 1, 2, 3]) != nil, tells, "\(gap) m")
        }
    }

    func testPlacesWithoutDetectionsGiveNoResult() {
        let places = (0..<20).map { Self.place(MapPoint(x: Double($0), y: 5), heard: []) }
        let beacons = [Self.beacon(0, at: MapPoint(x: 5, y: 5))]
        XCTAssertNil(Self.best(beacons, places, recordings: Array(places.indices)))
    }

    func testAnEmptySurveyGivesNoResult() {
        XCTAssertNil(Self.best([Self.beacon(0, at: MapPoint(x: 5, y: 5))], [], recordings: []))
    }

    private static func best(
        _ beacons: [RadioMap.Beacon], _ places: [RadioMap.Fingerprint], recordings: [Int]
    ) -> DetectionRange.Best? {
        DetectionRange(
            model: SignalModel(), beacons: beacons, exponent: 2, floorDistance: FloorDistance([Stage.map(width: 120)]),
            places: SurveyedPlaces(places, recordings: recordings)
        ).best()
    }

    private static func beacon(_ index: Int, at point: MapPoint) -> RadioMap.Beacon {
        RadioMap.Beacon(identity: Stage.identity(index), mapID: Stage.hall, point: point, power: -60)
    }

    /// A place that heard each of those beacons so many times.
    private static func place(
        _ point: MapPoint, duration: Double = 4, heard: [(beacon: Int, count: Int)]
    ) -> RadioMap.Fingerprint {
        RadioMap.Fingerprint(
            mapID: Stage.hall, point: point, duration: duration,
            readings: heard.map { RadioMap.Reading(beacon: $0.beacon, rssi: -70, count: $0.count) })
    }
}
