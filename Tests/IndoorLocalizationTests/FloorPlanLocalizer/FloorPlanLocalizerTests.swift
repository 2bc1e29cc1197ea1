import IndoorLocalization
import IndoorLocalizationTesting
import XCTest
@testable import LocalizationSession

/// What a positioner promises to its users: steps, streams, several side by side.
final class FloorPlanLocalizerTests: XCTestCase {
    private static let beginning = FloorPlanLocalizerStage.beginning
    private let way = ["connecting", "connected", "loading", "ready", "waitingForFix", "positioning"]

    func testStartGoesThroughAllStatesAndGivesPositions() async throws {
        let stage = FloorPlanLocalizerStage()
        let (states, positions) = (stage.positioner.states, stage.positioner.positions)
        try await stage.run()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(seen.map(\.name), ["stopped"] + way)
        let position = try await Bounded.first(1, of: positions)[0]
        XCTAssertEqual(position.mapID, 10)
        XCTAssertEqual(position.floorCertainty, 1, "the floor was given")
    }

    func testPrepareTwiceAndStartAfterItLoadOnce() async throws {
        let stage = FloorPlanLocalizerStage()
        let states = stage.positioner.states
        await stage.positioner.prepare(FloorPlanLocalizerParameters(motionMode: .shoppingCart))
        try await stage.reach("ready")
        await stage.positioner.prepare()
        XCTAssertEqual(stage.source.scanCount, 0)
        try await stage.run()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(seen.map(\.name), ["stopped"] + way)
        XCTAssertEqual(stage.venues.requests, [.catalogue, .packet(1)])
    }

    func testAStoppedLocalizerEmitsNothingAndHasNoLatency() async throws {
        let stage = FloorPlanLocalizerStage()
        try await stage.run()
        let states = stage.positioner.states
        await stage.positioner.stop()
        await stage.positioner.stop()
        let latency = await stage.positioner.latency
        XCTAssertEqual(latency, .zero)
        let positions = stage.positioner.positions
        for reading in LocalizerStage.walk(from: Self.beginning + 3, for: 3) { stage.source.send(reading) }
        try await Bounded.wait(for: "the end of the scan") { try await stage.source.waitUntilNothingRuns() }
        await stage.positioner.connect()
        let seen = try await Bounded.first(4, of: states)
        XCTAssertEqual(seen.map(\.name), ["positioning", "stopped", "connecting", "connected"])
        try await stage.run(from: Self.beginning + 100)
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertGreaterThanOrEqual(first.instant, Instant(seconds: Self.beginning + 100), "of the first session")
    }

