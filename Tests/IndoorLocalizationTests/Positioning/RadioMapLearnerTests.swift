import IndoorLocalization
import XCTest
@testable import IndoorPositioning

final class RadioMapLearnerTests: XCTestCase {
    private typealias Stage = PositioningStage
    private static let powers = [-60.0, -57, -63, -66, -59, -70, -61, -64]

    func testTheLearnerEstimatesTheExponent() throws {
        for exponent in [1.6, 2.2, 3] {
            let recording = Stage.survey(exponent: exponent, noise: 2, seed: 1)
            let map = try XCTUnwrap(Self.learn([recording]))
            XCTAssertEqual(map.pathLossExponent, exponent, accuracy: 0.2)
        }
    }

    func testTheLearnerEstimatesEachBeaconsPower() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(powers: Self.powers, noise: 2, seed: 2)]))
        for (index, beacon) in map.beacons.enumerated() {
            XCTAssertEqual(beacon.power, Self.powers[index], accuracy: 1.5, "beacon \(index)")
        }
    }

    func testThePowerOfABeaconDetectedOnceIsShrunkTowardTheMean() throws {
        var recording = Stage.survey(powers: [-60, -60, -60, -60, -60, -60, -60, -40], noise: 0, seed: 2)
        recording.sightings.removeAll { $0.beacon == Stage.identity(7) && $0.instant > Instant(seconds: 4) }
        let map = try XCTUnwrap(Self.learn([recording]))
        // Half its own -40, half the others' -60.
        XCTAssertEqual(map.beacons[7].power, -50, accuracy: 0.5)
    }

    func testAKnownBeaconKeepsThePositionOfThePacket() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 2, seed: 2)]))
        XCTAssertEqual(map.beacons.map(\.point), Stage.beaconPoints)
    }

    func testAReceiverThatHearsTheTagOfASurveyKeepsThePositionOfThePacket() throws {
        var venue = Stage.venue
        venue.receivers = venue.beacons.map { beacon in
            VenueReceiver(
                id: "\(beacon.identity.minor)", identity: beacon.identity, mapID: beacon.mapID, point: beacon.point,
                measuredPower: beacon.measuredPower)
        }
        venue.beacons = []
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 2, seed: 2)], venue: venue))
        XCTAssertEqual(map.beacons.map(\.point), Stage.beaconPoints)
    }

    func testTheLearnerLocatesAnUnknownBeaconWithinTwoMetres() throws {
        let places = [MapPoint(x: 10, y: 10), MapPoint(x: 8, y: 12), MapPoint(x: 11, y: 7)]
        var venue = Stage.venue
        venue.beacons = []
        let map = try XCTUnwrap(Self.learn([Stage.survey(of: places, noise: 2, seed: 3)], venue: venue))
        for (beacon, place) in zip(map.beacons, places) {
            XCTAssertLessThan(beacon.point.distance(to: place), 2, "\(beacon.point) instead of \(place)")
        }
    }

    func testTheLearnerAssignsAnUnknownBeaconToTheMapOfItsStrongestReadings() throws {
        var venue = Stage.twoFloors
        venue.beacons = []
        var upstairs = Stage.survey(of: [MapPoint(x: 10, y: 10)], on: Stage.gallery, noise: 1, seed: 4)
        upstairs.sightings = upstairs.sightings.map {
            var sighting = $0
            sighting.rssi += 15
            return sighting
        }
        let below = Stage.survey(of: [MapPoint(x: 10, y: 10)], noise: 1, seed: 5)
        let map = try XCTUnwrap(Self.learn([below, upstairs], venue: venue))
        XCTAssertEqual(map.beacons.map(\.mapID), [Stage.gallery])
    }

    func testWithoutPlacesTheLearnerReturnsNoMap() {
        var recording = Stage.survey(noise: 2, seed: 6)
        recording.waypoints = []
        XCTAssertNil(Self.learn([recording]))
        XCTAssertNil(Self.learn([]))
    }

    func testWithoutDetectionsTheLearnerReturnsNoMap() {
        var recording = Stage.survey(noise: 2, seed: 6)
        recording.sightings = []
        XCTAssertNil(Self.learn([recording]))
    }

    func testEqualRecordingsGiveEqualMaps() {
        let recording = Stage.survey(noise: 2, seed: 7)
        XCTAssertEqual(Self.learn([recording]), Self.learn([recording]))
    }

    func testTheLearnerIgnoresPlacesOnUnknownMaps() {
        let known = Stage.survey(noise: 2, seed: 8)
        let unknown = Stage.survey(on: 99, noise: 2, seed: 9)
        XCTAssertEqual(Self.learn([known, unknown]), Self.learn([known]))
    }

    func testEveryPlaceKeepsItsReadings() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 0, seed: 1)]))
        XCTAssertEqual(map.fingerprints.count, 100)
        for place in map.fingerprints {
            XCTAssertEqual(place.readings.map(\.beacon), Array(0..<8))
            for reading in place.readings {
                XCTAssertEqual(reading.count, 4)
                let expected = Stage.rssi(from: Stage.beaconPoints[reading.beacon], to: place.point)
                XCTAssertEqual(reading.rssi, expected, accuracy: 1e-9)
            }
        }
    }

    func testExactPathLossLeavesNoShadowing() throws {
        let map = try XCTUnwrap(Self.learn([Stage.survey(noise: 0, seed: 1)]))
        XCTAssertEqual(map.pathLossExponent, Stage.exponent, accuracy: 0.01)
        for place in map.fingerprints {
            for reading in place.readings { XCTAssertEqual(reading.weight, 0, accuracy: 0.05) }
        }
    }

    func testTheReadingDeviationGrowsWithTheNoise() throws {
        let quiet = try XCTUnwrap(Self.learn([Stage.survey(noise: 3, seed: 10)])?.readingDeviation)
        let noisy = try XCTUnwrap(Self.learn([Stage.survey(noise: 12, seed: 10)])?.readingDeviation)
        XCTAssertGreaterThan(noisy, quiet + 1)
    }

    func testTheLearnerEstimatesTheSurveyorsBodyShadowing() throws {
        for (amplitude, range) in [(0.0, 0.0...1.2), (6, 2.5...5.5)] {
            var recording = Stage.survey(noise: 1, seed: 12)
            var generator = SeededGenerator(seed: 12)
            let facing = recording.waypoints.map { _ in 2 * Double.pi * generator.uniform() }
            recording.sightings = recording.sightings.map { sighting in
                let place = Int(sighting.instant.seconds / 4)
                let way = Stage.beaconPoints[Int(sighting.beacon.minor)] - recording.waypoints[place].point
                let distance = MapPoint(x: 0, y: 0).distance(to: way)
                var shadowed = sighting
                shadowed.rssi += amplitude * (cos(facing[place]) * way.x + sin(facing[place]) * way.y) / distance
                return shadowed
            }
            // 6 dB in a direction of its own at each place: 6/√2 dB along each axis.
            let deviation = try XCTUnwrap(Self.learn([recording])?.fit.bodyDeviation)
            XCTAssertTrue(range.contains(deviation), "\(deviation) dB of \(amplitude), seed 12")
        }
    }

    func testTooFewReadingsGiveNoReadingDeviation() throws {
        var recording = Stage.survey(of: [MapPoint(x: 10, y: 10)], noise: 2, seed: 1)
        recording.waypoints = Array(recording.waypoints.prefix(20))
        recording.sightings = Array(recording.sightings.prefix(80))
        XCTAssertNil(try XCTUnwrap(Self.learn([recording])).readingDeviation)
    }

    private static func learn(_ recordings: [SurveyRecording], venue: Venue = Stage.venue) -> RadioMap? {
        var learner = RadioMapLearner(venue: venue)
        for recording in recordings { learner.add(recording) }
        return learner.finish()
    }
}

