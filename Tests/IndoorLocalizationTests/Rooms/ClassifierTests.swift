import CMath
import IndoorLocalization
import XCTest

/// What holds for all classifiers, and the two that are compared with.
final class ClassifierTests: XCTestCase {
    private func classifiers(_ training: RoomTrainingSet) -> [(name: String, classifier: any Classifier)] {
        [
            ("naive Bayes", NaiveBayesClassifier(training)), ("nearest neighbour", NearestNeighborClassifier(training)),
            ("adaptive", AdaptiveClassifier(training)),
        ]
    }

    private func scan(_ values: [Double]) -> RoomScan {
        RoomScan(
            instant: .zero,
            rssi: Dictionary(uniqueKeysWithValues: values.indices.map { (TrainedHouse.beacon($0), values[$0]) }))
    }

    private func fingerprint(_ samples: [[Double]]) -> RoomFingerprint {
        RoomFingerprint(samples: samples.map { .init(timestamp: 0, rssi: scan($0).rssi) })
    }

    func testAClassifierNeedsThreeBeacons() {
        var house = TrainedHouse()
        for (name, var classifier) in classifiers(house.training()) {
            XCTAssertNil(classifier.classify(scan([-60, -60])), name)
            XCTAssertNotNil(classifier.classify(scan([-60, -60, -60])), name)
        }
    }

    func testUntrainedBeaconsAreIgnored() {
        var house = TrainedHouse()
        for (name, var classifier) in classifiers(house.training()) {
            var rssi = scan([-60, -60]).rssi
            for minor in 100..<110 { rssi[TrainedHouse.beacon(minor)] = -50 }
            XCTAssertNil(classifier.classify(RoomScan(instant: .zero, rssi: rssi)), name)
        }
    }

    func testAClassifierWithoutTrainingHasNoEstimate() {
        for training in [RoomTrainingSet(), RoomTrainingSet(rooms: ["attic": RoomFingerprint()])] {
            for (name, var classifier) in classifiers(training) {
                XCTAssertNil(classifier.classify(scan([-60, -60, -60])), name)
            }
        }
    }

    func testProbabilitiesAddUpToOneAndTheMostProbableIsFirst() throws {
        var house = TrainedHouse()
        for (name, var classifier) in classifiers(house.training()) {
            for room in TrainedHouse.rooms {
                let estimate = try XCTUnwrap(classifier.classify(house.scan(in: room, at: 0)), name)
                let values = estimate.candidates.map(\.probability)
                XCTAssertEqual(values.reduce(0, +), 1, accuracy: 1e-9, name)
                XCTAssertEqual(values, values.sorted(by: >), name)
                XCTAssertEqual(estimate.probability(of: estimate.room), values[0], name)
                XCTAssertEqual(estimate.probability(of: "moon"), 0, name)
            }
        }
    }

    // MARK: - Naive Bayes

    func testNaiveBayesIsTheGeometricMeanOfNormalDensities() throws {
        // Means -60, -70, -80 with deviation 2; and the same 6 dB weaker with the least deviation, 1.
        let training = RoomTrainingSet(rooms: [
            "near": fingerprint([[-58, -68, -78], [-62, -72, -82]]), "far": fingerprint([[-66, -76, -86]]),
        ])
        let estimate = try XCTUnwrap(NaiveBayesClassifier(training).classify(scan([-63, -73, -83])))
        // Each beacon is 1.5 deviations from the one and 3 from the other.
        let near = cmath_exp(-1.5 * 1.5 / 2) / 2
        let far = cmath_exp(-3.0 * 3 / 2)
        XCTAssertEqual(estimate.room, "near")
        XCTAssertEqual(estimate.probability, near / (near + far), accuracy: 1e-12)
    }

    func testNaiveBayesExcludesARoomThatSharesFewerThanThreeBeacons() throws {
        let training = RoomTrainingSet(rooms: [
            "two": fingerprint([[-60, -60]]), "three": fingerprint([[-80, -80, -80]]),
        ])
        let estimate = try XCTUnwrap(NaiveBayesClassifier(training).classify(scan([-60, -60, -60])))
        XCTAssertEqual(estimate.room, "three")
        XCTAssertEqual(estimate.probability(of: "two"), 0)
    }

