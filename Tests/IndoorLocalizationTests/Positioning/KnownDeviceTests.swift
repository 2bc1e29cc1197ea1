import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// A session that knows its device begins with how that hears.
final class KnownDeviceTests: XCTestCase {
    private static let venue: Venue = {
        var venue = PositioningStage.surveyedVenue
        venue.radioMap?.fit.devices = [
            "weak phone": RadioMap.Receiver(offset: -12, deviation: 2),
            "odd phone": RadioMap.Receiver(offset: 0, deviation: 30),
        ]
        return venue
    }()

    func testTheEngineBeginsWithTheSurveysReceiverPriorOfTheDevice() {
        let receiver = Self.receiver(named: "weak phone", seed: 1)
        for offsets in [receiver.engine.offsets, receiver.engine.filter.receivers] {
            XCTAssertEqual(offsets.map(\.value), [-12])
            XCTAssertEqual(offsets.map(\.variance), [4])
        }
    }

    func testTheEngineUsesTheGeneralPriorForAnUnknownDevice() {
        let receiver = Self.receiver(named: "another phone", seed: 1)
        let wide = receiver.engine.field.model.receiverOffsetDeviation
        XCTAssertEqual(receiver.engine.offsets.map(\.value), [0])
        XCTAssertEqual(receiver.engine.offsets.map(\.variance), [wide * wide])
    }

    func testADevicePriorIsNeverWiderThanTheGeneralPrior() {
        let receiver = Self.receiver(named: "odd phone", seed: 1)
        let wide = receiver.engine.field.model.receiverOffsetDeviation
        XCTAssertEqual(receiver.engine.offsets.map(\.variance), [wide * wide])
    }

    func testTheEngineLocatesAKnownDeviceBetterInTheFirstSecond() {
        func mean(_ name: String) -> Double {
            (UInt64(1)...30).reduce(0) { sum, seed in
                var receiver = Self.receiver(named: name, seed: seed, shift: -12)
                receiver.listen()
                return sum + receiver.error / 30
            }
        }
        let (known, unknown) = (mean("weak phone"), mean("another phone"))
        XCTAssertLessThan(known, unknown, "seeds 1...30")
    }

    /// The name is wrong, or the phone is another one of that name: 15 dB off what is expected to within 2 dB.
    func testTheEngineRecoversFromAWrongDeviceName() {
        func mean(_ name: String, _ shift: Double) -> Double {
            (UInt64(1)...12).reduce(0) { sum, seed in
                var receiver = Self.receiver(named: name, seed: seed, shift: shift)
                receiver.listen(seconds: 20)
                return sum + receiver.error / 12
            }
        }
        for shift in [-27.0, 3] {
            let (wrong, any) = (mean("weak phone", shift), mean("another phone", shift))
            XCTAssertLessThan(wrong, 1.5 * any, "\(shift) dB, seeds 1...12")
        }
    }

    func testTheEngineUsesACalibrationThatIsMoreCertainThanTheSurvey() {
        var receiver = Self.receiver(named: "weak phone", seed: 1)
        var calibration = Calibration()
        (calibration.rssiOffset, calibration.rssiDeviation) = (-9, 0.5)
        receiver.begin(with: calibration)
        XCTAssertEqual(receiver.engine.offsets.map(\.value), [-9])
    }

    func testTheEngineIgnoresACalibrationThatIsLessCertainThanTheSurvey() {
        var receiver = Self.receiver(named: "weak phone", seed: 1)
        var calibration = Calibration()
        calibration.stepScale = 1.25
        receiver.begin(with: calibration)
        XCTAssertEqual(receiver.engine.offsets.map(\.value), [-12])
        XCTAssertEqual(receiver.engine.filter.stepMean, 1.25, "of steps the survey tells nothing")
    }

    private static func receiver(named name: String, seed: UInt64, shift: Double = 0) -> HallReceiver {
        var receiver = HallReceiver(at: MapPoint(x: 7, y: 12), seed: seed, venue: venue, shift: shift)
        receiver.begin(asDevice: name)
        return receiver
    }
}
