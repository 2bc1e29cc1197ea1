import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// A receiver that hears everything weaker or stronger than the survey's is found as well.
final class ShiftedReceiverTests: XCTestCase {
    private static let shifts = [-15.0, 15]
    private static let seeds = UInt64(1)...24

    func testTheEngineLocatesAWeakerOrStrongerReceiverAtRest() {
        assertFoundAsWell { seed, shift in
            var generator = SeededGenerator(seed: seed)
            let place = MapPoint(x: 2 + 16 * generator.uniform(), y: 2 + 16 * generator.uniform())
            var receiver = HallReceiver(at: place, seed: seed, shift: shift)
            receiver.listen(seconds: 10)
            return receiver.error
        }
    }

    func testTheEngineLocatesAWeakerOrStrongerWalkingReceiver() {
        assertFoundAsWell { seed, shift in
            let (start, end) = (MapPoint(x: 3, y: 4), MapPoint(x: 17, y: 14))
            var receiver = HallReceiver(at: start, seed: seed, shift: shift)
            var errors: [Double] = []
            for second in 1...17 {
                receiver.place = start + (end - start) * (Double(second) / 17)
                receiver.listen()
                if second > 5 { errors.append(receiver.error) }
            }
            return errors.reduce(0, +) / Double(errors.count)
        }
    }

    func testTheEngineLocatesAWeakerOrStrongerReceiverWithoutASurvey() {
        assertFoundAsWell { seed, shift in
            var generator = SeededGenerator(seed: seed)
            let place = MapPoint(x: 2 + 16 * generator.uniform(), y: 2 + 16 * generator.uniform())
            var receiver = HallReceiver(
                at: place, seed: seed, venue: PositioningStage.venue, field: PositioningStage.packetField, shift: shift)
            receiver.listen(seconds: 10)
            return receiver.error
        }
    }

    func testTheFingerprintMethodLocatesAWeakerOrStrongerReceiver() {
        assertFoundAsWell { seed, shift in
            var receiver = HallReceiver(at: MapPoint(x: 8, y: 11), seed: seed, method: .fingerprint, shift: shift)
            receiver.listen(seconds: 4)
            return receiver.error
        }
    }

    /// Whoever sets the offset's deviation to 0 knows that the receiver is the survey's, and is lost if it is not.
    func testWithoutOffsetLearningTheEngineLosesAShiftedReceiver() {
        var model = SignalModel()
        model.receiverOffsetDeviation = 0
        let field = SignalField(venue: PositioningStage.surveyedVenue, model: model)
        func mean(_ shift: Double) -> Double {
            (UInt64(1)...12).reduce(0) { sum, seed in
                var receiver = HallReceiver(at: MapPoint(x: 6, y: 14), seed: seed, field: field, shift: shift)
                receiver.listen(seconds: 5)
                return sum + receiver.error / 12
            }
        }
        for shift in Self.shifts { XCTAssertGreaterThan(mean(shift), 1.5 * mean(0), "\(shift) dB, seeds 1...12") }
    }

    func testTheEngineEstimatesTheReceiverOffset() {
        for shift in Self.shifts {
            var receiver = HallReceiver(at: MapPoint(x: 8, y: 11), seed: 3, shift: shift)
            receiver.listen(seconds: 15)
            // Its own offset of 2 dB, give or take, comes on top.
            XCTAssertEqual(receiver.engine.device.offsets[0].value, shift, accuracy: 6)
            XCTAssertLessThan(receiver.engine.device.offsets[0].variance, 9)
        }
    }

    /// It is the same receiver wherever it is; but the belief that learned it may be wrong.
    func testNewParticlesOnEachLevelBeginWithTheLearnedOffsetAndALargerVariance() {
        var receiver = HallReceiver(
            at: MapPoint(x: 8, y: 11), seed: 3, venue: PositioningStage.twoFloors,
            field: PositioningStage.twoFloorField, shift: 6)
        let first = receiver.engine.belief.filter.receivers
        receiver.listen(seconds: 10)
        let known = receiver.engine.belief.filter.receivers
        XCTAssertEqual(known[0], known[1])
        XCTAssertNotEqual(known, first)
        XCTAssertGreaterThan(known[0].variance, receiver.engine.device.offsets[0].variance)
        XCTAssertLessThanOrEqual(known[0].variance, first[0].variance)
    }

