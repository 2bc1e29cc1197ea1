import XCTest

@testable import IndoorPositioning
import IndoorLocalization

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
