import IndoorLocalizationTesting
import XCTest

final class RoomReliabilityTests: XCTestCase {
    func testEachAnswerIsCountedInTheBinOfItsProbability() {
        var reliability = RoomReliability()
        for probability in [0, 0.05, 0.1, 0.85, 0.89, 1] { reliability.add(probability: probability, isRight: true) }
        XCTAssertEqual(reliability.bins.map(\.count), [2, 1, 0, 0, 0, 0, 0, 0, 2, 1])
        XCTAssertEqual(reliability.bins[8].meanProbability ?? 0, 0.87, accuracy: 1e-12)
        XCTAssertNil(reliability.bins[5].meanProbability)
        XCTAssertNil(reliability.bins[5].accuracy)
    }

    func testTheErrorIsTheMeanDistanceBetweenProbabilityAndAccuracy() {
        var reliability = RoomReliability()
        // Eight of ten correct at 0.8: an error of 0. None of ten correct at 0.3: an error of 0.3.
        for index in 0..<10 {
            reliability.add(probability: 0.8, isRight: index < 8)
            reliability.add(probability: 0.3, isRight: false)
        }
        XCTAssertEqual(reliability.bins[8].accuracy, 0.8)
        XCTAssertEqual(reliability.error ?? 1, 0.15, accuracy: 1e-12)
    }

    func testReliabilitiesAddUp() {
        var (first, second) = (RoomReliability(), RoomReliability())
        first.add(probability: 0.95, isRight: true)
        second.add(probability: 0.91, isRight: false)
        second.add(probability: 0.2, isRight: true)
        first.add(second)
        XCTAssertEqual(first.count, 3)
        XCTAssertEqual(first.bins[9].accuracy, 0.5)
        XCTAssertEqual(first.bins[2].count, 1)
    }

    func testAReliabilityWithoutAnswersHasNoError() { XCTAssertNil(RoomReliability().error) }
}