final class FingerprintCutterTests: XCTestCase {
    private let cutter = FingerprintCutter()

    func testAStayLastsUntilTheNextWaypoint() {
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1), hold(at: 10, x: 5)], end: 12))
        expectClose(pieces.first?.duration, 10, within: 1e-9)
    }

    func testTheLastStayLastsUntilTheRecordingsEnd() {
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1), hold(at: 10, x: 5)], end: 17))
        expectClose(pieces.last?.duration, 7, within: 1e-9)
    }

    func testAStayOfZeroLengthHasTheMinimumDuration() {
        let pieces = cutter.pieces(of: recording([hold(at: 3, x: 1)], end: 3))
        XCTAssertEqual(pieces.map(\.duration), [cutter.shortestStay])
    }

    func testAStayContainsOnlyItsOwnSightings() {
        let heard = [heard(at: 1, -50), heard(at: 9, -60), heard(at: 11, -90)]
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1), hold(at: 10, x: 5)], heard, end: 12))
        let reading = pieces.first?.readings[PositioningStage.identity(0)]
        XCTAssertEqual(reading?.count, 2)
        expectClose(reading?.sum, -110, within: 1e-9)
    }

    func testAStayWhosePlaceWasLeftHasNoReadingsOfElsewhere() {
        var left = hold(at: 0, x: 1)
        left.leftAt = Instant(seconds: 4)
        let levels = [heard(at: 1, -50), heard(at: 5, -90), heard(at: 11, -55), heard(at: 15, -90)]
        var last = hold(at: 10, x: 5)
        last.leftAt = Instant(seconds: 12)
        let pieces = cutter.pieces(of: recording([left, last], levels, end: 20))
        XCTAssertEqual(pieces.map(\.duration), [4, 2])
        XCTAssertEqual(pieces.map { $0.readings[PositioningStage.identity(0)]?.sum }, [-50, -55])
    }

    func testTheCutterOmitsASightingWithoutRSSI() {
        let heard = [heard(at: 1, 127), heard(at: 2, .nan), heard(at: 3, -70)]
        let pieces = cutter.pieces(of: recording([hold(at: 0, x: 1)], heard, end: 5))
        XCTAssertEqual(pieces.first?.readings[PositioningStage.identity(0)]?.count, 1)
    }

    func testAnInterruptionOfYearsEndsAWalk() {
        let points = [walk(at: 0, x: 0), walk(at: 4, x: 4), walk(at: 1e9, x: 8), walk(at: 1e9 + 4, x: 12)]
        XCTAssertEqual(cutter.pieces(of: recording(points)).map(\.duration), [2, 2, 2, 2])
    }

    func testAWalkIsCutIntoPiecesOfTwoSeconds() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), walk(at: 10, x: 10)]))
        XCTAssertEqual(pieces.map(\.duration), [2, 2, 2, 2, 2])
    }

    func testAPieceOfAWalkLiesWhereTheWalkerWasInItsMiddle() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), walk(at: 10, x: 10)]))
        XCTAssertEqual(pieces.map { ($0.point.x * 1000).rounded() / 1000 }, [1, 3, 5, 7, 9])
    }

    func testTheCutterOmitsARemainderShorterThanHalfAPiece() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), walk(at: 4.9, x: 10)]))
        XCTAssertEqual(pieces.count, 2)
    }

    func testTheCutterOmitsAPieceBetweenTwoMaps() {
        let points = [
            walk(at: 0, x: 0), walk(at: 4, x: 4), walk(at: 8, x: 4, on: PositioningStage.gallery),
            walk(at: 12, x: 8, on: PositioningStage.gallery),
        ]
        let pieces = cutter.pieces(of: recording(points))
        XCTAssertEqual(pieces.map(\.mapID), [1, 1, 2, 2])
        XCTAssertEqual(pieces.map { ($0.point.x * 1000).rounded() / 1000 }, [1, 3, 5, 7])
    }

    func testAWalkThatEndsInAStayLeadsToItsPlace() {
        let pieces = cutter.pieces(of: recording([walk(at: 0, x: 0), hold(at: 4, x: 8)], end: 10))
        let places = Set(pieces.map { ($0.point.x * 1000).rounded() / 1000 })
        XCTAssertEqual(places, [2, 6, 8])
    }

    func testAStayContainsNoPiecesOfAWalk() {
        let points = [walk(at: 0, x: 0), hold(at: 4, x: 4), walk(at: 10, x: 4), walk(at: 14, x: 8)]
        let pieces = cutter.pieces(of: recording(points))
        XCTAssertEqual(pieces.map { ($0.point.x * 1000).rounded() / 1000 }.sorted(), [1, 3, 4, 5, 7])
    }

    func testARecordingWithoutWaypointsHasNoPieces() {
        XCTAssertTrue(cutter.pieces(of: recording([], [heard(at: 1, -50)])).isEmpty)
    }

    func testASingleWaypointGivesNoPiece() {
        XCTAssertTrue(cutter.pieces(of: recording([walk(at: 1, x: 2)], [heard(at: 1, -50)], end: 9)).isEmpty)
    }

    private func hold(at seconds: Double, x: Double) -> SurveyRecording.Waypoint {
        SurveyRecording.Waypoint(
            instant: Instant(seconds: seconds), mapID: PositioningStage.hall, point: MapPoint(x: x, y: 0), isHold: true)
    }

    private func walk(
        at seconds: Double, x: Double, on map: MapID = PositioningStage.hall
    ) -> SurveyRecording.Waypoint {
        SurveyRecording.Waypoint(
            instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: 0), isHold: false)
    }

    private func heard(at seconds: Double, _ rssi: Double) -> Sighting {
        Sighting(instant: Instant(seconds: seconds), beacon: PositioningStage.identity(0), rssi: rssi)
    }

    private func recording(
        _ points: [SurveyRecording.Waypoint], _ sightings: [Sighting] = [], end: Double? = nil
    ) -> SurveyRecording {
        SurveyRecording(waypoints: points, sightings: sightings, end: end.map { Instant(seconds: $0) })
    }
}

