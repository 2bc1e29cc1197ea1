import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What a scanner promises to its users: passes, records, errors.
final class BeaconScannerTests: XCTestCase {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "the antenna fell off" }
    }

    private let beginning = ScannerStage.beginning

    // MARK: - Passes

    /// The first pass begins at once and takes 10 s. Between two passes are 90 s, so a period is 100 s.
    func testStartAt0StopAt10NextStartAt100() async throws {
        let stage = ScannerStage()
        let events = stage.scanner.scanEvents
        try await stage.start()
        let first = try await Bounded.first(1, of: events)
        XCTAssertEqual(first, [ScanEvent(kind: .started, elapsed: .zero)])
        try await stage.ring(at: 10)
        let second = try await Bounded.first(1, of: events)
        XCTAssertEqual(second, [ScanEvent(kind: .stopped, elapsed: .seconds(10))])
        try await stage.ring(at: 100)
        let third = try await Bounded.first(1, of: events)
        XCTAssertEqual(third, [ScanEvent(kind: .started, elapsed: .seconds(100))])
    }

    /// The factor multiplies the rest between two passes.
    func testAFactorOfTwoMakesTheNextStartAt190() async throws {
        let cycle = DutyCycle(scanDuration: .seconds(10), interval: .seconds(90), intervalFactor: 2)
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: cycle))
        let events = stage.scanner.scanEvents
        try await stage.start()
        let seen = try await stage.passTime(until: "the second pass", of: events) { $0.elapsed > .seconds(10) }
        XCTAssertEqual(seen.map(\.elapsed), [.zero, .seconds(10), .seconds(190)])
    }

    func testTheRadioIsOffBetweenTwoPasses() async throws {
        let stage = ScannerStage()
        try await stage.start()
        XCTAssertEqual(stage.source.runningScanCount, 1)
        try await stage.ring(at: 10)
        try await Bounded.wait(for: "the end of the pass") { try await stage.source.waitUntilNothingRuns() }
        try await stage.ring(at: 100)
        try await stage.source.waitUntilScanning(2)
        XCTAssertEqual(stage.source.runningScanCount, 1)
    }

    /// `isStarted` is true from start to stop, `isScanning` during a pass only.
    func testIsScanningMatchesTheEvents() async throws {
        let stage = ScannerStage()
        let events = stage.scanner.scanEvents
        await expect(stage.scanner, isStarted: false, isScanning: false)
        try await stage.start()
        await expect(stage.scanner, isStarted: true, isScanning: true)
        try await stage.ring(at: 10)
        _ = try await Bounded.elements(of: events, until: "stopped") { $0.kind == .stopped }
        await expect(stage.scanner, isStarted: true, isScanning: false)
        try await stage.ring(at: 100)
        _ = try await Bounded.elements(of: events, until: "started") { $0.kind == .started }
        await expect(stage.scanner, isStarted: true, isScanning: true)
        await stage.scanner.stop()
        await expect(stage.scanner, isStarted: false, isScanning: false)
    }

    private func expect(_ scanner: BeaconScanner, isStarted: Bool, isScanning: Bool, line: UInt = #line) async {
        let found = await (scanner.isStarted, scanner.isScanning)
        XCTAssertEqual(found.0, isStarted, "isStarted", line: line)
        XCTAssertEqual(found.1, isScanning, "isScanning", line: line)
    }

    func testAContinuousScanStartsOnceAndStopsWithStop() async throws {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: .continuous))
        let events = stage.scanner.scanEvents
        try await stage.start()
        try await stage.hear()
        XCTAssertEqual(stage.clock.deadlines, [], "nothing is due")
        stage.clock.advance(by: .seconds(100_000))
        try await stage.hear()
        await stage.scanner.stop()
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(seen.map(\.kind), [.started, .stopped])
        XCTAssertEqual(stage.source.scanCount, 1)
    }

    func testStopMidPassEmitsStopAndNothingAfter() async throws {
        // Each round stops at another moment of a flood of readings.
        for round in 0..<20 {
            let (events, beacons, regions, errors) = try await streamsAfterStop()
            let seen = try await Bounded.all(events)
            XCTAssertEqual(seen.map(\.kind), [.started, .stopped], "round \(round)")
            let late = try await (Bounded.all(beacons).count, Bounded.all(regions).count, Bounded.all(errors).count)
            XCTAssertEqual("\(late)", "(0, 0, 0)", "round \(round)")
        }
    }

    /// Stops a scan in the middle, then lets things happen; the streams end with the scanner.
    private func streamsAfterStop() async throws -> (
        AsyncStream<ScanEvent>, AsyncStream<BeaconRecord>, AsyncStream<RegionEvent>, AsyncStream<LocalizationError>
    ) {
        let stage = ScannerStage()
        let events = stage.scanner.scanEvents
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "hall")
        try await stage.start()
        for tick in 0..<200 { stage.source.send(ScannerStage.sighting(at: beginning + Double(tick) / 100)) }
        stage.source.fail(Broken())
        await stage.scanner.stop()
        let late = (stage.scanner.beacons, stage.scanner.regionEvents, stage.scanner.errors)
        stage.clock.advance(by: .seconds(1000))
        try await Bounded.wait(for: "the end of the scan") { try await stage.source.waitUntilNothingRuns() }
        try await Bounded.wait(for: "the end of the alarm") { try await stage.clock.waitUntilNobodySleeps() }
        return (events, late.0, late.1, late.2)
    }

    func testTheSameStreamsContinueAfterARestart() async throws {
        let stage = ScannerStage()
        let (events, beacons) = (stage.scanner.scanEvents, stage.scanner.beacons)
        try await stage.start()
        try await stage.hear()
        await stage.scanner.stop()
        await stage.scanner.stop()
        stage.clock.advance(by: .seconds(30))
        await stage.scanner.start()
        await stage.scanner.start()
        try await stage.source.waitUntilScanning(2)
        try await stage.hear()
        let seen = try await Bounded.first(3, of: events)
        XCTAssertEqual(seen.map(\.kind), [.started, .stopped, .started])
        XCTAssertEqual(seen.map(\.elapsed), [.zero, .zero, .zero], "counted from each start")
        let heard = try await Bounded.first(2, of: beacons)
        XCTAssertEqual(heard.map(\.instant.seconds), [beginning, beginning + 30])
        XCTAssertEqual(stage.source.scanCount, 2)
    }

    func testAChangedCycleAppliesFromTheNextBoundary() async throws {
        let stage = ScannerStage()
        let events = stage.scanner.scanEvents
        try await stage.start()
        try await stage.scanner.setDutyCycle(DutyCycle(scanDuration: .seconds(1), interval: .seconds(2)))
        let seen = try await stage.passTime(until: "two passes", of: events) { $0.elapsed >= .seconds(13) }
        XCTAssertEqual(seen.map(\.elapsed), [.zero, .seconds(10), .seconds(12), .seconds(13)])
    }

    func testACycleOutOfRangeIsRefused() async throws {
        let stage = ScannerStage()
        do {
            try await stage.scanner.setDutyCycle(DutyCycle(scanDuration: .zero, interval: .zero))
            XCTFail("was accepted")
        } catch {
            XCTAssertEqual(error.code, .generic)
            XCTAssertTrue(error.message.contains("dutyCycle.scanDuration"), error.message)
        }
        await stage.scanner.setPowerMode(.none)
        try await stage.start()
        XCTAssertEqual(stage.clock.deadlines, [], "a pass without an end")
    }

    // MARK: - Timelines

    func testEventsAreOnTheSourcesTimelineAsSoonAsItIsKnown() async throws {
        let stage = ScannerStage()
        let events = stage.scanner.scanEvents
        try await stage.start()
        stage.clock.advance(by: .seconds(3))
        try await stage.hear()
        try await stage.ring(at: 10)
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(seen.map(\.instant), [nil, Instant(seconds: beginning + 10)])
        XCTAssertEqual(seen.map(\.elapsed), [.zero, .seconds(10)])
    }

    /// Lets a beacon be heard ten times a second, with instants of the source; returns the records.
    private func hear(
        _ stage: ScannerStage, _ count: Int, from instant: Double
    ) async throws -> [BeaconRecord] {
        var records: [BeaconRecord] = []
        for place in 0..<count {
            let beacons = stage.scanner.beacons
            stage.source.send(ScannerStage.sighting(at: instant + Double(place) / 10))
            records += try await Bounded.first(1, of: beacons)
            stage.clock.advance(by: .milliseconds(100))
        }
        return records
    }

    func testRecordsContinueAfterTheSourcesClockWasSetBack() async throws {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings())
        stage.source.wallClock = WallClock(timeOfZero: .seconds(1_000_000))
        try await stage.start()
        _ = try await hear(stage, 50, from: beginning)
        let records = try await hear(stage, 40, from: beginning - 3_600)
        let last = try XCTUnwrap(records.last)
        XCTAssertEqual(last.instant.seconds, beginning + 8.9, accuracy: 0.01)
        // The source's wall clock belongs to its own instants.
        XCTAssertEqual(
            try XCTUnwrap(last.unixTime).seconds, 1_000_000 + beginning - 3_600 + 3.9, accuracy: 0.01)
    }

    func testARecordingIsCycledByItsInstants() async throws {
        let readings = (0..<220).map { ScannerStage.sighting(at: beginning + Double($0)) }
        let stage = ScannerStage(ScriptedSource(readings))
        let (events, beacons) = (stage.scanner.scanEvents, stage.scanner.beacons)
        await stage.scanner.start()
        let seen = try await Bounded.elements(of: events, until: "the end") { $0.elapsed == .seconds(210) }
        XCTAssertEqual(seen.map(\.elapsed), [0, 10, 100, 110, 200, 210].map { .seconds($0) })
        let heard = try await Bounded.first(30, of: beacons).map { $0.instant.seconds - beginning }
        XCTAssertEqual(heard, [0..<10, 100..<110, 200..<210].joined().map(Double.init))
        XCTAssertEqual(stage.source.scanCount, 1, "a recording runs through")
        XCTAssertEqual(stage.clock.deadlines, [], "no alarm on a recording")
    }

    func testTheEndOfTheSourceStopsTheScanner() async throws {
        for pace in [ScanPace.live, .recorded] {
            let stage = ScannerStage(ScriptedSource([ScannerStage.sighting(at: beginning)], pace: pace))
            let events = stage.scanner.scanEvents
            await stage.scanner.start()
            let seen = try await Bounded.first(2, of: events)
            XCTAssertEqual(seen.map(\.kind), [.started, .stopped], "\(pace)")
            let isStarted = await stage.scanner.isStarted
            XCTAssertFalse(isStarted, "\(pace)")
        }
    }

    // MARK: - Records

    /// An advertisement has device, RSSI, bytes, manufacturer data and services.
    func testAdvertisementsAndBeaconsAreTwoStreams() async throws {
        let stage = ScannerStage()
        let (advertisements, beacons) = (stage.scanner.advertisements, stage.scanner.beacons)
        try await stage.start()
        let beacon = try ScannerStage.advertisement(at: beginning)
        var phone = try ScannerStage.advertisement(at: beginning + 1)
        phone.data = [5, 0xFF, 0x4C, 0x00, 0x10, 0x05, 3, 0x03, 0xAA, 0xFE]
        for heard in [beacon, phone] { stage.source.send(.advertisement(heard)) }
        try await stage.hear(ScannerStage.beacon(1, 2))
        let raw = try await Bounded.first(2, of: advertisements)
        XCTAssertEqual(raw, [beacon, phone])
        XCTAssertEqual(raw[1].manufacturerData, [0x004C: [0x10, 0x05]])
        XCTAssertEqual(raw[1].serviceUUIDs, [ServiceUUID(short: 0xFEAA)])
        let records = try await Bounded.first(2, of: beacons)
        XCTAssertEqual(records.map(\.beacon.minor), [1, 2])
        XCTAssertEqual(records[0].sighting.address, beacon.address)
    }

    func testAMalformedAdvertisementDoesNotCrashAndYieldsNoBeaconRecord() async throws {
        let stage = ScannerStage()
        let (advertisements, beacons) = (stage.scanner.advertisements, stage.scanner.beacons)
        try await stage.start()
        var cut = try ScannerStage.advertisement(at: beginning)
        cut.data.removeLast(3)
        stage.source.send(.advertisement(cut))
        try await stage.hear(ScannerStage.beacon(1, 2))
        let raw = try await Bounded.first(1, of: advertisements)
        XCTAssertEqual(raw, [cut])
        XCTAssertNotNil(raw[0].defect)
        let first = try await Bounded.first(1, of: beacons)[0]
        XCTAssertEqual(first.beacon.minor, 2, "the whole one is the first")
    }

    func testReadingsWithAnInvalidRSSIAreCounted() async throws {
        let stage = ScannerStage()
        try await stage.start()
        stage.source.send(ScannerStage.sighting(at: beginning, rssi: 127))
        try await stage.hear()
        let count = await stage.scanner.discardedReadings
        XCTAssertEqual(count, 1)
    }

    func testRadioEventsArePassedOnAsTheyCame() async throws {
        let stage = ScannerStage()
        let events = stage.scanner.radioEvents
        try await stage.start()
        stage.source.send(ScannerStage.radio(.scanning, at: beginning))
        stage.source.send(ScannerStage.radio(.unplugged, at: beginning + 1))
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(
            seen,
            [(RadioEvent.Status.scanning, 0.0), (.unplugged, 1)].map { status, second in
                RadioEvent(instant: Instant(seconds: beginning + second), status: status, adapter: "hci0")
            })
    }

    func testAWatchIsCalledUntilItIsClosedAndClosingTwiceIsSafe() async throws {
        let stage = ScannerStage()
        let (heard, teller) = AsyncStream.makeStream(of: UInt16.self)
        let observation = stage.scanner.watch(\.beacons) { teller.yield($0.beacon.minor) }
        try await stage.start()
        stage.source.send(ScannerStage.sighting(ScannerStage.beacon(1, 7), at: beginning))
        let first = try await Bounded.first(1, of: heard)
        XCTAssertEqual(first, [7])
        observation.close()
        observation.close()
        try await stage.hear(ScannerStage.beacon(1, 8))
        teller.finish()
        let late = try await Bounded.all(heard)
        XCTAssertEqual(late, [])
    }

    func testATimedSourceGetsTheTimingOfThePowerMode() async throws {
        let source = TimedSource()
        let scanner = BeaconScanner(source: source, powerMode: .aggressive, clock: ManualClock())
        await scanner.start()
        try await source.scripted.waitUntilScanning()
        XCTAssertEqual(source.timings, [.half])
    }

    // MARK: - Errors

    func testAFailedSourceIsScannedAgainAfterTwoSeconds() async throws {
        let stage = ScannerStage()
        let (errors, events) = (stage.scanner.errors, stage.scanner.scanEvents)
        try await stage.start()
        stage.clock.advance(by: .seconds(3))
        stage.source.fail(Broken())
        let error = try await Bounded.first(1, of: errors)[0]
        let expected = LocalizationError(code: .generic, message: "the scan failed", cause: "the antenna fell off")
        XCTAssertEqual(error, expected)
        try await stage.ring(at: 5)
        try await stage.source.waitUntilScanning(2)
        let seen = try await Bounded.first(3, of: events)
        XCTAssertEqual(seen.map(\.kind), [.started, .stopped, .started])
        XCTAssertEqual(seen.map(\.elapsed), [.zero, .seconds(3), .seconds(5)])
    }

    func testACriticalErrorStopsTheScanner() async throws {
        let stage = ScannerStage()
        let errors = stage.scanner.errors
        try await stage.start()
        let critical = LocalizationError(code: .critical, message: "no Bluetooth")
        stage.source.fail(critical)
        let seen = try await Bounded.first(1, of: errors)
        XCTAssertEqual(seen, [critical])
        await expect(stage.scanner, isStarted: false, isScanning: false)
    }

    // MARK: - The end

    func testAReleasedScannerEndsItsScan() async throws {
        for isResting in [false, true] {
            let (source, clock, events, isGone) = try await giveUp(isResting: isResting)
            try await Bounded.wait(for: "the end of the scan") { try await source.waitUntilNothingRuns() }
            try await Bounded.wait(for: "the end of the alarm") { try await clock.waitUntilNobodySleeps() }
            let seen = try await Bounded.all(events)
            XCTAssertEqual(seen.last?.kind, isResting ? .stopped : .started)
            XCTAssertTrue(isGone(), "resting: \(isResting)")
        }
    }

    private func giveUp(
        isResting: Bool
    ) async throws -> (ScriptedSource, ManualClock, AsyncStream<ScanEvent>, () -> Bool) {
        let stage = ScannerStage()
        let (events, passes) = (stage.scanner.scanEvents, stage.scanner.scanEvents)
        try await stage.start()
        if isResting {
            try await stage.ring(at: 10)
            _ = try await Bounded.first(2, of: passes)
        }
        weak let scanner = stage.scanner
        return (stage.source, stage.clock, events, { [weak scanner] in scanner == nil })
    }
}