    func testTheLatencyIsMeasuredFromTheQuickestDelivery() async throws {
        let stage = FloorPlanLocalizerStage()
        let positions = stage.positioner.positions
        try await stage.run()
        _ = try await Bounded.elements(of: positions, until: "the last look at the walk") {
            $0.instant >= Instant(seconds: Self.beginning + 2)
        }
        // The walk's last reading, of 2.4 s, came without delay: 2.3 s later, one of 4.4 s is 0.3 s late.
        stage.clock.advance(by: .milliseconds(2300))
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 4.4))
        // What is due before the next reading is done before it, whatever the clock says.
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 5.1))
        _ = try await Bounded.elements(of: positions, until: "the look between the two") {
            $0.instant >= Instant(seconds: Self.beginning + 5)
        }
        let latency = await stage.positioner.latency
        XCTAssertEqual(latency.seconds, 0.6, accuracy: 0.01, "from 4.4 s to 5 s")
    }

    func testARecordingGivesTheSamePositionsAsAReplayOfASession() async throws {
        var venue = SessionStage.office
        venue.maps = [venue.maps[0]]
        let readings = LocalizerStage.walk(from: 0, for: 5)
        var replay = SessionReplay(venues: [venue], settings: LocalizerStage.settings, seed: 1)
        let outputs = replay.start() + readings.flatMap { replay.handle($0) } + replay.finish()
        let expected = outputs.compactMap { if case .position(let position) = $0.content { position } else { nil } }
        let stage = FloorPlanLocalizerStage(ScriptedSource(readings), venue: venue)
        let (states, positions) = (stage.positioner.states, stage.positioner.positions)
        await stage.positioner.start()
        let seen = try await Bounded.elements(of: states, until: "the end") { $0 == .positioning }
        XCTAssertEqual(seen.first?.name, "stopped")
        _ = try await Bounded.elements(of: stage.positioner.states, until: "the end") { $0 == .stopped(nil) }
        let told = try await Bounded.first(expected.count, of: positions)
        XCTAssertGreaterThan(expected.count, 5)
        // All that a position tells: point, pixel, radius, course, speed. The floor is given here, and found there.
        func withoutCertainty(_ positions: [Position]) -> [Position] {
            positions.map { position in
                var position = position
                position.floorCertainty = 1
                return position
            }
        }
        XCTAssertEqual(withoutCertainty(told), withoutCertainty(expected))
        for position in told {
            let pixel = try XCTUnwrap(position.pixel)
            XCTAssertEqual(pixel.x, position.x * 10, accuracy: 1e-9, "400 px for 40 m")
            XCTAssertEqual(pixel.y, position.y * 10, accuracy: 1e-9)
            XCTAssertGreaterThan(position.radius, 0)
        }
    }

    func testConcurrentFloorPlanLocalizersShareOneScan() async throws {
        let radio = ScriptedSource()
        let shared = SharedScanSource(radio)
        let stages = [
            FloorPlanLocalizerStage(radio, sharing: shared), FloorPlanLocalizerStage(radio, sharing: shared, map: 1),
        ]
        for stage in stages {
            await stage.positioner.start()
            try await stage.reach("waitingForFix")
        }
        XCTAssertEqual(radio.scanCount, 1)
        let positions = stages.map(\.positioner.positions)
        for reading in LocalizerStage.walk(from: Self.beginning, for: 2.5) { radio.send(reading) }
        let first = try await Bounded.first(1, of: positions[0])[0]
        let second = try await Bounded.first(1, of: positions[1])[0]
        XCTAssertEqual([first.mapID, second.mapID], [10, 11])
        await stages[0].positioner.stop()
        XCTAssertEqual(radio.runningScanCount, 1)
        await stages[1].positioner.stop()
        try await Bounded.wait(for: "the end of the scan") { try await radio.waitUntilNothingRuns() }
    }

    func testAnApplicationCanSwitchBetweenFloorPlansAndBack() async throws {
        let radio = ScriptedSource()
        let stages = [FloorPlanLocalizerStage(radio), FloorPlanLocalizerStage(radio, map: 1)]
        for (turn, stage) in [stages[0], stages[1], stages[0]].enumerated() {
            try await stage.run(from: Self.beginning + 100 * Double(turn))
            XCTAssertEqual(radio.runningScanCount, 1, "turn \(turn)")
            await stage.positioner.stop()
            try await Bounded.wait(for: "the end of the scan") { try await radio.waitUntilNothingRuns() }
        }
        XCTAssertEqual(radio.scanCount, 3)
    }

    func testAFixInPixelsBeforeTheStartIsTheStartingPoint() async throws {
        let stage = FloorPlanLocalizerStage()
        await stage.positioner.connect()
        try await stage.reach("connected")
        let outcome = try await stage.positioner.submit(.pixel(PixelPoint(x: 300, y: 250)), radius: 10)
        XCTAssertEqual(outcome, .kept)
        let positions = stage.positioner.positions
        await stage.positioner.start()
        let first = try await Bounded.first(1, of: positions)[0]
        XCTAssertLessThan(first.point.distance(to: MapPoint(x: 30, y: 25)), 1)
    }

    /// The source counts from the start of the machine, days before the session.
    func testAFixStaysInPlaceWhenTheFirstReadingArrives() async throws {
        let stage = FloorPlanLocalizerStage()
        await stage.positioner.connect()
        try await stage.reach("connected")
        let place = MapPoint(x: 30, y: 25)
        try await stage.positioner.submit(.point(place), radius: 1)
        let positions = stage.positioner.positions
        await stage.positioner.start()
        func pass(until seconds: Double) async throws -> [Position] {
            let alarms = Task { while true { stage.clock.advance(to: try await stage.clock.waitForSleeper()) } }
            let told = try await Bounded.elements(of: positions, until: "\(seconds) s") {
                $0.instant.seconds >= seconds
            }
            alarms.cancel()
            _ = await alarms.result
            return told
        }
        _ = try await pass(until: 1)
        stage.source.send(SessionStage.motion(at: 500_000))
        for position in try await pass(until: 500_001) {
            XCTAssertLessThan(position.point.distance(to: place), 2, "at \(position.instant.seconds) s")
            XCTAssertLessThan(position.radius, 8, "at \(position.instant.seconds) s")
        }
    }

    func testAnInvalidFixIsRejected() async throws {
        let stage = FloorPlanLocalizerStage()
        do {
            try await stage.positioner.submit(.coordinate(Coordinate(latitude: 52, longitude: 13)), radius: 3)
            XCTFail("the office is not georeferenced")
        } catch {
            XCTAssertEqual(error, .notGeoreferenced(10))
        }
        do {
            try await stage.positioner.submit(.point(MapPoint(x: 1, y: 1)), radius: 0)
            XCTFail("no radius")
        } catch {
            XCTAssertEqual(error, .invalidRadius(0))
        }
    }

    func testAFailedRadioIsReconnectingAndScannedAgain() async throws {
        let stage = FloorPlanLocalizerStage()
        try await stage.run()
        stage.source.fail(LocalizationError(code: .generic, message: "lost"))
        try await stage.reach("reconnecting")
        let due = try await Bounded.wait(for: "the next scan") {
            let alarms = Task { while true { stage.clock.advance(to: try await stage.clock.waitForSleeper()) } }
            defer { alarms.cancel() }
            try await stage.source.waitForScans(2)
            return stage.source.runningScanCount
        }
        XCTAssertEqual(due, 1)
        let later = stage.clock.now.nanoseconds - Instant(seconds: 777).nanoseconds
        stage.source.send(SessionStage.heard(1, at: Self.beginning + 2.5 + Double(later) / 1e9))
        try await stage.reach("positioning")
    }

    func testASubscriptionIsCalledUntilItIsClosed() async throws {
        let stage = FloorPlanLocalizerStage()
        let (names, told) = AsyncStream.makeStream(of: String.self)
        let subscription = stage.positioner.watch(\.states) { told.yield($0.name) }
        try await stage.run()
        let seen = try await Bounded.first(7, of: names)
        XCTAssertEqual(seen, ["stopped"] + way)
        subscription.close()
        await stage.positioner.stop()
        told.finish()
        let rest = try await Bounded.all(names)
        XCTAssertEqual(rest, [])
    }
}

