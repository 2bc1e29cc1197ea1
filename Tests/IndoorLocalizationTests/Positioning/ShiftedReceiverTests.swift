import XCTest

@testable import IndoorPositioning
import IndoorLocalization

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
            XCTAssertEqual(receiver.engine.offsets[0].value, shift, accuracy: 6)
            XCTAssertLessThan(receiver.engine.offsets[0].variance, 9)
        }
    }

    /// It is the same receiver wherever it is; but the belief that learned it may be wrong.
    func testNewParticlesOnEachLevelBeginWithTheLearnedOffsetAndALargerVariance() {
        var receiver = HallReceiver(
            at: MapPoint(x: 8, y: 11), seed: 3, venue: PositioningStage.twoFloors,
            field: PositioningStage.twoFloorField, shift: 6)
        let first = receiver.engine.filter.receivers
        receiver.listen(seconds: 10)
        let known = receiver.engine.filter.receivers
        XCTAssertEqual(known[0], known[1])
        XCTAssertNotEqual(known, first)
        XCTAssertGreaterThan(known[0].variance, receiver.engine.offsets[0].variance)
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
