import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class SignalModelTests: XCTestCase {
    private let model = SignalModel()

    func testPathLossAtOneMetreIsThePower() {
        let rssi = model.pathLoss(power: -59, exponent: 2, planar: 1, height: 0)
        XCTAssertEqual(rssi, -59, accuracy: 1e-12)
    }

    func testTenTimesTheDistanceLosesTenTimesTheExponent() {
        XCTAssertEqual(model.pathLoss(power: -59, exponent: 2.5, planar: 10, height: 0), -84, accuracy: 1e-9)
    }

    func testTheDistanceIncludesTheHeightDifference() {
        // 3 m in the plan and 4 m up are 5 m: -60 - 20·log₁₀ 5 = -73.9794.
        XCTAssertEqual(model.pathLoss(power: -60, exponent: 2, planar: 3, height: 4), -73.9794, accuracy: 1e-4)
    }

    func testShadowingIsFullyCorrelatedAtTheSamePlace() {
        XCTAssertEqual(model.shadowingCorrelation(distance: 0), 1, accuracy: 1e-12)
    }

    func testShadowingAtOneLengthFollowsMatérn() {
        // (1 + √3)·exp(-√3) = 0.48335.
        XCTAssertEqual(model.shadowingCorrelation(distance: model.shadowingLength), 0.48335, accuracy: 1e-4)
    }

    func testTheCorrelationOfShadowingFallsWithDistance() {
        let values = (0...60).map { model.shadowingCorrelation(distance: Double($0)) }
        for (near, far) in zip(values, values.dropFirst()) { XCTAssertGreaterThan(near, far) }
        XCTAssertLessThan(model.shadowingCorrelation(distance: 60), 1e-3)
    }

    func testOneSurveyReadingVariesByNoiseAndFading() {
        // 1.5² + 2.5² = 8.5.
        XCTAssertEqual(model.surveyVariance(count: 1), 8.5, accuracy: 1e-12)
    }

    func testFourSurveyReadingsFadeAFourthAsMuch() {
        XCTAssertEqual(model.surveyVariance(count: 4), 2.25 + 6.25 / 4, accuracy: 1e-12)
    }

    func testReadingsBeyondTheCapDoNotReduceTheVariance() {
        XCTAssertEqual(
            model.surveyVariance(count: model.readingCap), model.surveyVariance(count: 1000), accuracy: 1e-12)
    }

    func testEachSurveyParameterReplacesTheSetting() {
        let cases: [(tell: (inout RadioMap.Fit) -> Void, expect: (inout SignalModel) -> Void)] = [
            ({ $0.floorLoss = 7 }, { $0.floorLoss = 7 }), ({ $0.rateLength = 3.5 }, { $0.rateLength = 3.5 }),
            ({ $0.ratePriorDetections = 0.4 }, { $0.ratePriorDetections = 0.4 }),
            ({ $0.supportWidth = 0.75 }, { $0.supportWidth = 0.75 }),
            ({ $0.unsupportedShare = 0.3 }, { $0.unsupportedShare = 0.3 }),
            ({ $0.bodyDeviation = 3.5 }, { $0.bodyDeviation = 3.5 }),
            ({ $0.receiverDeviation = 12 }, { $0.receiverOffsetDeviation = 12 }),
        ]
        for (index, (tell, expect)) in cases.enumerated() {
            var fit = RadioMap.Fit()
            tell(&fit)
            var expected = model
            expect(&expected)
            XCTAssertNotEqual(expected, model, "case \(index)")
            expected.fastFading *= SignalModel.surveyedFading
            XCTAssertEqual(model.fitted(to: radioMap(fit)), expected, "case \(index)")
        }
    }

    func testParametersMissingFromTheSurveyKeepTheSetting() {
        var model = model
        (model.floorLoss, model.rateLength, model.supportWidth) = (11, 2.5, 1.25)
        model.ratePriorDetections = 0.2
        (model.unsupportedShare, model.bodyDeviation, model.receiverOffsetDeviation) = (0.03, 4, 2)
        let fitted = model.fitted(to: radioMap(RadioMap.Fit()))
        model.fastFading *= SignalModel.surveyedFading
        XCTAssertEqual(fitted, model)
    }

    func testWithoutASurveyTheModelUsesItsUnsurveyedParameters() {
        var model = model
        (model.unsurveyedBeaconLimit, model.unsurveyedRate, model.unsurveyedDetectionWeight) = (7, 0.3, 0.25)
        let fitted = model.fitted(to: nil)
        // Far beacons are not to outvote the near ones.
        XCTAssertEqual(fitted.beaconLimit, 7)
        XCTAssertEqual(fitted.unheardRate, 0.3)
        XCTAssertEqual(fitted.detectionWeight, 0.25)
        XCTAssertEqual(fitted.fitted(to: nil), fitted)
        (model.beaconLimit, model.unheardRate, model.detectionWeight) = (7, 0.3, 0.25)
        XCTAssertEqual(fitted, model)
    }

    func testAnOffsetDeviationOfZeroStaysZero() {
        var model = model
        model.receiverOffsetDeviation = 0
        var fit = RadioMap.Fit()
        fit.receiverDeviation = 6
        XCTAssertEqual(model.fitted(to: radioMap(fit)).receiverOffsetDeviation, 0)
    }

    func testTheSurveyDoesNotReduceTheOffsetDeviation() {
        var fit = RadioMap.Fit()
        fit.receiverDeviation = 1
        XCTAssertEqual(model.fitted(to: radioMap(fit)).receiverOffsetDeviation, model.receiverOffsetDeviation)
    }

    /// A phone in a pocket against one in a hand: most differ by less than 10 dB, some by 15.
    func testTheDefaultsCoverTypicalReceivers() {
        XCTAssertEqual(model.receiverOffsetDeviation, 9)
        XCTAssertEqual(model.bodyDeviation, 2)
        XCTAssertEqual(model.beaconLimit, 64)
    }

    func testAllBeaconsShareTheUnheardRate() {
        XCTAssertEqual(model.unheardRate(of: 1), model.unheardRate, accuracy: 1e-12)
        XCTAssertEqual(model.unheardRate(of: 600) * 600, model.unheardRate, accuracy: 1e-12)
        XCTAssertEqual(model.unheardRate(of: 0), model.unheardRate, accuracy: 1e-12)
    }

    private func radioMap(_ fit: RadioMap.Fit) -> RadioMap {
        var radioMap = RadioMap(beacons: [], fingerprints: [], pathLossExponent: 2)
        radioMap.fit = fit
        return radioMap
    }
}