/// What a positioner tells while the radio falls silent, fails or falls behind.
final class FloorPlanLocalizerBufferingTests: XCTestCase {
    private typealias Stage = FloorPlanLocalizerMachineStage

    private var running: Stage {
        var stage = Stage()
        stage.run()
        return stage
    }

    func testSilenceCausesBufferingThenHeavyBufferingAndOneBeaconReturnsToBuffering() {
        var stage = running
        XCTAssertEqual(stage.pass(to: 12.999).states, [])
        XCTAssertEqual(stage.pass(to: 13).states, ["buffering"])
        XCTAssertEqual(stage.pass(to: 19.999).states, [])
        XCTAssertEqual(stage.pass(to: 20).states, ["heavyBuffering"])
        XCTAssertEqual(stage.hear(at: 25.01).states, ["buffering"], "one packet")
        XCTAssertEqual(stage.hear(at: 25.02).states, ["positioning"])
    }

    func testPositionsContinueWhileBufferingAndPauseWhileHeavyBuffering() {
        var stage = running
        XCTAssertEqual(stage.pass(to: 19.9).positions.count, 19)
        XCTAssertEqual(stage.pass(to: 35).positions, [])
        XCTAssertEqual(stage.machine.state, .heavyBuffering)
        XCTAssertEqual(stage.machine.latency, .zero)
    }

    func testPositionsReturnWithTheBeaconsOfALostVenue() {
        var stage = running
        _ = stage.pass(to: 100)
        XCTAssertEqual(stage.machine.state, .heavyBuffering)
        var told = stage.hear(at: 100)
        told += stage.handle(.fix(Stage.fix()), at: 100.1)
        told += stage.pass(to: 100.5)
        told += stage.hear(at: 101)
        told += stage.pass(to: 101)
        XCTAssertEqual(told.states, ["buffering", "positioning"])
        XCTAssertFalse(told.positions.isEmpty)
    }

    func testLateReadingsCauseBuffering() {
        var stage = running
        XCTAssertEqual(stage.hear(at: 11, delay: 2.9).states, [])
        XCTAssertEqual(stage.hear(at: 11.1, delay: 3).states, ["buffering"])
        XCTAssertEqual(stage.hear(at: 11.2, delay: 30).states, [], "something comes, though late")
        XCTAssertEqual(stage.hear(at: 11.3).states, ["positioning"])
    }

    /// The clock of the source stood still for two hours, so its readings seem to be that late.
    func testSilenceIsNoticedAfterTheSourcesClockStoodStill() {
        var stage = running
        let late = SessionStage.heard(1, at: 11)
        XCTAssertEqual(stage.handle(.reading(late, delay: .seconds(7_200)), at: 11).states, ["buffering"])
        XCTAssertEqual(stage.pass(to: 26).states, ["heavyBuffering"])
    }