    // MARK: - Nearest neighbour

    func testTheNearestNeighbourHasTheSmallestDistanceOfAllSamples() throws {
        func sigmoid(_ rssi: Double) -> Double { 1 / (1 + cmath_exp(0.1 * (rssi + 50))) }
        func distance(_ left: [Double], _ right: [Double]) -> Double {
            zip(left, right).reduce(0) { $0 + $1.0 * $1.0 + $1.1 * $1.1 - 1.95 * $1.0 * $1.1 }
        }
        let training = RoomTrainingSet(rooms: [
            "a": fingerprint([[-60, -70, -80], [-40, -90, -90]]), "b": fingerprint([[-50, -75, -80, -66]]),
        ])
        let heard = [-52, -74, -81].map(sigmoid) + [1]
        let distances = [
            [-60, -70, -80].map(sigmoid) + [1], [-40, -90, -90].map(sigmoid) + [1], [-50, -75, -80, -66].map(sigmoid),
        ].map { distance(heard, $0) }
        let (a, b) = (min(distances[0], distances[1]), distances[2])
        let estimate = try XCTUnwrap(NearestNeighborClassifier(training).classify(scan([-52, -74, -81])))
        XCTAssertEqual(estimate.room, a <= b ? "a" : "b")
        XCTAssertEqual(
            estimate.probability(of: "a"), cmath_exp(-a) / (cmath_exp(-a) + cmath_exp(-b)), accuracy: 1e-12)
    }

    func testTheFirstRoomWinsAmongEqualNeighbours() {
        let same = fingerprint([[-60, -70, -80]])
        let training = RoomTrainingSet(rooms: ["b": same, "a": same])
        XCTAssertEqual(NearestNeighborClassifier(training).classify(scan([-60, -70, -80]))?.room, "a")
    }
}

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

/// Training with the device in a pocket beside training in hand.
final class PocketTests: XCTestCase {
    private static let loss = 14.0

    /// A minute in hand in each room, and a minute in a pocket.
    private func training(_ house: inout TrainedHouse, marked: Bool) -> RoomTrainingSet {
        var training = house.training()
        for room in TrainedHouse.rooms {
            var recorder = TrainingRecorder()
            recorder.start(at: .zero, unixTime: 1, placement: marked ? .pocket : .hand)
            for scan in house.scans(in: room, count: 60, offset: -Self.loss) { recorder.observe(scan) }
            training.add(recorder.finish() ?? RoomFingerprint(), to: room)
        }
        return training
    }

    func testARecorderMarksItsSamples() {
        var house = TrainedHouse()
        let den = training(&house, marked: true).rooms["den"]
        XCTAssertEqual(den?.samples(in: .hand).count, 60)
        XCTAssertEqual(den?.samples(in: .pocket).count, 60)
    }

    func testTheAttenuationOfAPocketIsCompensated() throws {
        var house = TrainedHouse()
        let den = try XCTUnwrap(training(&house, marked: true).rooms["den"]).inHand
        let beacon = TrainedHouse.beacon(6)
        func mean(_ placement: RoomFingerprint.Placement) -> Double {
            let values = den.samples(in: placement).compactMap { $0.rssi[beacon] }
            return values.reduce(0, +) / Double(values.count)
        }
        XCTAssertEqual(mean(.pocket), mean(.hand), accuracy: 5, "before, they were 14 dB apart")
        let hand = RoomFingerprint(samples: den.samples(in: .hand))
        XCTAssertEqual(hand.inHand, hand)
        let pocket = RoomFingerprint(samples: den.samples(in: .pocket))
        XCTAssertEqual(pocket.inHand, pocket, "there is nothing to compare with")
    }