/// A scripted source that remembers which timings it was told.
private final class TimedSource: TimedScanSource {
    let scripted = ScriptedSource()
    private let told = Guarded<[ScanTiming]>([])

    var timings: [ScanTiming] { told.withLock { $0 } }
    var pace: ScanPace { .live }

    func readings() -> AsyncThrowingStream<SensorReading, any Error> { scripted.readings() }

    func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error> {
        told.withLock { $0.append(timing) }
        return scripted.readings()
    }
}

/// What a scanner tells as one stream.
final class ScannerEventTests: XCTestCase {
    private static let noon: Int64 = 1_700_000_000_000
    private static let settings = ScannerSettings(
        dutyCycle: DutyCycle(scanDuration: .seconds(10), interval: .seconds(90)))

    private static func name(_ event: ScannerEvent) -> String {
        switch event.content {
        case .scan(let event): event.kind.rawValue
        case .advertisement: "advertisement"
        case .beacon: "beacon"
        }
    }

    func testPassesAndReceptionsAreEmittedInOrder() async throws {
        let stage = ScannerStage(ScriptedSource(), Self.settings)
        stage.source.wallClock = WallClock(
            timeOfZero: .milliseconds(Self.noon) - .seconds(ScannerStage.beginning),
            measuredAt: UnixTime(milliseconds: Self.noon))
        let told = stage.scanner.events
        try await stage.start()
        for second in [1.0, 2] {
            let heard = try ScannerStage.advertisement(at: ScannerStage.beginning + second)
            stage.source.send(.advertisement(heard))
        }
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning + 3))
        let heard = try await Bounded.first(6, of: told)
        XCTAssertEqual(
            heard.map(Self.name), ["started", "advertisement", "beacon", "advertisement", "beacon", "beacon"])
        XCTAssertEqual(
            heard.map { $0.unixTime.map { $0.milliseconds - Self.noon } }, [0, 1000, 1000, 2000, 2000, 3000])
        XCTAssertNil(heard[0].instant, "the source has told no instant yet")
        XCTAssertEqual(heard[5].instant, Instant(seconds: ScannerStage.beginning + 3))

        let passes = stage.scanner.events
        let later = try await stage.passTime(until: "the second pass", of: passes) {
            if case .scan(let event) = $0.content { event.kind == .started } else { false }
        }
        XCTAssertEqual(later.map(Self.name), ["stopped", "started"])
        let times = try later.map { try XCTUnwrap($0.unixTime).milliseconds - Self.noon }
        XCTAssertEqual(times[1] - times[0], 90_000)
        await stage.scanner.stop()
        let last = try await Bounded.first(1, of: passes)
        XCTAssertEqual(last.map(Self.name), ["stopped"])
    }

    func testABeaconRecordHasTheTimeOfTheWallClock() async throws {
        let stage = ScannerStage()
        stage.source.wallClock = WallClock(timeOfZero: .milliseconds(Self.noon))
        let beacons = stage.scanner.beacons
        try await stage.start()
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning))
        let record = try await Bounded.first(1, of: beacons)
        XCTAssertEqual(record.map(\.unixTime), [UnixTime(milliseconds: Self.noon + 5_000_000)])
        await stage.scanner.stop()
    }

    func testTimesAreNilWithoutAWallClock() async throws {
        let stage = ScannerStage()
        let told = stage.scanner.events
        try await stage.start()
        stage.source.send(ScannerStage.sighting(at: ScannerStage.beginning))
        let events = try await Bounded.first(2, of: told)
        XCTAssertEqual(events.map(Self.name), ["started", "beacon"])
        XCTAssertEqual(events.map(\.unixTime), [nil, nil])
        guard case .beacon(let record) = events[1].content else { return XCTFail("\(events[1])") }
        XCTAssertNil(record.unixTime)
        await stage.scanner.stop()
    }

    func testAWatchOfAllEventsIsCalled() async throws {
        let stage = ScannerStage()
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let subscription = stage.scanner.watch(\.events) { told.yield(Self.name($0)) }
        try await stage.start()
        let first = try await Bounded.first(1, of: calls)
        XCTAssertEqual(first, ["started"])
        subscription.close()
        await stage.scanner.stop()
    }
}