final class SurveyedPlacesTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testOnlyOtherWalksPredictAPlaceOfAWalk() {
        let places = places([(0, 1), (0, 2), (1, 1), (1, 30)])
        XCTAssertFalse(places.isApart(0, from: 0))
        XCTAssertFalse(places.isApart(1, from: 0))
        XCTAssertTrue(places.isApart(2, from: 0), "the same point, but of another walk")
        XCTAssertTrue(places.isApart(3, from: 0))
    }

    func testOnlyStaysAtOtherPointsPredictASingleStay() {
        let places = places([(0, 1), (1, 1), (2, 1.005), (3, 1.5)])
        XCTAssertFalse(places.isApart(0, from: 0))
        XCTAssertFalse(places.isApart(1, from: 0), "another stay at the same point")
        XCTAssertFalse(places.isApart(2, from: 0), "half a centimetre beside it")
        XCTAssertTrue(places.isApart(3, from: 0))
    }

    func testAWalkPredictsASingleStay() {
        let places = places([(0, 1), (1, 1), (1, 2)])
        XCTAssertTrue(places.isApart(2, from: 0))
        XCTAssertTrue(places.isApart(0, from: 2))
    }

    func testPlacesOfOtherMapsPredictNothing() {
        var places = places([(0, 1), (0, 2), (1, 3), (1, 4)])
        places.fingerprints[2].mapID = Stage.gallery
        XCTAssertFalse(places.isApart(2, from: 0))
        XCTAssertFalse(places.isApart(0, from: 2))
        XCTAssertTrue(places.isApart(3, from: 0))
    }

    func testTheShareOfSinglesCountsRecordingsThatHaveAPlace() {
        XCTAssertEqual(places([(0, 1), (1, 2), (1, 3)]).shareOfSingles, 0.5)
        XCTAssertEqual(places([(0, 1), (1, 2)]).shareOfSingles, 1)
        XCTAssertEqual(places([(0, 1), (0, 2)]).shareOfSingles, 0)
        // Recordings 0 and 2 have none.
        XCTAssertEqual(places([(1, 1), (3, 2), (3, 3)]).shareOfSingles, 0.5)
        XCTAssertEqual(places([]).shareOfSingles, 0)
    }

    func testASampleWithinTheLimitContainsAllPlaces() {
        XCTAssertEqual(Array(places((0..<7).map { (0, Double($0)) }).sample(7)), Array(0..<7))
        XCTAssertEqual(Array(places([]).sample(7)), [])
    }

    func testALargerSampleIsEvenlySpread() {
        let thirty = places((0..<30).map { (0, Double($0)) })
        XCTAssertEqual(Array(thirty.sample(10)), [0, 3, 6, 9, 12, 15, 18, 21, 24, 27])
        for count in 1...100 {
            let sample = Array(places((0..<count).map { (0, Double($0)) }).sample(10))
            XCTAssertLessThan(sample.count, 20, "of \(count)")
            XCTAssertGreaterThanOrEqual(sample.count, min(count, 10), "of \(count)")
        }
    }

    /// Places along a line, each of a recording and at a distance.
    private func places(_ entries: [(recording: Int, x: Double)]) -> SurveyedPlaces {
        SurveyedPlaces(
            entries.map {
                RadioMap.Fingerprint(mapID: Stage.hall, point: MapPoint(x: $0.x, y: 5), duration: 2, readings: [])
            }, recordings: entries.map(\.recording))
    }
}

