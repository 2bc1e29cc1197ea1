import XCTest

@testable import IndoorPositioning
import IndoorLocalization

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
