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
            // The clock must not run on while the test takes the positions: without a beacon, their radius grows.
            let end = stage.clock.now.advanced(by: .seconds(2))
            let alarms = Task {
                while true { stage.clock.advance(to: try await stage.clock.waitForSleeper(dueBy: end)) }
            }
            let told = try await Bounded.elements(of: positions, until: "\(seconds) s") {
                $0.instant.seconds >= seconds
            }
            alarms.cancel()
            _ = await alarms.result
            return told
        }
        _ = try await pass(until: 1)
        stage.source.send(SessionStage.motion(at: 500_000))
        // Before it has arrived, the clock must not go on.
        try await stage.waitForReadings(upTo: Instant(seconds: 500_000))
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
        // Alarm by alarm: if the clock ran on, the device would be silent for too long.
        while true {
            let due = try await Bounded.wait(for: "the next scan") { try await stage.clock.waitForSleeper() }
            // The alarm after the start of the scan is set when that has begun.
            guard stage.source.scanCount < 2 else { break }
            stage.clock.advance(to: due)
        }
        XCTAssertEqual(stage.source.runningScanCount, 1)
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