/// What a survey of few recordings is trusted with.
final class ThinSurveyTests: XCTestCase {
    private typealias Stage = PositioningStage

    func testTheCoverageGrowsWithTheNumberOfAgreeingRecordings() {
        let coverages = (1...4).map { count in
            Self.places((0..<count).flatMap { walk in (0..<10).map { (walk, Double($0)) } }).coverage(length: 8)
        }
        XCTAssertEqual(coverages[0], 0, "a single walk tells nothing of where the next one goes")
        for (fewer, more) in zip(coverages, coverages.dropFirst()) { XCTAssertLessThan(fewer, more) }
        // All near each other: Laplace's rule of succession.
        XCTAssertEqual(coverages[3], 4.0 / 5, accuracy: 0.01)
    }

    func testWalksFarFromEachOtherHaveNoCoverage() {
        let places = Self.places((0..<10).map { (0, Double($0)) } + (0..<10).map { (1, Double($0) + 100) })
        XCTAssertLessThan(places.coverage(length: 8), 0.01)
    }

    func testLowCoverageReducesTheDetectionWeightToThatWithoutASurvey() {
        let model = SignalModel()
        func fitted(_ coverage: Double?) -> SignalModel {
            var map = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
            map.fit.coverage = coverage
            return model.fitted(to: map)
        }
        XCTAssertEqual(fitted(nil).detectionWeight, model.detectionWeight, "a map of before there was a coverage")
        XCTAssertEqual(fitted(1).unheardRate, model.unheardRate, accuracy: 1e-12)
        XCTAssertEqual(fitted(0).detectionWeight, model.unsurveyedDetectionWeight, accuracy: 1e-12)
        XCTAssertEqual(fitted(0).unheardRate, model.unsurveyedRate, accuracy: 1e-12)
        XCTAssertEqual(fitted(0.5).unheardRate, (model.unheardRate + model.unsurveyedRate) / 2, accuracy: 1e-12)
    }