    private func assertFoundAsWell(
        file: StaticString = #filePath, line: UInt = #line, _ error: (_ seed: UInt64, _ shift: Double) -> Double
    ) {
        func mean(_ shift: Double) -> Double {
            Self.seeds.map { error($0, shift) }.reduce(0, +) / Double(Self.seeds.count)
        }
        let plain = mean(0)
        for shift in Self.shifts {
            let shifted = mean(shift)
            print("mean error \(plain) m, with \(shift) dB \(shifted) m, seeds \(Self.seeds)")
            XCTAssertLessThan(shifted, 1.15 * plain, "\(shift) dB, seeds \(Self.seeds)", file: file, line: line)
        }
    }
}

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

/// Floors whose surveys were made by receivers of different strength are as probable as if one receiver had made both.
final class SurveyLevelTests: XCTestCase {
    private typealias Stage = PositioningStage

    /// Two floors on which the same beacons are received with different shadows.
    private struct TwoSurveys: MeasurementModel {
        /// Decibels by which the survey of the gallery is louder.
        var shift = 0.0
        /// The beacons without a table on the gallery.
        var missing: Set<BeaconIdentity> = []

        func expectation(of beacon: VenueBeacon, at point: MapPoint, on mapID: MapID) -> SignalExpectation? {
            let isAbove = mapID == Stage.gallery
            guard !isAbove || !missing.contains(beacon.identity) else { return nil }
            let phase = 2.4 * Double(beacon.identity.minor) + (isAbove ? 1 : 0)
            let shadow = 4 * (sin(point.x / 3 + phase) + cos(point.y / 4 - 1.7 * phase))
            let level = Stage.rssi(from: beacon.point, to: point) + shadow + (isAbove ? shift - 6 : 0)
            return SignalExpectation(rssi: level, variance: 4, rate: 1)
        }
    }

    private static func parts(_ surveys: TwoSurveys) -> PositioningParts {
        var parts = PositioningParts()
        parts.measurement = surveys
        return parts
    }

    private static func field(_ surveys: TwoSurveys) -> SignalField {
        SignalField(venue: Stage.twoFloors, parts: parts(surveys))
    }

    private static func receiver(_ value: Double) -> ReceiverOffset {
        var receiver = Stage.offset(deviation: 9, bodyDeviation: 2)
        receiver.begin(value: value, deviation: 2)
        return receiver
    }

    private static func evidence(_ beacons: Range<Int> = 0..<6, shift: Float = 0) -> Evidence {
        var evidence = Stage.evidence(at: MapPoint(x: 7, y: 12), beacons: Array(beacons))
        for index in evidence.heard.indices { evidence.heard[index].rssi += shift }
        return evidence
    }

    func testAnIdealReceiverIsFoundOnItsFloorWhicheverSurveyIsLouder() {
        for shift in [-12.0, -6, 6, 12] {
            let surveys = TwoSurveys(shift: shift)
            let field = Self.field(surveys)
            for map in [Stage.hall, Stage.gallery] {
                let shares = (UInt64(1)...5).map { Self.share(on: map, surveys, field, seed: $0) }
                let mean = shares.reduce(0, +) / Double(shares.count)
                XCTAssertGreaterThanOrEqual(mean, 0.97, "\(shift) dB, map \(map), seeds 1...5: \(shares)")
            }
        }
    }

