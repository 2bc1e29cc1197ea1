import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

final class RoomScoreTests: XCTestCase {
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 1)

    /// A classifier that returns the letter that the RSSI encodes: -10 is a, -11 is b, and so on.
    ///
    /// -60 encodes an unknown room, and -70 no answer.
    private struct Reader: Classifier {
        func classify(_ scan: RoomScan) -> RoomEstimate? {
            guard let rssi = scan.rssi[RoomScoreTests.beacon], rssi > -70 else { return nil }
            let letter = rssi > -60 ? UnicodeScalar(UInt8(97 - Int(rssi) - 10)) : nil
            return RoomEstimate(
                instant: scan.instant, candidates: [.init(room: letter.map { String($0) }, probability: 0.75)])
        }
    }

    /// Returns the score of stays, each with a room and the classifier's answers second by second.
    ///
    /// A dash is an unknown room, a dot no answer.
    private func score(_ stays: [(room: String, answers: String)], _ rule: RoomChangeRule = .immediate) -> RoomScore {
        var score = RoomScore()
        var classifier = Reader()
        var belief = RoomBelief(RoomSettings(changeRule: rule, changeCount: 2))
        var second = 0.0
        for (index, stay) in stays.enumerated() {
            let scans = stay.answers.utf8.map { letter -> RoomScan in
                defer { second += 1 }
                let rssi = letter == 45 ? -60 : letter == 46 ? -70 : -10 - Double(letter - 97)
                return RoomScan(instant: Instant(seconds: second), rssi: [Self.beacon: rssi])
            }
            score.add(stayIn: stay.room, isChange: index > 0, scans: scans, classifier: &classifier, filter: &belief)
        }
        return score
    }

    func testTheAccuracyCountsCorrectAnswersAndNotMissingOnes() {
        let score = score([("a", "aab.-a")])
        XCTAssertEqual(score.scanCount, 6)
        XCTAssertEqual(score.answeredCount, 5)
        XCTAssertEqual(score.accuracy, 0.5)
        XCTAssertEqual(score.meanProbability, 0.75)
        XCTAssertEqual(score.confusion["a"], ["a": 3, "b": 2, nil: 1], "without an answer, the settled room stays")
        XCTAssertEqual(score.nowhereShare ?? 0, 1.0 / 6, accuracy: 1e-12)
    }

    func testTheChangeRuleDeterminesTheSettledRoom() {
        XCTAssertEqual(score([("a", "aabaa")]).believedAccuracy, 0.8)
        XCTAssertEqual(score([("a", "aabaa")], .inARow).believedAccuracy, 1)
    }

    func testChangesOfRoomDuringAStayAreFalseAndCountedPerHour() {
        let score = score([("a", "aabaa")])
        XCTAssertEqual(score.falseChanges, 2, "from a to b and back")
        XCTAssertEqual(score.seconds, 4)
        XCTAssertEqual(score.falseChangesPerHour, 1800)
    }

    func testTheDelayOfAChangeBeginsWithItsFirstScan() {
        let score = score([("a", "aaa"), ("b", "aabb")])
        XCTAssertEqual(score.delays, [2])
        XCTAssertEqual(score.falseChanges, 0)
        XCTAssertEqual(self.score([("a", "aaa"), ("b", "aaaa")]).delays, [.infinity], "never settled")
    }

    func testScoresAddUp() {
        let (first, second) = (score([("a", "aab")]), score([("b", "bb"), ("a", "aa")]))
        var both = first
        both.add(second)
        XCTAssertEqual(both.scanCount, 7)
        XCTAssertEqual(both.rightCount, first.rightCount + second.rightCount)
        XCTAssertEqual(both.confusion["a"], ["a": 4, "b": 1])
        XCTAssertEqual(both.delays, second.delays)
    }

    func testAScoreWithoutDataHasNoFigures() {
        let score = RoomScore()
        XCTAssertNil(score.accuracy)
        XCTAssertNil(score.falseChangesPerHour)
        XCTAssertNil(score.medianDelay)
        XCTAssertNil(score.meanProbability)
    }
}
