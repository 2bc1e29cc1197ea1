import XCTest

@testable import IndoorLocalization

final class SignalModelTests: XCTestCase {
    private let model = SignalModel()

    func testPathLossAtOneMetreIsThePower() {
        let rssi = model.pathLoss(power: -59, exponent: 2, planar: 1, height: 0)
        XCTAssertEqual(rssi, -59, accuracy: 1e-12)
    }

    func testTenTimesTheDistanceLosesTenTimesTheExponent() {
        XCTAssertEqual(model.pathLoss(power: -59, exponent: 2.5, planar: 10, height: 0), -84, accuracy: 1e-9)
    }

    func testHeightCountsLikeTheOtherSideOfARightAngle() {
        // 3 m in the plan and 4 m up are 5 m: -60 - 20·log₁₀ 5 = -73.9794.
        XCTAssertEqual(model.pathLoss(power: -60, exponent: 2, planar: 3, height: 4), -73.9794, accuracy: 1e-4)
    }

    func testShadowingIsTheSameAtTheSamePlace() {
        XCTAssertEqual(model.shadowingCorrelation(distance: 0), 1, accuracy: 1e-12)
    }

    func testShadowingAtOneLengthIsMatérns() {
        // (1 + √3)·exp(-√3) = 0.48335.
        XCTAssertEqual(model.shadowingCorrelation(distance: model.shadowingLength), 0.48335, accuracy: 1e-4)
    }

    func testShadowingFadesWithEveryMetre() {
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

    func testReadingsBeyondTheCapDoNotHelp() {
        XCTAssertEqual(
            model.surveyVariance(count: model.readingCap), model.surveyVariance(count: 1000), accuracy: 1e-12)
    }
}
