import IndoorLocalization
import XCTest

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