    func testBeaconsOfOtherVenuesAndMotionDoNotPreventBuffering() {
        var stage = running
        for tenth in 101...130 {
            let seconds = Double(tenth) / 10
            _ = stage.handle(.reading(SessionStage.heard(7, at: seconds), delay: .zero), at: seconds)
            _ = stage.handle(.reading(SessionStage.motion(at: seconds), delay: .zero), at: seconds)
        }
        XCTAssertEqual(stage.machine.state, .buffering)
    }

    func testTheLatencyIsTheTimeFromTheRadioToThePosition() {
        var stage = running
        _ = stage.hear(at: 10.4, delay: 0.25)
        XCTAssertEqual(stage.pass(to: 10.5).positions.count, 1)
        XCTAssertEqual(stage.machine.latency.seconds, 0.35, accuracy: 1e-9)
    }

    func testTheLatencyIsZeroBeforeThereArePositions() {
        var stage = Stage()
        XCTAssertEqual(stage.machine.latency, .zero)
        _ = stage.answer(.start(FloorPlanLocalizerParameters()), at: 10)
        _ = stage.hear(at: 10, delay: 0.5)
        _ = stage.pass(to: 10.5)
        XCTAssertEqual(stage.machine.state, .waitingForFix)
        XCTAssertEqual(stage.machine.latency, .zero)
    }

    func testAFailedScanIsReconnectingUntilABeaconIsReceived() {
        var stage = running
        let failed = stage.handle(.sourceFailed(Stage.network), at: 11)
        XCTAssertEqual(failed.states, ["reconnecting"])
        XCTAssertTrue(failed.contains(.report(Stage.network)))
        XCTAssertTrue(stage.pass(to: 12).contains(.startScanning), "the first pause is at most a second")
        XCTAssertEqual(stage.machine.state, .reconnecting(Stage.network))
        XCTAssertEqual(stage.hear(at: 12.5).states, ["positioning"])
    }

    func testARadioWithoutPowerIsReconnectingUntilItReceives() {
        var stage = running
        let off = RadioEvent(instant: Instant(seconds: 11), status: .poweredOff)
        XCTAssertEqual(stage.handle(.reading(.radio(off), delay: .zero), at: 11).states, ["reconnecting"])
        XCTAssertNotNil(stage.machine.state.error)
        _ = stage.handle(.reading(SessionStage.motion(at: 11.5), delay: .zero), at: 11.5)
        XCTAssertEqual(stage.machine.state.name, "reconnecting", "motion says nothing of the radio")
        let on = RadioEvent(instant: Instant(seconds: 12), status: .scanning)
        XCTAssertEqual(stage.handle(.reading(.radio(on), delay: .zero), at: 12).states, ["positioning"])
    }

    func testARestOfTheRadioIsNotCountedAsSilence() {
        var stage = running
        let rest = RadioEvent(instant: Instant(seconds: 12), status: .resting)
        XCTAssertEqual(stage.handle(.reading(.radio(rest), delay: .zero), at: 12).states, [])
        XCTAssertEqual(stage.pass(to: 100).states, [])
        let scan = RadioEvent(instant: Instant(seconds: 100), status: .scanning)
        XCTAssertEqual(stage.handle(.reading(.radio(scan), delay: .zero), at: 100).states, [])
        // 2 s of silence before the rest, and 1 s behind it.
        XCTAssertEqual(stage.pass(to: 100.9).states, [])
        XCTAssertEqual(stage.pass(to: 101).states, ["buffering"])
        XCTAssertEqual(stage.pass(to: 108).states, ["heavyBuffering"])
    }

    func testAFailedRadioWithoutAPositionReturnsToWaitingForFix() {
        var stage = Stage()
        _ = stage.answer(.start(FloorPlanLocalizerParameters()), at: 10)
        XCTAssertEqual(stage.handle(.sourceFailed(Stage.network), at: 11).states, ["reconnecting"])
        _ = stage.pass(to: 12)
        let foreign = SessionStage.heard(7, at: 12.5)
        XCTAssertEqual(stage.handle(.reading(foreign, delay: .zero), at: 12.5).states, ["waitingForFix"])
    }

    func testSatellitesEndTheVenueOnlyWithoutTheIndoorLock() {
        for isLocked in [true, false] {
            var parameters = FloorPlanLocalizerParameters()
            parameters.isLockedIndoors = isLocked
            var stage = Stage()
            stage.run(parameters)
            var told: [Stage.Machine.Directive] = []
            for second in 11...14 {
                let far = SessionStage.gnss(52.5, at: Double(second))
                told += stage.handle(.reading(far, delay: .zero), at: Double(second))
                told += stage.hear(at: Double(second) + 0.5)
            }
            XCTAssertEqual(told.states, isLocked ? [] : ["buffering"], "locked: \(isLocked)")
        }
    }

