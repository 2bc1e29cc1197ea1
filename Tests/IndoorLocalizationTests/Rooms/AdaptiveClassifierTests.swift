import IndoorLocalization
import XCTest

final class AdaptiveClassifierTests: XCTestCase {
    /// Another phone than the trained one reads so many dB above it.
    private static let offset = -9.0

    private func alone(_ training: RoomTrainingSet) -> AdaptiveClassifier {
        var settings = AdaptiveClassifier.Settings()
        settings.remembersRooms = false
        return AdaptiveClassifier(training, settings: settings)
    }

    func testTheAdaptiveClassifierBeatsTheOthersOnTheTrainedReceiverAndOnAnother() {
        for offset in [0, Self.offset] {
            var house = TrainedHouse()
            let training = house.training()
            let bayes = house.accuracy(of: NaiveBayesClassifier(training), offset: offset)
            let nearest = house.accuracy(of: NearestNeighborClassifier(training), offset: offset)
            let alone = house.accuracy(of: alone(training), offset: offset)
            let adaptive = house.accuracy(of: AdaptiveClassifier(training), offset: offset)
            print("offset \(offset): naive Bayes \(bayes), nearest \(nearest), alone \(alone), adaptive \(adaptive)")
            XCTAssertGreaterThan(adaptive, max(bayes, nearest) + 0.03, "offset \(offset)")
            XCTAssertGreaterThan(adaptive, 0.85, "offset \(offset)")
            // A scan by itself pays for not knowing the receiver; on another one that is worth it.
            XCTAssertGreaterThan(alone, offset == 0 ? nearest : max(bayes, nearest), "offset \(offset)")
        }
    }

    func testTheClassifierLearnsTheOffsetOfTheReceiver() {
        var house = TrainedHouse()
        var classifier = AdaptiveClassifier(house.training())
        XCTAssertEqual(classifier.receiverOffset, 0, accuracy: 1e-9)
        for scan in house.scans(in: "den", count: 60, offset: Self.offset) { _ = classifier.classify(scan) }
        XCTAssertEqual(classifier.receiverOffset, Self.offset, accuracy: 3)
        classifier.forgetRooms()
        XCTAssertEqual(classifier.receiverOffset, Self.offset, accuracy: 3, "the receiver is the same")
    }

    func testTheFirstScanAfterForgettingTheRoomsDecidesAlone() throws {
        var house = TrainedHouse()
        var classifier = AdaptiveClassifier(house.training())
        for scan in house.scans(in: "attic", count: 60) { _ = classifier.classify(scan) }
        var fresh = classifier
        fresh.forgetRooms()
        let scan = house.scan(in: "garage", at: 61)
        let kept = try XCTUnwrap(classifier.classify(scan)).probability(of: "attic")
        let forgotten = try XCTUnwrap(fresh.classify(scan)).probability(of: "attic")
        XCTAssertGreaterThan(kept, 0.5)
        XCTAssertLessThan(forgotten, 0.3)
    }

    func testAChangeOfRoomIsDetectedWithinSeconds() {
        var house = TrainedHouse()
        var classifier = AdaptiveClassifier(house.training())
        for scan in house.scans(in: "attic", count: 60) { _ = classifier.classify(scan) }
        let later = house.scans(in: "cellar", count: 20, from: 60)
        let rooms = later.map { classifier.classify($0)?.room }
        XCTAssertLessThanOrEqual(rooms.firstIndex(of: "cellar") ?? 20, 10, "\(rooms)")
        XCTAssertEqual(rooms.last, "cellar")
    }

    /// Returns the scans until the room is correct, for each change from a room to the next one in the house.
    private func delays(changeThreshold: Double) -> [Int] {
        var house = TrainedHouse()
        var settings = AdaptiveClassifier.Settings()
        settings.changeThreshold = changeThreshold
        var classifier = AdaptiveClassifier(house.training(), settings: settings)
        let told = TrainedHouse.rooms.enumerated().map { index, room in
            house.scans(in: room, count: 120, from: Double(index) * 120).map { classifier.classify($0)?.room }
        }
        return zip(TrainedHouse.rooms, told).dropFirst().map { $1.firstIndex(of: $0) ?? $1.count }.sorted()
    }

    func testTheChangePointTestDetectsChangesSooner() {
        let (with, without) = (delays(changeThreshold: 6), delays(changeThreshold: .infinity))
        print("scans until a change is told: \(with), without the test \(without)")
        XCTAssertLessThanOrEqual(with[with.count / 2], 3, "\(with)")
        XCTAssertGreaterThan(without[without.count / 2], 2 * with[with.count / 2] + 3, "\(without)")
    }

    func testInfiniteStaysAndThresholdsKeepProbabilitiesValid() throws {
        var house = TrainedHouse()
        let training = house.training()
        for threshold in [1e-9, 6, 1e9, .infinity] {
            var settings = AdaptiveClassifier.Settings()
            settings.changeThreshold = threshold
            settings.meanStay = .seconds(1 << 60)
            var classifier = AdaptiveClassifier(training, settings: settings)
            for (index, room) in ["attic", "garage", "attic"].enumerated() {
                for scan in house.scans(in: room, count: 30, from: Double(index) * 30) {
                    let estimate = try XCTUnwrap(classifier.classify(scan))
                    let total = estimate.candidates.reduce(0) { $0 + $1.probability }
                    XCTAssertEqual(total, 1, accuracy: 1e-9, "\(threshold)")
                }
            }
        }
    }

