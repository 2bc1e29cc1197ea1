import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

/// The scorer's figures compared with figures computed by hand. All errors are whole numbers of metres along x.
final class TrackScorerTests: XCTestCase {
    private let ground: MapID = 1
    private let upper: MapID = 2
    /// The figures are sums of a few small whole numbers; any difference is due to rounding.
    private let tolerance = 1e-9

    /// A venue with two maps of 20 × 10 m, two levels apart.
    private var venue: Venue {
        Venue(
            id: 1, name: "Two floors",
            maps: [
                VenueMap(id: ground, name: "Ground", level: 0, width: 20, height: 10),
                VenueMap(id: upper, name: "Upper", level: 2, width: 20, height: 10),
            ])
    }

    private func truth(_ seconds: Double, x: Double, on map: MapID = 1, isHold: Bool = false) -> Truth {
        Truth(instant: Instant(seconds: seconds), mapID: map, point: MapPoint(x: x, y: 5), isHold: isHold)
    }

    private func position(_ seconds: Double, x: Double, on map: MapID = 1, radius: Double = 1) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: map, point: MapPoint(x: x, y: 5), radius: radius)
    }

    private func score(_ truths: [Truth], end: Double = 100, _ positions: [Position]) -> TrackScore {
        var scorer = TrackScorer(venue: venue)
        scorer.add(truths: truths, end: Instant(seconds: end), positions: positions)
        return scorer.score
    }

    func testAScoreWithoutDataHasNoFigures() {
        for score in [TrackScorer(venue: venue).score, score([], [position(1, x: 1)])] {
            XCTAssertEqual(score.count, 0)
            let figures = [
                score.answered, score.floor, score.mean, score.median, score.p75, score.p90, score.p95, score.ipin,
                score.insideRadius,
            ]
            XCTAssertEqual(figures, Array(repeating: nil, count: figures.count))
        }
    }

    func testTheAnswersHaveTheErrorOnTheRightFloorAndThePositionThatCounts() {
        var scorer = TrackScorer(venue: venue)
        scorer.add(
            truths: [truth(10, x: 5), truth(30, x: 5), truth(60, x: 5)], end: Instant(seconds: 100),
            positions: [position(9, x: 7), position(30, x: 5, on: upper)])
        XCTAssertEqual(scorer.answers.map(\.instant), [10, 30, 60].map { Instant(seconds: $0) })
        XCTAssertEqual(scorer.answers.map(\.error), [2, nil, nil])
        // The second position is on another floor, and the third instant has no position of the last 10 s.
        XCTAssertEqual(
            scorer.answers.map { $0.position?.instant }, [9, 30, nil].map { $0.map { Instant(seconds: $0) } })
    }

    func testTheFiguresOfFiveErrorsEqualThoseComputedByHand() throws {
        // Errors of 1, 2, 3, 4 and 10 m; each radius is 3 m, so three of the five errors are within it.
        let errors = [3.0, 1, 10, 2, 4]
        let truths = errors.indices.map { truth(10 + Double($0), x: 5) }
        let positions = errors.enumerated().map { position(10 + Double($0), x: 5 + $1, radius: 3) }
        let score = score(truths, positions)
        XCTAssertEqual(score.count, 5)
        XCTAssertEqual(score.answered, 1)
        XCTAssertEqual(score.floor, 1)
        XCTAssertEqual(try XCTUnwrap(score.mean), 4, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.median), 3, accuracy: tolerance)
        // Interpolated between the sorted errors at the index 4 × share: indices 3, 3.6 and 3.8 of 0 to 4.
        XCTAssertEqual(try XCTUnwrap(score.p75), 4, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.p90), 4 + 0.6 * 6, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.p95), 4 + 0.8 * 6, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.ipin), 4, accuracy: tolerance)
        XCTAssertEqual(try XCTUnwrap(score.insideRadius), 0.6, accuracy: tolerance)
    }

    func testOneErrorIsEveryQuantile() {
        let score = score([truth(10, x: 5)], [position(10, x: 7)])
        for value in [score.mean, score.median, score.p75, score.p90, score.p95, score.ipin] {
            XCTAssertEqual(value, 2)
        }
        XCTAssertEqual(score.insideRadius, 0)
    }

    func testAnErrorEqualToTheRadiusIsInsideTheRadius() {
        XCTAssertEqual(score([truth(10, x: 5)], [position(10, x: 6, radius: 1)]).insideRadius, 1)
        XCTAssertEqual(score([truth(10, x: 5)], [position(10, x: 6, radius: 0.999)]).insideRadius, 0)
    }

    func testWaypointsInTheFirstFiveSecondsAreNotScored() {
        let truths = [truth(0, x: 5), truth(4.999, x: 5), truth(5, x: 5)]
        XCTAssertEqual(score(truths, [position(0, x: 5)]).count, 1)
    }

    func testTheScorerUsesOneWaypointPerSecond() {
        // The scored times are 10, 10.96 (0.96 s later) and 11.92; 11.9 is 0.94 s after the last scored one.
        let truths = [10, 10.5, 10.94, 10.96, 11.9, 11.92].map { truth($0, x: 5) }
        XCTAssertEqual(score(truths, [position(10, x: 5)]).count, 3)
    }

    func testAStayIsScoredOnceAtItsEnd() {
        // The stay from 10 s ends with the next ground truth at 20 s: the position of 19 s counts, which is 1 m off.
        let truths = [truth(10, x: 5, isHold: true), truth(20, x: 8, isHold: true)]
        let positions = [position(11, x: 15), position(19, x: 6), position(29, x: 10)]
        let score = score(truths, end: 30, positions)
        XCTAssertEqual(score.count, 2)
        // The last stay ends with the recording: the position of 29 s is 2 m off.
        XCTAssertEqual(score.mean, 1.5)
    }

    func testAStayIsScoredEvenInTheFirstFiveSeconds() {
        let truths = [truth(0, x: 5, isHold: true), truth(3, x: 5)]
        XCTAssertEqual(score(truths, [position(1, x: 5)]).count, 1)
    }

    func testALaterPositionDoesNotCount() {
        let score = score([truth(10, x: 5)], [position(9, x: 7), position(10.001, x: 5)])
        XCTAssertEqual(score.mean, 2)
    }

    func testAPositionOlderThanTenSecondsIsNotAnAnswer() {
        XCTAssertEqual(score([truth(20, x: 5)], [position(10, x: 6)]).answered, 1)
        let late = score([truth(20, x: 5)], [position(9.999, x: 6)])
        XCTAssertEqual(late.count, 1)
        XCTAssertEqual(late.answered, 0)
        XCTAssertNil(late.floor)
        XCTAssertNil(late.mean)
        // For the competition's score, the map's middle, (10, 5), replaces the answer.
        XCTAssertEqual(late.ipin, 5)
    }

    func testAWrongLevelHasNoErrorButAPenalty() {
        // One is 1 m off on the right level; the other is 3 m off and two levels away: 3 + 2 × 15.
        let score = score([truth(10, x: 5), truth(11, x: 5)], [position(10, x: 6), position(11, x: 8, on: upper)])
        XCTAssertEqual(score.answered, 1)
        XCTAssertEqual(score.floor, 0.5)
        XCTAssertEqual(score.mean, 1)
        XCTAssertEqual(score.insideRadius, 1)
        // The third quartile of 1 and 33.
        XCTAssertEqual(try XCTUnwrap(score.ipin), 25, accuracy: tolerance)
    }

    func testAMapMissingFromTheVenueIsAWrongLevel() {
        let score = score([truth(10, x: 5)], [position(10, x: 5, on: 9)])
        XCTAssertEqual(score.answered, 1)
        XCTAssertEqual(score.floor, 0)
        XCTAssertNil(score.mean)
    }

    func testGroundTruthWithoutAPointIsNotScored() {
        let room = Truth(instant: Instant(seconds: 10), room: "Lobby")
        XCTAssertEqual(score([room], [position(10, x: 5)]).count, 0)
        XCTAssertEqual(score([truth(10, x: 5, on: 9)], [position(10, x: 5)]).count, 0)
    }

    func testTracksAddUpInAnyOrder() {
        let tracks: [([Truth], [Position])] = [
            ([truth(10, x: 5)], [position(10, x: 6)]), ([truth(10, x: 5)], [position(10, x: 8, on: upper)]),
            ([truth(10, x: 5)], []),
        ]
        func total(_ order: [Int]) -> TrackScore {
            var all = TrackScorer(venue: venue)
            for index in order {
                var one = TrackScorer(venue: venue)
                one.add(truths: tracks[index].0, end: Instant(seconds: 10), positions: tracks[index].1)
                all.add(one)
            }
            return all.score
        }
        let score = total([0, 1, 2])
        XCTAssertEqual(score.count, 3)
        XCTAssertEqual(try XCTUnwrap(score.answered), 2.0 / 3, accuracy: tolerance)
        XCTAssertEqual(score.floor, 0.5)
        XCTAssertEqual(score.mean, 1)
        XCTAssertEqual(total([2, 0, 1]), score)
    }
}