    func testTrainingInAPocketIsUsableOnceItIsMarked() {
        var (first, second) = (TrainedHouse(), TrainedHouse())
        let (marked, mixed) = (training(&first, marked: true), training(&second, marked: false))
        func accuracies(_ offset: Double) -> (marked: Double, mixed: Double) {
            let good = first.accuracy(of: AdaptiveClassifier(marked), offset: offset)
            let bad = second.accuracy(of: AdaptiveClassifier(mixed), offset: offset)
            print("offset \(offset): marked \(good), mixed \(bad)")
            return (good, bad)
        }
        let inHand = accuracies(0)
        XCTAssertGreaterThan(inHand.marked, 0.95)
        XCTAssertGreaterThan(inHand.marked, inHand.mixed)
        // Half of the beacons are too faint to be heard in the pocket.
        let inPocket = accuracies(-Self.loss)
        XCTAssertGreaterThan(inPocket.marked, 0.75)
        XCTAssertGreaterThan(inPocket.marked, inPocket.mixed - 0.03)
    }

    func testAScoreConsidersThePlacementOfAFingerprint() {
        var fingerprint = RoomFingerprint(
            samples: (0..<150).map { .init(timestamp: Double($0), rssi: [TrainedHouse.beacon($0 % 4): -60]) })
        XCTAssertEqual(FingerprintQuality(of: fingerprint).score, 80)
        fingerprint.samples.append(.init(timestamp: 150, rssi: [:], placement: .pocket))
        XCTAssertEqual(FingerprintQuality(of: fingerprint).score, 100)
        fingerprint.samples.removeFirst(75)
        XCTAssertEqual(FingerprintQuality(of: fingerprint).score, 60, "samples in hand count")
    }
}

final class RoomScanTests: XCTestCase {
    private func sighting(_ minor: Int, at seconds: Double, rssi: Double = -60) -> Sighting {
        Sighting(instant: Instant(seconds: seconds), beacon: TrainedHouse.beacon(minor), rssi: rssi)
    }

    func testInvalidAndTooStrongRSSIsAreLeftOut() {
        let values = [-128, -127, -60, -1.5, -1, 0, 127]
        let scan = RoomScan(
            instant: .zero,
            rssi: Dictionary(uniqueKeysWithValues: values.indices.map { (TrainedHouse.beacon($0), values[$0]) }))
        XCTAssertEqual(scan.rssi.values.sorted(), [-127, -60, -1.5])
    }

    func testSightingsAreCutIntoScansOfASecondWithMeanRSSI() {
        let scans = RoomScan.scans(of: [
            sighting(1, at: 0, rssi: -60), sighting(2, at: 0.4), sighting(1, at: 0.9, rssi: -70),
            sighting(1, at: 1.0, rssi: -80), sighting(3, at: 1.3),
        ])
        XCTAssertEqual(scans.map(\.instant.seconds), [0.9, 1.3])
        XCTAssertEqual(scans.map(\.rssi.count), [2, 2])
        XCTAssertEqual(scans.map { $0.rssi[TrainedHouse.beacon(1)] }, [-65, -80])
    }

    func testEachBatchIsAScanEvenIfTheyAreClose() {
        let scans = RoomScan.scans(of: [
            sighting(1, at: 0), sighting(2, at: 0), sighting(3, at: 0), sighting(1, at: 0.01), sighting(2, at: 0.01),
            sighting(2, at: 0.01), sighting(3, at: 0.01),
        ])
        XCTAssertEqual(scans.map(\.rssi.count), [3, 2, 2], "a beacon again begins the next one")
    }

    func testThereIsNoScanWithoutSightings() { XCTAssertEqual(RoomScan.scans(of: []), []) }

    func testARangingIsAScan() {
        let range = RangeEstimate(
            beacon: TrainedHouse.beacon(4), instant: .zero, rssi: -71.5, rssiDeviation: 2, distance: nil)
        let scan = RoomScan(RegionRanging(instant: Instant(seconds: 3), regionID: "home", ranges: [range]))
        XCTAssertEqual(scan, RoomScan(instant: Instant(seconds: 3), rssi: [TrainedHouse.beacon(4): -71.5]))
    }
}