    func testProbabilitiesAreCalibrated() throws {
        var house = TrainedHouse()
        var classifier = AdaptiveClassifier(house.training())
        var sum = 0.0
        var right = 0
        for (index, room) in TrainedHouse.rooms.enumerated() {
            for scan in house.scans(in: room, count: 60, from: Double(index) * 60) {
                let estimate = try XCTUnwrap(classifier.classify(scan), room)
                sum += estimate.probability
                if estimate.room == room { right += 1 }
            }
        }
        let count = Double(60 * TrainedHouse.rooms.count)
        // 360 scans that depend on each other: some 5 % either way are chance.
        XCTAssertEqual(sum / count, Double(right) / count, accuracy: 0.1)
    }

    func testADeviceFarFromAllRoomsIsInNoneOfThem() throws {
        var house = TrainedHouse()
        var classifier = AdaptiveClassifier(house.training())
        // One beacon of each room near and its other one far is what no room of the house has.
        let rssi = Dictionary(
            uniqueKeysWithValues: (0..<TrainedHouse.beaconCount).map {
                (TrainedHouse.beacon($0), $0 % 2 == 0 ? -50.0 : -90.0)
            })
        var estimate: RoomEstimate?
        for second in 0..<60 {
            estimate = classifier.classify(RoomScan(instant: Instant(seconds: Double(second)), rssi: rssi))
        }
        XCTAssertNil(try XCTUnwrap(estimate).room)
        XCTAssertGreaterThan(try XCTUnwrap(estimate).probability, 0.5)
    }

    /// Each beacon a little stronger or fainter than in the den, as in a room beside it.
    func testTheProbabilityOfAnUntrainedRoomGrowsDuringAVisit() throws {
        var house = TrainedHouse()
        let training = house.training()
        let scans = house.scans(in: "den", count: 900).map { scan in
            let rssi = scan.rssi.map { beacon, rssi in (beacon, rssi + (beacon.minor % 2 == 0 ? 12 : -12)) }
            return RoomScan(instant: scan.instant, rssi: Dictionary(uniqueKeysWithValues: rssi))
        }
        func elsewhere(_ visit: Duration) throws -> [Double] {
            var settings = AdaptiveClassifier.Settings()
            settings.meanVisit = visit
            var classifier = AdaptiveClassifier(training, settings: settings)
            return try scans.map { try XCTUnwrap(classifier.classify($0)).probability(of: nil) }
        }
        let (long, short) = (try elsewhere(.seconds(900)), try elsewhere(.seconds(20)))
        XCTAssertGreaterThan(try XCTUnwrap(long.last), 0.9)
        XCTAssertGreaterThan(try XCTUnwrap(long.last), try XCTUnwrap(short.last) + 0.03)
    }

    func testNoneOfTheRoomsCanBeExcluded() throws {
        var house = TrainedHouse()
        var settings = AdaptiveClassifier.Settings()
        settings.elsewhereProbability = 0
        var classifier = AdaptiveClassifier(house.training(), settings: settings)
        let estimate = try XCTUnwrap(classifier.classify(house.scan(in: "bath", at: 0)))
        XCTAssertEqual(estimate.candidates.count, TrainedHouse.rooms.count)
        XCTAssertFalse(estimate.candidates.contains { $0.room == nil })
    }

    func testBeaconsThatWereAddedWithOneRoomDoNotFavorThatRoom() {
        var house = TrainedHouse()
        var training = house.training()
        // While the den was trained anew, four beacons more were there; now they are heard everywhere.
        let added = (20..<24).map(TrainedHouse.beacon)
        let samples = (training.rooms["den"]?.samples ?? []).map { sample in
            RoomFingerprint.Sample(
                timestamp: sample.timestamp, rssi: added.reduce(into: sample.rssi) { $0[$1] = -65 })
        }
        training.rooms["den"] = RoomFingerprint(samples: samples)
        var classifier = alone(training)
        let told = house.scans(in: "attic", count: 60).map { scan in
            classifier.classify(
                RoomScan(instant: scan.instant, rssi: added.reduce(into: scan.rssi) { $0[$1] = -65 }))?.room
        }
        XCTAssertLessThan(told.count { $0 == "den" }, 6, "\(told)")
    }

    func testTheSameInputGivesIdenticalOutput() {
        var runs: [[RoomEstimate?]] = []
        for _ in 0..<2 {
            var house = TrainedHouse()
            var classifier = AdaptiveClassifier(house.training())
            runs.append(house.scans(in: "entry", count: 30).map { classifier.classify($0) })
        }
        XCTAssertEqual(runs[0], runs[1])
    }

    func testScansOutOfOrderAndGapsOfYearsKeepProbabilitiesValid() throws {
        var house = TrainedHouse()
        var classifier = AdaptiveClassifier(house.training())
        for seconds in [0, 1e9, -1e9, 5, 5, 1e9] {
            let estimate = try XCTUnwrap(classifier.classify(house.scan(in: "den", at: seconds)))
            XCTAssertEqual(estimate.candidates.reduce(0) { $0 + $1.probability }, 1, accuracy: 1e-9, "\(seconds)")
        }
    }
}
