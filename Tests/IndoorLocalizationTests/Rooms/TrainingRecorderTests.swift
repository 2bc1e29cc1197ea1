import IndoorLocalization
import XCTest

final class TrainingRecorderTests: XCTestCase {
    private func scan(at seconds: Double, rssi: Double = -60) -> RoomScan {
        RoomScan(instant: Instant(seconds: seconds), rssi: [TrainedHouse.beacon(1): rssi])
    }

    private func started() -> TrainingRecorder {
        var recorder = TrainingRecorder()
        recorder.start(at: Instant(seconds: 100), unixTime: 1_000_000)
        return recorder
    }

    func testEachScanIsASampleWithItsTimeAndWholeDecibels() throws {
        var recorder = started()
        recorder.observe(scan(at: 100.5, rssi: -60.4))
        recorder.observe(scan(at: 101.5, rssi: -60.6))
        let samples = try XCTUnwrap(recorder.finish()).samples
        XCTAssertEqual(samples.map(\.timestamp), [1_000_000.5, 1_000_001.5])
        XCTAssertEqual(samples.map { $0.rssi[TrainedHouse.beacon(1)] }, [-60, -61])
    }

    func testAPauseDropsSamplesAndResumingContinues() {
        var recorder = started()
        recorder.observe(scan(at: 101))
        recorder.pause()
        XCTAssertEqual(recorder.state, .paused)
        recorder.observe(scan(at: 102))
        recorder.resume()
        XCTAssertEqual(recorder.state, .recording)
        recorder.observe(scan(at: 103))
        XCTAssertEqual(recorder.finish()?.samples.map(\.timestamp), [1_000_001, 1_000_003])
    }

    func testAfterAnAbortThereIsNothingToFinish() {
        var recorder = started()
        recorder.observe(scan(at: 101))
        recorder.abort()
        recorder.observe(scan(at: 102))
        XCTAssertNil(recorder.finish())
    }

    func testWithoutAStartThereIsNothingToFinish() {
        var recorder = TrainingRecorder()
        recorder.resume()
        recorder.observe(scan(at: 1))
        XCTAssertNil(recorder.finish())
    }

    func testStartedAndFinishedWithoutSamplesIsAnEmptyFingerprint() {
        var recorder = started()
        recorder.observe(RoomScan(instant: Instant(seconds: 101), rssi: [:]))
        XCTAssertEqual(recorder.finish(), RoomFingerprint())
        XCTAssertNil(recorder.finish(), "it is finished")
    }

    func testAStartDiscardsAnUnfinishedRecording() {
        var recorder = started()
        recorder.observe(scan(at: 101))
        XCTAssertEqual(recorder.sampleCount, 1)
        recorder.start(at: Instant(seconds: 200), unixTime: 5)
        XCTAssertEqual(recorder.fingerprint, RoomFingerprint())
        recorder.observe(scan(at: 201))
        XCTAssertEqual(recorder.finish()?.samples.map(\.timestamp), [6])
    }

    // MARK: - Sets

    func testFurtherFingerprintsAreAddedToARoom() {
        var house = TrainedHouse()
        let first = house.training()
        var both = first
        both.add(house.training())
        XCTAssertEqual(both.rooms.keys.sorted(), TrainedHouse.rooms)
        for room in TrainedHouse.rooms {
            XCTAssertEqual(both.rooms[room]?.samples.count, 120, room)
            XCTAssertEqual(both.rooms[room]?.samples.prefix(60), first.rooms[room]?.samples[...], room)
        }
    }

    func testAMovedBeaconIsForgottenInAllRooms() {
        var house = TrainedHouse()
        var training = house.training()
        XCTAssertEqual(training.beacons.count, TrainedHouse.beaconCount)
        training.forget(TrainedHouse.beacon(3))
        XCTAssertFalse(training.beacons.contains(TrainedHouse.beacon(3)))
        XCTAssertEqual(training.beacons.count, TrainedHouse.beaconCount - 1)
        XCTAssertEqual(training.rooms["attic"]?.samples.count, 60)
    }