/// Calls with the elements of a scanner's streams.
final class ScannerWatchTests: XCTestCase {
    func testWatchesOfRegionsAndTheRadioAreCalledUntilTheyAreClosed() async throws {
        let stage = ScannerStage()
        let (calls, told) = AsyncStream.makeStream(of: String.self)
        let scanner = stage.scanner
        await scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        let subscriptions = [
            scanner.watch(\.regionEvents) { told.yield("\($0.kind) \($0.regionID)") },
            scanner.watch(\.radioEvents) { told.yield("\($0.status.rawValue)") },
        ]
        let closed = scanner.watch(\.beacons) { _ in told.yield("closed") }
        closed.close()
        closed.close()
        try await stage.start()
        try await stage.hear()
        let first = try await Bounded.first(1, of: calls)
        XCTAssertEqual(first, ["enter home"])
        stage.source.send(ScannerStage.radio(.poweredOff, at: ScannerStage.beginning + stage.seconds))
        let next = try await Bounded.first(1, of: calls)
        XCTAssertEqual(next, ["poweredOff"])
        subscriptions.forEach { $0.close() }
    }
}

/// What a scanner tells of its own work, and that it listens all the time unless it is told to rest.
final class TrackingStateTests: XCTestCase {
    private func state(
        _ isMonitoring: Bool, _ isRanging: Bool = false, _ regions: [String] = [], paused: Bool = false
    ) -> TrackingState {
        TrackingState(isMonitoring: isMonitoring, isRanging: isRanging, insideRegions: regions, isPaused: paused)
    }

