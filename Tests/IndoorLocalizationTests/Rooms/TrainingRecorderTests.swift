import IndoorLocalization
import IndoorLocalizationTesting
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

/// Training of a room with what a scanner hears.
final class ScannerTrainingTests: XCTestCase {
    /// 5000 s on the radio's clock are this second of the wall clock.
    private static let unixTime = 1_700_000_000.25

    private func stage() async throws -> ScannerStage {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: .continuous))
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        return stage
    }

    private func train(_ stage: ScannerStage, in region: String? = "home") async {
        await stage.scanner.train(room: "kitchen", in: region, placement: .pocket) { instant in
            Self.unixTime + instant.seconds - ScannerStage.beginning
        }
    }

    /// Three beacons, up to the ranging at so many seconds since the start.
    private func hear(_ stage: ScannerStage, until seconds: Double) async throws {
        for minor in 1...UInt16(3) { try await stage.hear(ScannerStage.beacon(1, minor), rssi: -50.4) }
        try await stage.ring(at: seconds)
    }

    func testEachRangingIsASampleWithTheTimeOfTheWallClock() async throws {
        let stage = try await stage()
        let progress = stage.scanner.trainingProgress
        try await stage.start()
        await train(stage)
        for second in 1...3 { try await hear(stage, until: Double(second)) }
        let steps = try await Bounded.first(4, of: progress)
        XCTAssertEqual(steps.map(\.sampleCount), [0, 1, 2, 3])
        XCTAssertEqual(steps.map(\.state), [.recording, .recording, .recording, .recording])
        XCTAssertEqual(steps[3].room, "kitchen")
        XCTAssertEqual(steps[3].beacons.count, 3)
        XCTAssertEqual(steps[3].quality.shortcomings, [.samples], "three beacons are enough, three samples are not")
        let fingerprint = await stage.scanner.finishTraining()
        XCTAssertEqual(fingerprint?.samples.map(\.timestamp), [1, 2, 3].map { Self.unixTime + $0 })
        XCTAssertEqual(fingerprint?.samples.map(\.placement), [.pocket, .pocket, .pocket])
        XCTAssertEqual(fingerprint?.samples.first?.rssi[ScannerStage.beacon(1, 2)], -50, "whole dBm")
        let left = await stage.scanner.training
        XCTAssertNil(left)
    }

    func testAPauseTakesNoSamplesAndAnAbortDropsThem() async throws {
        let stage = try await stage()
        let progress = stage.scanner.trainingProgress
        let rangings = stage.scanner.rangings
        try await stage.start()
        await train(stage)
        try await hear(stage, until: 1)
        _ = try await Bounded.first(1, of: rangings)
        await stage.scanner.pauseTraining()
        try await hear(stage, until: 2)
        _ = try await Bounded.first(1, of: rangings)
        let paused = await stage.scanner.training
        XCTAssertEqual(paused?.sampleCount, 1)
        await stage.scanner.resumeTraining()
        try await hear(stage, until: 3)
        let steps = try await Bounded.first(5, of: progress)
        XCTAssertEqual(steps.map(\.state), [.recording, .recording, .paused, .recording, .recording])
        XCTAssertEqual(steps.map(\.sampleCount), [0, 1, 1, 1, 2])
        await stage.scanner.abortTraining()
        let aborted = try await Bounded.first(1, of: progress)[0]
        XCTAssertEqual(aborted.state, .idle)
        XCTAssertEqual(aborted.sampleCount, 0)
        let fingerprint = await stage.scanner.finishTraining()
        XCTAssertNil(fingerprint, "nothing was being trained")
    }

    func testATrainingWithoutSamplesFinishesEmptyAndANewOneDiscardsTheOld() async throws {
        let stage = try await stage()
        let progress = stage.scanner.trainingProgress
        try await stage.start()
        await train(stage)
        try await hear(stage, until: 1)
        _ = try await Bounded.first(2, of: progress)
        await train(stage)
        let fingerprint = await stage.scanner.finishTraining()
        XCTAssertEqual(fingerprint, RoomFingerprint())
    }

    func testRangingsOfOtherRegionsAreNoSamples() async throws {
        let stage = try await stage()
        let rangings = stage.scanner.rangings
        try await stage.start()
        await train(stage, in: "office")
        try await hear(stage, until: 1)
        _ = try await Bounded.first(1, of: rangings)
        let other = await stage.scanner.training
        XCTAssertEqual(other?.sampleCount, 0)
        await train(stage, in: nil)
        try await hear(stage, until: 2)
        _ = try await Bounded.first(1, of: rangings)
        let any = await stage.scanner.training
        XCTAssertEqual(any?.sampleCount, 1, "of all regions")
    }
}