    func testAFixBeforeTheStartIsTheStartingPoint() {
        var stage = Stage()
        _ = stage.answer(.connect, at: 1)
        XCTAssertEqual(stage.handle(.fix(Stage.fix(7, 8)), at: 2), [])
        XCTAssertEqual(stage.machine.fixOutcome, .kept)
        var told = stage.answer(.start(FloorPlanLocalizerParameters()), at: 3)
        told += stage.pass(to: 3)
        XCTAssertEqual(
            told.states, ["loading", "ready", "waitingForFix", "positioning"], "no beacon needs to be heard")
        XCTAssertEqual(told.positions.first?.point, MapPoint(x: 7, y: 8))
    }

    func testAFilterReducesThePositions() {
        var parameters = FloorPlanLocalizerParameters()
        parameters.filter = PositionFilter(distance: 100, time: .seconds(2))
        var stage = Stage()
        _ = stage.answer(.start(parameters), at: 10)
        _ = stage.handle(.fix(Stage.fix()), at: 10)
        var told: [Stage.Machine.Directive] = []
        for second in 10...18 { told += stage.hear(at: Double(second)) + stage.pass(to: Double(second)) }
        XCTAssertEqual(told.positions.map(\.instant.seconds), [10, 12, 14, 16, 18])
    }
}

/// How late readings come, whatever their clock counts from.
final class DeliveryDelayTests: XCTestCase {
    private func late(_ delay: inout DeliveryDelay, _ instant: Double, _ elapsed: Double) -> Double {
        delay.observe(Instant(seconds: instant), at: .seconds(elapsed)).seconds
    }

    func testTheQuickestDeliveryHasNoDelay() {
        for zero in [0, 5000, -1e6] {
            var delay = DeliveryDelay()
            XCTAssertEqual(late(&delay, zero + 1, 10), 0)
            XCTAssertEqual(late(&delay, zero + 1.5, 11), 0.5, accuracy: 1e-3, "\(zero)")
            XCTAssertEqual(late(&delay, zero + 3, 11.5), 0, accuracy: 1e-3, "quicker than the first: \(zero)")
            XCTAssertEqual(late(&delay, zero + 4, 13), 0.5, accuracy: 1e-3, "\(zero)")
        }
    }

    /// A source whose quartz is slow by 50 parts in a million: an hour later nothing seems late.
    func testClockDriftIsNotCountedAsDelay() {
        var delay = DeliveryDelay()
        var worst = 0.0
        for tenth in 0..<36_000 {
            let elapsed = Double(tenth) / 10
            worst = max(worst, late(&delay, elapsed * (1 - 5e-5), elapsed))
        }
        XCTAssertLessThan(worst, 1e-3)
    }

    /// A machine that was suspended for two hours, with a source whose clock doesn't count them.
    func testDelaysAreMeasuredAgainAfterTheSourcesClockStoodStill() {
        var delay = DeliveryDelay()
        for tenth in 0..<100 { _ = late(&delay, Double(tenth) / 10, Double(tenth) / 10) }
        var delays: [Double] = []
        for tenth in 100..<200 { delays.append(late(&delay, Double(tenth) / 10, 7_200 + Double(tenth) / 10)) }
        XCTAssertEqual(delays[49], 7_200, accuracy: 1, "for five seconds")
        XCTAssertEqual(delays[50...].max() ?? 1, 0, accuracy: 1e-6)
        XCTAssertEqual(late(&delay, 20, 7_221), 1, accuracy: 1e-3)
    }

    func testReadingsThatWereHeldUpAreLate() {
        var delay = DeliveryDelay()
        for tenth in 0..<100 { _ = late(&delay, Double(tenth) / 10, Double(tenth) / 10) }
        // A minute's readings at once, then one reading that is in time.
        let delays = (100..<700).map { late(&delay, Double($0) / 10, 70 + Double($0) / 1_000) }
        XCTAssertEqual(delays.first ?? 0, 60.1, accuracy: 0.01)
        XCTAssertEqual(delays.last ?? 0, 0.8, accuracy: 0.01)
        XCTAssertEqual(late(&delay, 71, 71), 0, accuracy: 0.01)
    }

    func testTheAgeOfAReadingIsItsDelayPlusTheSilenceSince() {
        let news = ReadingAge(arrival: Instant(seconds: 10), delay: .seconds(2))
        XCTAssertEqual(news.silence(at: Instant(seconds: 13)), .seconds(3))
        XCTAssertEqual(news.age(at: Instant(seconds: 13)), .seconds(5))
        XCTAssertEqual(
            ReadingAge(arrival: .zero, delay: .seconds(-1)).delay, .zero, "nothing comes before it was heard")
    }
}