    func testUnsurveyedBeaconsHaveTheMeanPowerErrorOfTheSurveyedBeacons() throws {
        var venue = Stage.venue
        venue.radioMap = RadioMap(
            beacons: (0..<2).map { index in
                RadioMap.Beacon(
                    identity: Stage.identity(index), mapID: Stage.hall, point: Stage.beaconPoints[index],
                    power: Stage.power - 10 - Double(index) * 4)
            }, fingerprints: [], pathLossExponent: 2)
        let powers = TransmitterList(venue: venue, model: SignalModel()).beacons.map(\.power)
        XCTAssertEqual(Array(powers.prefix(2)), [Stage.power - 10, Stage.power - 14], "these were heard")
        for power in powers.dropFirst(2) { XCTAssertEqual(power, Stage.power - 12, accuracy: 1e-9) }
        venue.radioMap = nil
        for power in TransmitterList(venue: venue, model: SignalModel()).beacons.map(\.power) {
            XCTAssertEqual(power, Stage.power)
        }
    }

    private static func places(_ places: [(walk: Int, x: Double)]) -> SurveyedPlaces {
        SurveyedPlaces(
            places.map {
                RadioMap.Fingerprint(
                    mapID: Stage.hall, point: MapPoint(x: $0.x, y: 1), duration: 2, readings: [])
            }, recordings: places.map(\.walk))
    }
}