    // MARK: - Quality

    private func fingerprint(samples: Int) -> RoomFingerprint {
        RoomFingerprint(
            samples: (0..<samples).map { .init(timestamp: Double($0), rssi: [TrainedHouse.beacon($0 % 4): -60]) })
    }

    func testTheScoreDeductsForEachMissingProperty() {
        func score(_ samples: Int, _ change: (inout FingerprintQuality.Circumstances) -> Void = { _ in }) -> Double {
            var circumstances = FingerprintQuality.Circumstances()
            circumstances.hasPocketSamples = true
            change(&circumstances)
            return FingerprintQuality(of: fingerprint(samples: samples), in: circumstances).score
        }
        XCTAssertEqual(score(150), 100)
        XCTAssertEqual(score(75), 60)
        XCTAssertEqual(score(150) { $0.hasPocketSamples = false }, 80)
        XCTAssertEqual(score(150) { $0.isReceiverKnown = false }, 50)
        XCTAssertEqual(score(150) { $0.isReceiverMatched = false }, 80)
        XCTAssertEqual(score(150) { $0.presentBeacons = Set((0..<5).map(TrainedHouse.beacon)) }, 80, accuracy: 1e-9)
        XCTAssertEqual(score(0) { $0.isReceiverKnown = false }, 0, "never below 0")
    }

    func testAScoreBelow60IsBad() {
        XCTAssertFalse(FingerprintQuality(of: fingerprint(samples: 113)).isBad, "60.3")
        XCTAssertTrue(FingerprintQuality(of: fingerprint(samples: 112)).isBad, "59.7")
    }

    func testTheDeductionsExplainTheScore() {
        var circumstances = FingerprintQuality.Circumstances()
        circumstances.presentBeacons = Set((0..<5).map(TrainedHouse.beacon))
        let quality = FingerprintQuality(of: fingerprint(samples: 75), in: circumstances)
        XCTAssertEqual(quality.deductions.keys.sorted { $0.rawValue < $1.rawValue }, [.beacons, .pocket, .samples])
        XCTAssertEqual(100 - quality.deductions.values.reduce(0, +), quality.score, accuracy: 1e-9)
    }

    /// A minute in a room, as is asked for, is enough though Crownstone's score calls it bad.
    func testAMinuteIsEnoughAndTenSecondsAreNot() {
        var house = TrainedHouse()
        for (room, minute) in house.training().rooms {
            let quality = FingerprintQuality(of: minute)
            XCTAssertTrue(quality.isSufficient, "\(room): \(quality.shortcomings)")
            XCTAssertTrue(quality.isBad, room)
            let short = RoomFingerprint(samples: Array(minute.samples.prefix(10)))
            XCTAssertEqual(FingerprintQuality(of: short).shortcomings, [.samples], room)
        }
    }

    func testARoomWithTwoBeaconsHasTooFew() {
        let samples = (0..<60).map { second in
            RoomFingerprint.Sample(
                timestamp: Double(second),
                rssi: Dictionary(
                    uniqueKeysWithValues: (0..<(second % 10 < 7 ? 3 : 2)).map { (TrainedHouse.beacon($0), -60) }))
        }
        let quality = FingerprintQuality(of: RoomFingerprint(samples: samples))
        XCTAssertEqual(quality.answerableShare, 0.7, accuracy: 1e-9)
        XCTAssertEqual(quality.shortcomings, [.beacons])
        XCTAssertEqual(FingerprintQuality(of: RoomFingerprint()).shortcomings, [.samples, .beacons])
    }

    func testCoverageIsTheShareOfReceivedBeacons() {
        let four = fingerprint(samples: 10)
        XCTAssertEqual(four.coverage(of: Set((0..<8).map(TrainedHouse.beacon))), 0.5)
        XCTAssertEqual(four.coverage(of: []), 1)
    }
}