/// Places given from outside, before and during a session.
final class FixSubmissionTests: XCTestCase {
    private typealias Stage = PositioningStage

    private static func fix(_ place: MapPoint, radius: Double, isSoft: Bool = false) -> Fix {
        Fix(instant: .zero, mapID: Stage.hall, point: place, radius: radius, isSoft: isSoft)
    }

    /// The readings agree with the fix; the belief was elsewhere.
    func testTheEstimateConvergesMonotonicallyToAHardFix() throws {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let place = MapPoint(x: 3 + 14 * generator.uniform(), y: 3 + 14 * generator.uniform())
            let elsewhere = MapPoint(x: place.x < 10 ? 17 : 3, y: 20 - place.y)
            var receiver = HallReceiver(at: place, seed: seed)
            receiver.observe(.fix(Self.fix(elsewhere, radius: 0.5)))
            let radius = 3.0
            var distance = try XCTUnwrap(receiver.estimate).point.distance(to: place)
            XCTAssertGreaterThan(distance, radius, "seed \(seed)")
            receiver.observe(.fix(Self.fix(place, radius: radius)))
            for second in 1...10 where distance > radius {
                receiver.listen()
                let next = try XCTUnwrap(receiver.estimate).point.distance(to: place)
                XCTAssertLessThan(next, distance, "seed \(seed), second \(second)")
                distance = next
            }
            XCTAssertLessThanOrEqual(distance, radius, "seed \(seed)")
        }
    }

    /// There are no readings: the estimate stays within the radius, and its own radius grows.
    func testWithoutOtherEvidenceTheEstimateStaysAtTheFix() throws {
        for seed in UInt64(1)...10 {
            var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: seed)
            receiver.listen(seconds: 3)
            let place = MapPoint(x: 12, y: 9)
            receiver.observe(.fix(Self.fix(place, radius: 2)))
            let first = try XCTUnwrap(receiver.estimate)
            for step in 1...8 {
                receiver.pass(by: 0.25)
                let estimate = try XCTUnwrap(receiver.estimate)
                XCTAssertLessThan(estimate.point.distance(to: place), 2, "seed \(seed), step \(step)")
            }
            XCTAssertGreaterThan(try XCTUnwrap(receiver.estimate).radius, first.radius, "seed \(seed)")
        }
    }

    func testTheEstimateMovesToADistantHardFix() throws {
        for seed in UInt64(1)...10 {
            var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: seed)
            receiver.listen(seconds: 5)
            let place = MapPoint(x: 17, y: 16)
            receiver.observe(.fix(Self.fix(place, radius: 1)))
            let estimate = try XCTUnwrap(receiver.estimate)
            XCTAssertLessThan(estimate.point.distance(to: place), 1, "seed \(seed)")
            let reception = try XCTUnwrap(receiver.engine.fixReception)
            XCTAssertLessThan(try XCTUnwrap(reception.agreement), 0.01, "seed \(seed)")
            XCTAssertEqual(reception.belief, 1, accuracy: 1e-6)
        }
    }

    /// The test of the beacons compares the belief with the readings of some seconds: those from before a fix must not
    /// lead it back.
    func testTheEstimateStaysAtADistantHardFixThatTheNextReadingsConfirm() throws {
        let start = MapPoint(x: 4, y: 4)
        let beacon = try XCTUnwrap(
            Stage.beaconPoints.indices.max {
                Stage.beaconPoints[$0].distance(to: start) < Stage.beaconPoints[$1].distance(to: start)
            })
        let point = Stage.beaconPoints[beacon]
        for seed in UInt64(1)...6 {
            // A global update comes every two seconds, so at different times after the fix.
            for seconds in 5...6 {
                var receiver = HallReceiver(at: start, seed: seed) { $0.testedBeacons = .all }
                receiver.listen(seconds: seconds)
                receiver.place = point
                receiver.observe(.fix(Self.fix(point, radius: 1)))
                for half in 1...8 {
                    for tick in 1...5 {
                        let instant = Instant(seconds: receiver.seconds + Double(tick) / 10)
                        let rssi = Stage.rssi(from: point, to: point)
                        receiver.observe(
                            .sighting(Sighting(instant: instant, beacon: Stage.identity(beacon), rssi: rssi)))
                    }
                    receiver.pass(by: 0.5)
                    XCTAssertLessThan(receiver.error, 3, "seed \(seed), \(seconds) s before, \(half) after")
                }
            }
        }
    }

    /// A soft fix of 2 m: a mistake of ten lies anywhere on the 400 m² of the hall, the others within it.
    func testASoftFixIsCombinedWithTheOtherEvidence() throws {
        for seed in UInt64(1)...10 {
            var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: seed)
            receiver.listen(seconds: 8)
            let before = try XCTUnwrap(receiver.estimate)
            receiver.observe(.fix(Self.fix(MapPoint(x: 17, y: 16), radius: 1, isSoft: true)))
            let refused = try XCTUnwrap(receiver.engine.fixReception)
            XCTAssertLessThan(refused.belief, 0.1, "seed \(seed): contrary to all that was heard")
            let after = try XCTUnwrap(receiver.estimate)
            XCTAssertLessThan(after.point.distance(to: before.point), 0.5, "seed \(seed)")
            receiver.observe(.fix(Self.fix(before.point, radius: 2, isSoft: true)))
            let taken = try XCTUnwrap(receiver.engine.fixReception)
            XCTAssertGreaterThan(taken.belief, 0.9, "seed \(seed): where it is believed anyway")
        }
    }

    func testASoftFixBeforeAnyEvidenceIsTheStartingPoint() throws {
        var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: 1)
        receiver.observe(.fix(Self.fix(MapPoint(x: 4, y: 5), radius: 1, isSoft: true)))
        let estimate = try XCTUnwrap(receiver.estimate)
        XCTAssertLessThan(estimate.point.distance(to: MapPoint(x: 4, y: 5)), 0.3)
        XCTAssertNil(try XCTUnwrap(receiver.engine.fixReception).agreement)
    }

    func testAnInvalidFixIsNotReceived() {
        var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: 1)
        receiver.listen()
        receiver.observe(.fix(Self.fix(MapPoint(x: 4, y: 5), radius: 1)))
        XCTAssertNotNil(receiver.engine.fixReception)
        receiver.observe(.fix(Self.fix(MapPoint(x: .nan, y: 5), radius: 1)))
        XCTAssertNil(receiver.engine.fixReception)
    }

    func testAFixBeforeTheStartIsTheStartingPoint() throws {
        var machine = SessionStage.machine()
        let place = MapPoint(x: 7, y: 8)
        XCTAssertEqual(machine.handle(.fix(Fix(instant: .zero, mapID: 10, point: place, radius: 1)), at: 1), [])
        XCTAssertEqual(machine.fixOutcome, .kept)
        _ = machine.handle(.start, at: 2)
        _ = machine.handle(.catalogue(SessionStage.summaries), at: 2)
        XCTAssertEqual(machine.state, .searchVenue, "a beacon tells the venue")
        _ = machine.handle(.reading(SessionStage.heard(1, at: 3)), at: 3)
        _ = machine.handle(.packet(1, SessionStage.office), at: 3)
        XCTAssertEqual(Self.positions(machine.pass(to: 3)).first?.point, place)
    }

    func testAFixInAForcedVenueNeedsNoBeacon() throws {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        for isEarly in [true, false] {
            var machine = SessionStage.machine(settings)
            let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 7, y: 8), radius: 1)
            if isEarly { _ = machine.handle(.fix(fix), at: 1) }
            _ = machine.handle(.start, at: 2)
            _ = machine.handle(.catalogue(SessionStage.summaries), at: 2)
            if !isEarly { _ = machine.handle(.fix(fix), at: 2) }
            XCTAssertEqual(machine.state, .getPacket(venueID: 1, progress: 0))
            _ = machine.handle(.packet(1, SessionStage.office), at: 3)
            XCTAssertEqual(Self.positions(machine.pass(to: 3)).first?.point, fix.point)
        }
    }

    /// Returns what a session tells that begins with a fix in the forced venue, and receives its first reading after eight
    /// seconds: the timeline then moves. A fix during the preparation comes before another move.
    private static func sessionWithFix(
        moved duration: Duration, preparesApart: Bool
    ) -> (positions: [Position], events: [LocalizationEvent]) {
        var settings = LocalizationSettings()
        settings.forcedVenue = 1
        settings.positioning.particleCount = 400
        settings.positionFilter = PositionFilter(distance: 1_000, time: .seconds(2))
        var machine = LocalizationMachine<PositioningEngine>(settings: settings, seed: 1, preparesApart: preparesApart)
        {
            PositioningEngine(venue: $0, seed: 1)
        }
        let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 5, y: 5), radius: 0.5)
        var (told, now) = (machine.handle(.fix(fix), at: .zero), Instant.zero)
        for event: LocalizationMachine<PositioningEngine>.Event in [
            .start, .catalogue(SessionStage.summaries), .packet(1, SessionStage.office),
        ] {
            told += machine.handle(event, at: now)
        }
        func move() {
            machine.shift(by: duration)
            now = now.advanced(by: duration)
        }
        for case .prepareBelief(let work) in told {
            told += machine.handle(.fix(fix), at: now.advanced(by: .milliseconds(100)))
            move()
            told += machine.handle(.prepared(work, work.run(machine.makeBelief)), at: now.advanced(by: .seconds(1)))
        }
        for _ in 1...2 {
            now = now.advanced(by: .seconds(8))
            while let wake = machine.nextWake, wake <= now { told += machine.handle(.tick, at: wake) }
            move()
        }
        // The instants of a session whose timeline didn't move.
        func origin(_ instant: Instant) -> Instant {
            guard duration > .zero else { return instant }
            let moves = Int(instant.seconds / duration.seconds)
            return instant.advanced(by: .zero - duration * moves)
        }
        let positions = told.compactMap { directive -> Position? in
            guard case .emit(var position) = directive else { return nil }
            position.instant = origin(position.instant)
            return position
        }
        let events = told.compactMap { directive -> LocalizationEvent? in
            guard case .emitEvent(var event) = directive else { return nil }
            event.instant = origin(event.instant)
            return event
        }
        return (positions, events)
    }

    func testASessionThatBeganWithAFixMovesToTheTimelineOfTheFirstReading() {
        for preparesApart in [false, true] {
            let expected = Self.sessionWithFix(moved: .zero, preparesApart: preparesApart)
            XCTAssertGreaterThan(expected.positions.count, 6)
            XCTAssertEqual(expected.events.count, 2, "the kitchen and the door")
            let moved = Self.sessionWithFix(moved: .seconds(500_000), preparesApart: preparesApart)
            XCTAssertEqual(moved.positions, expected.positions)
            XCTAssertEqual(moved.events, expected.events)
        }
    }

    func testALocalizerReturnsTheOutcomeOfAFix() async throws {
        let stage = LocalizerStage()
        let fix = Fix(instant: .zero, mapID: 10, point: MapPoint(x: 30, y: 20), radius: 1)
        let early = await stage.localizer.submit(fix)
        XCTAssertEqual(early, .kept)
        try await stage.run()
        let late = await stage.localizer.submit(fix)
        guard case .taken(let reception) = late else { return XCTFail("\(late)") }
        XCTAssertTrue((0...1).contains(reception.belief))
        XCTAssertTrue((0...1).contains(try XCTUnwrap(reception.agreement)))
        var foreign = fix
        foreign.mapID = 99
        let outcome = await stage.localizer.submit(foreign)
        XCTAssertEqual(outcome, .ignored(.unknownMap(99)))
    }

    func testALocalizerIgnoresAnInvalidFixAndReturnsTheReason() async throws {
        let good = MapPoint(x: 30, y: 20)
        let stage = LocalizerStage()
        func submit(_ point: MapPoint, _ radius: Double) async -> FixOutcome {
            await stage.localizer.submit(Fix(instant: .zero, mapID: 10, point: point, radius: radius))
        }
        for isEarly in [true, false] {
            if !isEarly { try await stage.run() }
            for radius in [0, -1, .infinity, 1e7] {
                let outcome = await submit(good, radius)
                XCTAssertEqual(outcome, .ignored(.invalidRadius(radius)))
            }
            for point in [MapPoint(x: .nan, y: 1), MapPoint(x: 1, y: -.infinity)] {
                let outcome = await submit(point, 1)
                guard case .ignored(.invalidPlace) = outcome else { return XCTFail("\(outcome)") }
            }
        }
        let far = await submit(MapPoint(x: -500, y: 20), 1)
        XCTAssertEqual(far, .ignored(.offPlan(10, distance: 500)))
        let vague = await submit(MapPoint(x: -500, y: 20), 451)
        guard case .taken = vague else { return XCTFail("\(vague)") }
    }

    func testAFixFarOffThePlanDoesNotMoveTheBelief() throws {
        var receiver = HallReceiver(at: MapPoint(x: 4, y: 4), seed: 1)
        receiver.listen()
        let before = try XCTUnwrap(receiver.estimate)
        receiver.observe(.fix(Self.fix(MapPoint(x: 500, y: 4), radius: 1)))
        XCTAssertNil(receiver.engine.fixReception)
        XCTAssertEqual(receiver.estimate, before)
    }

    private static func positions(_ directives: [Machine.Directive]) -> [Position] {
        directives.compactMap { if case .emit(let position) = $0 { position } else { nil } }
    }
}