/// The score of reported beacon faults.
final class FaultScorerTests: XCTestCase {
    private func beacon(_ minor: UInt16) -> BeaconIdentity {
        BeaconIdentity(uuid: BeaconUUID(high: 1, low: 1), major: 1, minor: minor)
    }

    private func readings(_ minors: [UInt16], every interval: Double = 1, until end: Double) -> [SensorReading] {
        stride(from: 0, through: end, by: interval).flatMap { seconds in
            minors.map { .sighting(Sighting(instant: Instant(seconds: seconds), beacon: beacon($0), rssi: -60)) }
        }
    }

    private func fault(_ minor: UInt16, at seconds: Double) -> (instant: Instant, fault: BeaconFault) {
        let instant = Instant(seconds: seconds)
        return (instant, BeaconFault(beacon: beacon(minor), kind: .contradictory, since: instant))
    }

    func testABeaconThatIsNamedInItsFirstMinuteCounts() {
        var scorer = FaultScorer()
        scorer.add(
            readings([1, 2, 3, 4], until: 120), faults: [fault(1, at: 50), fault(2, at: 70)],
            disturbedBeacons: [beacon(1), beacon(2), beacon(3)])
        XCTAssertEqual(scorer.disturbed, 3)
        XCTAssertEqual(scorer.shareInMinute, 1.0 / 3)
        XCTAssertEqual(scorer.shareNamed, 2.0 / 3)
        XCTAssertEqual(scorer.falseAlarms, 0)
    }

