import XCTest

import IndoorLocalization
@testable import IndoorPositioning

/// A transmitter that sends the identities of several beacons with one power, more often than the beacons.
final class ImitatedBeaconTests: XCTestCase {
    /// The beacons whose identities the transmitter sends.
    private static let imitated = [2, 4, 5, 6, 7]

    /// The settings without the test of the beacons.
    private static let trusting: PositioningSettings = {
        var settings = PositioningSettings()
        settings.testedBeacons = .none
        return settings
    }()

    /// Adds ten readings of each imitated beacon with one level to each second.
    private static func imitation(rssi: Double, seed: UInt64) -> IntegrityWalk.Disturbance {
        var generator = SeededGenerator(seed: seed)
        return { beacon, honest, _, _ in
            guard imitated.contains(beacon) else { return [(beacon, honest)] }
            return [(beacon, honest)] + (0..<10).map { _ in (beacon, rssi + 2 * generator.normal()) }
        }
    }

    func testTheIdentitiesOfOneTransmitterAreNamedTogether() {
        for seed in 1...3 as ClosedRange<UInt64> {
            var (walk, trusting) = (IntegrityWalk(seed: seed), IntegrityWalk(settings: Self.trusting, seed: seed))
            walk.walk(30)
            walk.walk(60, disturbance: Self.imitation(rssi: -60, seed: seed))
            trusting.walk(30)
            trusting.walk(60, disturbance: Self.imitation(rssi: -60, seed: seed))
            XCTAssertEqual(walk.named, Set(Self.imitated.map(PositioningStage.identity)), "seed \(seed)")
            XCTAssertEqual(walk.kind(of: 5), .imitated(count: Self.imitated.count), "seed \(seed)")
            XCTAssertLessThan(walk.meanError, 0.7 * trusting.meanError, "seed \(seed)")
            XCTAssertGreaterThan(walk.isInside.count { $0 }, walk.isInside.count * 6 / 10, "seed \(seed)")
        }
    }

    func testTheIdentitiesAreNamedIfTheSessionBeginsWithThem() {
        var walk = IntegrityWalk()
        walk.walk(60, disturbance: Self.imitation(rssi: -60, seed: 1))
        XCTAssertEqual(walk.named, Set(Self.imitated.map(PositioningStage.identity)))
    }

    /// In the middle of four beacons that send ten times a second, they have one level and a rate that the others don't
    /// have. The other beacons agree with them, so none is accused.
    func testFrequentBeaconsAroundThePersonAreNotAccused() {
        let points = PositioningStage.beaconPoints
        let center = MapPoint(x: 10, y: 10)
        let corners = points.indices.sorted {
            abs(points[$0].distance(to: center) - 14) < abs(points[$1].distance(to: center) - 14)
        }.prefix(4)
        var engine = PositioningEngine(
            venue: PositioningStage.surveyedVenue, settings: IntegrityWalk.testing, seed: 1)
        var noise = SeededGenerator(seed: 4)
        for second in 1...120 {
            for (index, point) in points.enumerated() {
                for _ in 0..<(corners.contains(index) ? 10 : 1) {
                    engine.observe(
                        .sighting(
                            Sighting(
                                instant: Instant(seconds: Double(second)), beacon: PositioningStage.identity(index),
                                rssi: PositioningStage.rssi(from: point, to: center) + 2.5 * noise.normal())))
                }
            }
            engine.advance(to: Instant(seconds: Double(second)))
            XCTAssertEqual(engine.beaconFaults, [], "\(second) s")
        }
        XCTAssertLessThan(engine.estimate(on: PositioningStage.hall)?.point.distance(to: center) ?? .infinity, 1.5)
    }

    /// No other beacon can decide, but none is received so often in the survey.
    func testTheRatesOfTheSurveyShowThatAllBeaconsAreImitated() throws {
        var generator = SeededGenerator(seed: 3)
        var walk = IntegrityWalk()
        walk.walk(60) { beacon, _, _, _ in (0..<10).map { _ in (beacon, -60 + 2 * generator.normal()) } }
        XCTAssertEqual(walk.named.count, PositioningStage.beaconPoints.count)
        XCTAssertEqual(walk.kind(of: 0), .imitated(count: PositioningStage.beaconPoints.count))
        let radius = try XCTUnwrap(walk.engine.estimate(on: PositioningStage.hall)?.radius)
        XCTAssertGreaterThan(radius, 5, "nothing is known about the position")
    }

    func testTheSignatureNeedsOneLevelAndOneRate() {
        func found(
            _ counts: [Int], _ levels: [Double] = [-60, -61, -59, -60, -75, -80], surveyedRate: Double? = nil
        ) -> [Int]? {
            let heard = counts.enumerated().map { beacon, count in
                Evidence.Heard(
                    beacon: beacon, rssi: Float(levels[beacon]), variance: 1, share: 1, draws: 1, count: Float(count))
            }
            return SharedTransmitter(heard, seconds: 4) {
                levels[$0]
            } surveyedRate: { _ in
                surveyedRate
            }?.beacons
        }
        XCTAssertEqual(found([40, 41, 38, 40, 4, 5]), [0, 1, 2, 3])
        XCTAssertNil(found([40, 41, 38, 40, 4, 14]), "another beacon is as frequent")
        XCTAssertNil(found([40, 41, 38, 18, 4, 5]), "three of one rate")
        XCTAssertNil(found([40, 41, 38, 40, 4]), "one other beacon")
        XCTAssertEqual(found([40, 41, 38, 40, 4], surveyedRate: 3), [0, 1, 2, 3], "more often than in the survey")
        XCTAssertNil(found([40, 41, 38, 40, 4], surveyedRate: 3.5), "almost as often as in the survey")
        XCTAssertNil(found([40, 41, 38, 40, 4, 5], [-60, -66, -58, -62, -75, -80]), "different levels")
        XCTAssertNil(found([8, 8, 7, 8, 1, 1]), "few readings")
    }
}