    func testEachChangeOfTheTrackingStateIsEmitted() async throws {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: .continuous))
        let states = stage.scanner.trackingStates
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        try await stage.start()
        try await stage.hear()
        await stage.scanner.pauseTracking()
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        await stage.scanner.resumeTracking()
        try await stage.hear()
        await stage.scanner.stop()
        let seen = try await Bounded.first(7, of: states)
        XCTAssertEqual(
            seen,
            [
                state(false), state(true), state(true, true, ["home"]), state(false, paused: true), state(true),
                state(true, true, ["home"]), state(false),
            ])
        let late = try await Bounded.first(1, of: stage.scanner.trackingStates)
        XCTAssertEqual(late, [state(false)], "the present state first")
    }

    func testAWatchOfTrackingStatesIsCalledWithThePause() async throws {
        let stage = ScannerStage()
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        let observation = stage.scanner.watch(\.trackingStates) { continuation.yield($0.isPaused) }
        await stage.scanner.pauseTracking()
        await stage.scanner.resumeTracking()
        let seen = try await Bounded.first(3, of: stream)
        XCTAssertEqual(seen, [false, true, false])
        observation.close()
    }

    /// Nothing rests by default, so the exit comes with the exit timeout.
    func testAScannerListensAllTheTimeWithoutADutyCycle() async throws {
        let clock = ManualClock(now: Instant(seconds: 777))
        let source = ScriptedSource()
        let scanner = BeaconScanner(source: source, clock: clock)
        let events = scanner.regionEvents
        let alarms = Task { while true { clock.advance(to: try await clock.waitForSleeper()) } }
        defer { alarms.cancel() }
        await scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        await scanner.start()
        try await source.waitUntilScanning()
        source.send(ScannerStage.sighting(at: 5000))
        let seen = try await Bounded.first(2, of: events)
        XCTAssertEqual(seen.map(\.kind), [.enter, .exit])
        XCTAssertEqual(seen[0].instant.duration(to: seen[1].instant), .seconds(30))
        await scanner.stop()
    }

    /// What the migration page warns of.
    func testADutyCycleDelaysTheExit() async throws {
        let stage = ScannerStage(ScriptedSource(), ScannerSettings(dutyCycle: DutyCycle()))
        let events = stage.scanner.regionEvents
        await stage.scanner.track(BeaconRegion(uuid: ScannerStage.uuid), id: "home")
        try await stage.start()
        try await stage.hear()
        let seen = try await stage.passTime(until: "the exit", of: events) { $0.kind == .exit }
        let delay = try XCTUnwrap(seen.first).instant.duration(to: try XCTUnwrap(seen.last).instant)
        XCTAssertEqual(delay, .seconds(210))
    }
}