/// A house of six rooms with a dozen beacons, heard by simulated receivers.
struct TrainedHouse {
    static let uuid = BeaconUUID(high: 0xB5B1_82C7_EAB1_4988, low: 0xAA99_B5C1_5170_08D9)
    static let rooms = ["attic", "bath", "cellar", "den", "entry", "garage"]
    static let beaconCount = 12
    private static let seed: UInt64 = 6
    /// From one second to the next: e^(-1/10), and what keeps the deviation at 5 dB.
    private static let (persistence, renewal) = (0.905, 2.13)

    private var generator: SeededGenerator
    /// What shadows the receiver, by beacon in dB: it holds for some 10 s, as bodies and hands do.
    private var shadows: [Double]

    init(seed: UInt64 = Self.seed) {
        print("seed of the house: \(seed)")
        generator = SeededGenerator(seed: seed)
        shadows = [Double](repeating: 0, count: Self.beaconCount)
    }

    static func beacon(_ minor: Int) -> BeaconIdentity { BeaconIdentity(uuid: uuid, major: 1, minor: UInt16(minor)) }

    /// Rooms of 5 m by 5 m, three in a row; two beacons in each, in opposite corners.
    private static func center(of room: Int) -> (x: Double, y: Double) {
        (2.5 + 5 * Double(room % 3), 2.5 + 5 * Double(room / 3))
    }

    /// What a receiver hears in a room: it stands anywhere in it, and walls take 4 dB each.
    ///
    /// - Parameter offset: by how many dB the receiver reads above another.
    mutating func scan(in name: String, at seconds: Double, offset: Double = 0) -> RoomScan {
        let room = Self.rooms.firstIndex(of: name) ?? 0
        let center = Self.center(of: room)
        let (x, y) = (center.x + 4 * generator.uniform() - 2, center.y + 4 * generator.uniform() - 2)
        var rssi: [BeaconIdentity: Double] = [:]
        for index in 0..<Self.beaconCount {
            shadows[index] = Self.persistence * shadows[index] + Self.renewal * generator.normal()
            let home = Self.center(of: index / 2)
            let corner = index % 2 == 0 ? -2.0 : 2.0
            let distance = max(0.5, cmath_hypot(x - home.x - corner, y - home.y - corner))
            let walls = abs(room % 3 - index / 2 % 3) + abs(room / 3 - index / 6)
            let value =
                -59 - 22 * cmath_log10(distance) - 4 * Double(walls) + shadows[index] + offset
                + 4 * generator.normal()
            // Every tenth advertisement is missed, and the faint ones are not heard.
            if generator.uniform() > 0.1, value > -92 { rssi[Self.beacon(index)] = value.rounded() }
        }
        return RoomScan(instant: Instant(seconds: seconds), rssi: rssi)
    }

    mutating func scans(in room: String, count: Int, from seconds: Double = 0, offset: Double = 0) -> [RoomScan] {
        (0..<count).map { scan(in: room, at: seconds + Double($0), offset: offset) }
    }

    /// What a minute of training in each room gives.
    mutating func training() -> RoomTrainingSet {
        var training = RoomTrainingSet()
        for room in Self.rooms {
            var recorder = TrainingRecorder()
            recorder.start(at: .zero, unixTime: 1)
            for scan in scans(in: room, count: 60) { recorder.observe(scan) }
            training.rooms[room] = recorder.finish()
        }
        return training
    }

    /// Returns the share of correctly classified scans, with five minutes in each room, one after the other.
    mutating func accuracy(of classifier: some Classifier, offset: Double = 0) -> Double {
        var classifier = classifier
        var right = 0
        for (index, room) in Self.rooms.enumerated() {
            for scan in scans(in: room, count: 300, from: Double(index) * 300, offset: offset) {
                if classifier.classify(scan)?.room == room { right += 1 }
            }
        }
        return Double(right) / Double(300 * Self.rooms.count)
    }
}
