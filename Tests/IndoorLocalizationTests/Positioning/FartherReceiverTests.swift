import IndoorLocalization
import XCTest

@testable import IndoorPositioning

/// A receiver that hears farther than that of the survey is located as well as one that hears as far.
final class FartherReceiverTests: XCTestCase {
    private static let map: MapID = 1
    private static let beacons = (0..<12).map { index in
        VenueBeacon(
            identity: BeaconIdentity(uuid: BeaconUUID(high: 7, low: 7), major: 1, minor: UInt16(index)),
            mapID: map, point: MapPoint(x: 2.5 + 5 * Double(index), y: index.isMultiple(of: 2) ? 0.5 : 3.5),
            measuredPower: -60)
    }
    /// A corridor with a beacon every 5 m.
    private static let corridor = Venue(
        id: 1, name: "corridor", maps: [VenueMap(id: map, name: "corridor", level: 0, width: 60, height: 4)],
        beacons: beacons)

    /// Returns the level in dBm of a beacon at a point: path loss, and shadows of furniture.
    private static func level(of beacon: VenueBeacon, at point: MapPoint) -> Double {
        let (distance, phase) = (max(beacon.point.distance(to: point), 0.5), 2.4 * Double(beacon.identity.minor))
        return -60 - 24 * log10(distance) + 3 * sin(point.x / 3 + phase)
    }

    /// Returns the sightings of each beacon once a second during a stay, as a receiver of some sensitivity in dBm has them.
    private static func sightings(
        at point: MapPoint, seconds: ClosedRange<Int>, sensitivity: Double, using generator: inout SeededGenerator
    ) -> [Sighting] {
        seconds.flatMap { second in
            beacons.compactMap { beacon in
                let rssi = level(of: beacon, at: point) + 2.5 * generator.normal()
                let instant = Instant(seconds: Double(second) - generator.uniform())
                return rssi > sensitivity ? Sighting(instant: instant, beacon: beacon.identity, rssi: rssi) : nil
            }
        }.sorted { $0.instant < $1.instant }
    }

    /// Returns the corridor with a survey by a receiver of some sensitivity in dBm.
    private static func surveyed(sensitivity: Double) -> Venue {
        var generator = SeededGenerator(seed: 3)
        var learner = RadioMapLearner(venue: corridor)
        for (index, x) in stride(from: 1.0, to: 60, by: 1.5).enumerated() {
            let point = MapPoint(x: x, y: index.isMultiple(of: 2) ? 1 : 3)
            learner.add(
                SurveyRecording(
                    waypoints: [.init(instant: .zero, mapID: map, point: point, isHold: true)],
                    sightings: sightings(at: point, seconds: 1...6, sensitivity: sensitivity, using: &generator),
                    end: Instant(seconds: 6)))
        }
        var venue = corridor
        venue.radioMap = learner.finish()
        return venue
    }

    /// Returns the mean error in metres of stays with a receiver that hears to -95 dBm.
    ///
    /// - Parameter detectionWeight: the weight of what the receiver hears, apart from the levels.
    private static func error(in venue: Venue, detectionWeight: Double = 1) -> Double {
        var settings = PositioningSettings()
        settings.particleCount = 300
        settings.signal.detectionWeight = detectionWeight
        let field = SignalField(venue: venue, model: settings.signal)
        var (sum, generator) = (0.0, SeededGenerator(seed: 5))
        let places = stride(from: 4.0, to: 58, by: 7).map { MapPoint(x: $0, y: 2) }
        for (index, place) in places.enumerated() {
            var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: UInt64(index))
            for second in 1...8 {
                sightings(at: place, seconds: second...second, sensitivity: -95, using: &generator)
                    .forEach { engine.observe(.sighting($0)) }
                engine.advance(to: Instant(seconds: Double(second)))
            }
            sum += engine.estimate(on: map).map { $0.point.distance(to: place) } ?? 60
        }
        return sum / Double(places.count)
    }

    func testTheDetectionsOfASurveyThatHeardLessFarDoNoHarm() throws {
        for sensitivity in [-84.0, -79] {
            let venue = Self.surveyed(sensitivity: sensitivity)
            let (error, without) = (Self.error(in: venue), Self.error(in: venue, detectionWeight: 0))
            XCTAssertLessThan(error, 1.15 * without, "\(sensitivity) dBm")
        }
    }

    func testTheLimitSeparatesTheLevelsThatTheSurveyReceived() throws {
        let limit = try XCTUnwrap(HearingLimit(of: Self.surveyed(sensitivity: -79).radioMap))
        XCTAssertGreaterThan(limit.share(ofLevel: -65), 0.97)
        XCTAssertEqual(limit.share(ofLevel: -78), 0.5, accuracy: 0.2)
        XCTAssertLessThan(limit.share(ofLevel: -95), 0.01)
        // A level that isn't a number of a receiver must not end the session.
        XCTAssertEqual(limit.share(ofLevel: -.infinity), 0, accuracy: 1e-12)
        XCTAssertEqual(limit.share(ofLevel: .infinity), 1, accuracy: 1e-12)
    }

    func testAFewReadingsAreNoLimit() {
        var map = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
        XCTAssertNil(HearingLimit(of: map))
        let readings = (0..<19).map { RadioMap.Reading(beacon: $0, rssi: -70, count: 1, weight: 0) }
        map.fingerprints = [
            RadioMap.Fingerprint(mapID: Self.map, point: MapPoint(x: 1, y: 1), duration: 1, readings: readings)
        ]
        XCTAssertNil(HearingLimit(of: map))
        XCTAssertNil(HearingLimit(of: nil))
    }
}