/// What a recording without truth teaches, at the places that a smoother has found.
final class UnlabelledWalkTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// The left half of the hall, surveyed.
    private static let half: SurveyRecording = {
        var recording = Stage.survey(noise: 1, seed: 31)
        recording.waypoints = recording.waypoints.filter { $0.point.x < 10 }
        return recording
    }()

    func testAnUnlabelledWalkAddsPlacesOutsideTheSurvey() throws {
        let without = try XCTUnwrap(Self.learn(radius: nil))
        let with = try XCTUnwrap(Self.learn(radius: 1))
        XCTAssertLessThan(Self.error(of: with), Self.error(of: without))
        XCTAssertGreaterThan(with.fingerprints.filter { $0.point.x > 10 }.count, 10)
    }

    func testAPlaceHasTheUncertaintyOfTheSmoother() throws {
        let places = try XCTUnwrap(Self.learn(radius: 3.02)).fingerprints.filter { $0.point.x > 10 }
        XCTAssertFalse(places.isEmpty)
        for place in places { XCTAssertEqual(place.deviation, 2, accuracy: 1e-9) }
        let doubted = try XCTUnwrap(Self.learn(radius: 3.02, doubt: 1.5)).fingerprints.filter { $0.point.x > 10 }
        for place in doubted { XCTAssertEqual(place.deviation, 3, accuracy: 1e-9) }
    }

    func testAnUncertainPlaceHasLessInfluence() throws {
        let weights = try [0.5, 3, 9].map { radius in
            try XCTUnwrap(Self.learn(radius: radius)).fingerprints.filter { $0.point.x > 10 }
                .flatMap(\.readings).reduce(0) { $0 + abs($1.weight) }
        }
        XCTAssertGreaterThan(weights[0], weights[1])
        XCTAssertGreaterThan(weights[1], weights[2])
    }

    func testTheLearnerIgnoresVeryUncertainPlaces() {
        XCTAssertEqual(Self.learn(radius: 1.51 * 8.1), Self.learn(radius: nil))
        XCTAssertEqual(Self.learn(radius: 1, probability: 0.8), Self.learn(radius: nil), "maybe on another level")
        XCTAssertEqual(Self.learn(radius: 1, map: 99), Self.learn(radius: nil), "on a map of another venue")
    }

    func testTheLearnerIgnoresTheGroundTruthOfAnUnlabelledWalk() throws {
        var liar = Self.walk
        liar.waypoints = [
            SurveyRecording.Waypoint(instant: .zero, mapID: Stage.hall, point: MapPoint(x: 1, y: 1), isHold: true)
        ]
        XCTAssertEqual(Self.learn(radius: 1, walk: liar), Self.learn(radius: 1))
    }

    func testTheSurveyAloneDeterminesTheModelsParameters() throws {
        let (without, with) = (try XCTUnwrap(Self.learn(radius: nil)), try XCTUnwrap(Self.learn(radius: 1)))
        XCTAssertEqual(try XCTUnwrap(with.readingDeviation), try XCTUnwrap(without.readingDeviation), accuracy: 0.5)
    }

    /// What is heard in the right half.
    private static let walk: SurveyRecording = {
        var recording = Stage.survey(noise: 1, seed: 32)
        let stays = recording.waypoints.filter { $0.point.x > 10 }
        recording.sightings = recording.sightings.filter { sighting in
            stays.contains { (0..<4).contains($0.instant.duration(to: sighting.instant).seconds) }
        }
        recording.waypoints = []
        return recording
    }()

    private static func learn(
        radius: Double?, doubt: Double = 1, probability: Double = 1, map: MapID = Stage.hall,
        walk: SurveyRecording = UnlabelledWalkTests.walk
    ) -> RadioMap? {
        var learner = RadioMapLearner(venue: Stage.venue)
        learner.add(half)
        if let radius {
            let looks = Stage.survey(noise: 0, seed: 1).waypoints.filter { $0.point.x > 10 }.flatMap { stay in
                [0.0, 4].map { later in
                    SmoothedTrack.Look(
                        instant: Instant(seconds: stay.instant.seconds + later), mapID: map, probability: probability,
                        estimate: PositioningEngine.Estimate(at: stay.point, radius: radius))
                }
            }
            learner.add(walk, along: SmoothedTrack(looks: looks), doubt: doubt)
        }
        return learner.finish()
    }

    /// Mean distance in dB of what the map expects to what is heard, in the half that was not surveyed.
    private static func error(of map: RadioMap) -> Double {
        var venue = Stage.venue
        venue.radioMap = map
        let field = SignalField(venue: venue)
        var errors: [Double] = []
        for (index, beacon) in Stage.beaconPoints.enumerated() {
            for x in stride(from: 12.0, through: 18, by: 2) {
                let point = MapPoint(x: x, y: 9)
                guard let told = field.expectation(of: index, at: point, on: Stage.hall) else { continue }
                errors.append(abs(told.rssi - Stage.rssi(from: beacon, to: point)))
            }
        }
        return errors.reduce(0, +) / Double(errors.count)
    }
}