    /// Returns the share of the seconds after the fifth one in which the right floor is the most probable, for a stay with
    /// readings drawn from the engine's own model.
    private static func share(on map: MapID, _ surveys: TwoSurveys, _ field: SignalField, seed: UInt64) -> Double {
        var settings = PositioningSettings()
        settings.particleCount = 300
        var engine = PositioningEngine(venue: Stage.twoFloors, field: field, settings: settings, seed: seed)
        var generator = SeededGenerator(seed: seed &+ 100)
        let place = MapPoint(x: 2 + 16 * generator.uniform(), y: 2 + 16 * generator.uniform())
        let deviation = (4 + field.readingDeviation * field.readingDeviation).squareRoot()
        var right = 0
        for second in 1...35 {
            for beacon in Stage.venue.beacons.prefix(6) {
                guard let expected = surveys.expectation(of: beacon, at: place, on: map) else { continue }
                let rssi = expected.rssi + deviation * generator.normal() + 2.5 * generator.normal()
                let instant = Instant(seconds: Double(second) - generator.uniform())
                engine.observe(.sighting(Sighting(instant: instant, beacon: beacon.identity, rssi: rssi)))
            }
            engine.advance(to: Instant(seconds: Double(second)))
            if second > 5, engine.mapProbabilities[map] ?? 0 > 0.5 { right += 1 }
        }
        return Double(right) / 30
    }

    func testAConstantInTheSurveyOfAFloorMovesNoEvidence() {
        let plain = Self.difference(TwoSurveys(), receivers: [1, 1], reference: 1)
        for shift in [-12.0, -6, 6, 12] {
            let shifted = Self.difference(TwoSurveys(shift: shift), receivers: [1, 1 - shift], reference: 1)
            XCTAssertEqual(shifted, plain, accuracy: 0.01, "\(shift) dB")
        }
    }

    func testAConstantInAllReadingsMovesNoEvidence() {
        let surveys = TwoSurveys(missing: [Stage.identity(2), Stage.identity(4)])
        let plain = Self.difference(surveys, receivers: [1, -4], reference: 0)
        for shift in [-15, -8, 8, 15] {
            let shifted = Self.difference(
                surveys, shift: Float(shift), receivers: [1 + Double(shift), -4 + Double(shift)],
                reference: Double(shift))
            XCTAssertEqual(shifted, plain, accuracy: 0.01, "\(shift) dB")
        }
    }

    /// The receiver of a floor's survey says nothing about a beacon that the survey never received.
    func testTheOffsetOfAFloorDoesNotWeighABeaconWithoutATableThere() {
        let surveys = TwoSurveys(missing: Set(Stage.venue.beacons.map(\.identity)))
        let plain = Self.difference(surveys, receivers: [1, 1], reference: 1)
        for offset in [-12.0, -6, 6, 12] {
            XCTAssertEqual(Self.difference(surveys, receivers: [1, offset], reference: 1), plain, "\(offset) dB")
        }
        // The floor with the tables keeps its advantage if its survey is louder.
        let mirrored = Self.field(TwoSurveys(shift: 12, missing: [Stage.identity(0)]))
        let same = Self.field(TwoSurveys(missing: [Stage.identity(0)]))
        let (loud, usual) = (Self.evidence(of: mirrored, [1, -11]), Self.evidence(of: same, [1, 1]))
        XCTAssertEqual(loud[1] - loud[0], usual[1] - usual[0], accuracy: 0.01)
    }

    /// Returns how much more probable the evidence is on the gallery, as a logarithm.
    private static func difference(
        _ surveys: TwoSurveys, shift: Float = 0, receivers: [Double], reference: Double
    ) -> Double {
        let logarithms = evidence(of: field(surveys), receivers, shift: shift, reference: reference)
        return logarithms[1] - logarithms[0]
    }

    private static func evidence(
        of field: SignalField, _ receivers: [Double], shift: Float = 0, reference: Double = 1
    ) -> [Double] {
        GridPosterior(
            Likelihood(
                field: field, evidence: evidence(shift: shift), receivers: receivers.map(receiver),
                reference: receiver(reference))
        ).mapEvidence
    }
}