    func testTheMinuteIsOneOfHearing() {
        var scorer = FaultScorer()
        // Received every ten seconds, of which five count: a minute of hearing takes two.
        scorer.add(readings([1], every: 10, until: 200), faults: [fault(1, at: 110)], disturbedBeacons: [beacon(1)])
        XCTAssertEqual(scorer.shareInMinute, 1)
        var short = FaultScorer()
        short.add(readings([1], until: 30), faults: [], disturbedBeacons: [beacon(1), beacon(9)])
        XCTAssertNil(short.shareInMinute, "heard for less than a minute, or never")
        XCTAssertEqual(short.shareNamed, 0)
    }

    func testTheTimeOfASilentBeaconIsThatOfAllBeacons() {
        var scorer = FaultScorer()
        scorer.add(
            readings([1], until: 100), faults: [fault(2, at: 55)], disturbedBeacons: [beacon(2), beacon(3)],
            silentBeacons: [beacon(2), beacon(3)])
        XCTAssertEqual(scorer.shareInMinute, 0.5)
    }

    func testFaultsOfOtherBeaconsAreFalseAlarms() {
        var scorer = FaultScorer()
        scorer.add(readings([1], until: 1800), faults: [fault(1, at: 5)])
        scorer.add(readings([1], until: 1800), faults: [])
        XCTAssertEqual(scorer.falseAlarmRate, 1)
        var sum = FaultScorer()
        sum.add(scorer)
        sum.add(scorer)
        XCTAssertEqual(sum.falseAlarms, 2)
        XCTAssertEqual(sum.hours, 2, accuracy: 1e-9)
        XCTAssertNil(FaultScorer().falseAlarmRate)
    }
}

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
