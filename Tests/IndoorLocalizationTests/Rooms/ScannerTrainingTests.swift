import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

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
