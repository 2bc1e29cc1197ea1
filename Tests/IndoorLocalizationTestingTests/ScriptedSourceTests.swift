import IndoorLocalization
import IndoorLocalizationTesting
import Synchronization
import XCTest

final class ScriptedSourceTests: XCTestCase {
    private struct Broken: Error {}

    private let readings = (0..<3).map {
        SensorReading.pressure(PressureSample(instant: Instant(seconds: Double($0)), hectopascals: 1000))
    }

    private func collect(_ stream: AsyncThrowingStream<SensorReading, any Error>) async -> ([SensorReading], Bool) {
        var seen: [SensorReading] = []
        do { for try await reading in stream { seen.append(reading) } } catch { return (seen, error is Broken) }
        return (seen, false)
    }

    func testEachScanDeliversTheArrayAndThenEnds() async {
        let source = ScriptedSource(readings)
        XCTAssertEqual(source.pace, .recorded)
        for _ in 0..<2 {
            let (seen, isBroken) = await collect(source.readings())
            XCTAssertEqual(seen, readings)
            XCTAssertFalse(isBroken)
        }
        XCTAssertEqual(source.scanCount, 2)
        XCTAssertEqual(source.runningScanCount, 0)
    }

    func testAnArrayCanEndWithAnError() async {
        let (seen, isBroken) = await collect(ScriptedSource(readings, pace: .live, failure: Broken()).readings())
        XCTAssertEqual(seen, readings)
        XCTAssertTrue(isBroken)
    }

    func testAReadingThatIsSentGoesToAllRunningScans() async throws {
        let source = ScriptedSource()
        XCTAssertEqual(source.pace, .live)
        source.send(readings[0])
        let scans = (source.readings(), source.readings())
        try await source.waitForScans(2)
        source.send(readings[1])
        source.finish()
        let seen = await (collect(scans.0), collect(scans.1))
        XCTAssertEqual(seen.0.0, [readings[1]])
        XCTAssertEqual(seen.1.0, [readings[1]])
        try await source.waitUntilNothingRuns()
    }

    func testAScanCanFail() async {
        let source = ScriptedSource()
        let scan = source.readings()
        source.send(readings[0])
        source.fail(Broken())
        let (seen, isBroken) = await collect(scan)
        XCTAssertEqual(seen, [readings[0]])
        XCTAssertTrue(isBroken)
    }

    func testACancelledScanEnds() async throws {
        let source = ScriptedSource()
        let scan = Task { for try await _ in source.readings() {} }
        try await source.waitForScans()
        scan.cancel()
        try await source.waitUntilNothingRuns()
        XCTAssertEqual(source.runningScanCount, 0)
    }
}

final class ScriptedVenueSourceTests: XCTestCase {
    private struct Broken: Error {}

    private final class ReportedProgress: Sendable {
        let fractions = Mutex<[Double]>([])
    }

    private let venue = Venue(id: 1, name: "office", maps: [])

    func testASourceAnswersImmediately() async throws {
        let source = ScriptedVenueSource([venue])
        let reported = ReportedProgress()
        let catalogue = try await source.catalogue()
        let packet = try await source.packet(for: 1) { fraction in reported.fractions.withLock { $0.append(fraction) } }
        XCTAssertEqual(catalogue, [VenueSummary(of: venue)])
        XCTAssertEqual(packet, venue)
        XCTAssertEqual(reported.fractions.withLock { $0 }, [1])
        XCTAssertEqual(source.requests, [.catalogue, .packet(1)])
    }

    func testAnUnknownVenueIsAnError() async {
        do {
            _ = try await ScriptedVenueSource([venue]).packet(for: 2) { _ in }
            XCTFail("no error")
        } catch { XCTAssertEqual((error as? LocalizationError)?.code, .generic) }
    }

    func testASourceFailsAsOftenAsTheScriptStates() async throws {
        let source = ScriptedVenueSource([venue])
        source.change { $0.catalogueFailures = [Broken(), Broken()] }
        var failures = 0
        for _ in 0..<3 {
            do { _ = try await source.catalogue() } catch { failures += 1 }
        }
        XCTAssertEqual(failures, 2)
    }

    func testARequestWaitsUntilItIsReleased() async throws {
        let source = ScriptedVenueSource([venue])
        source.change { $0.isHeld = true }
        let first = Task { try await source.catalogue() }
        try await source.waitForRequests(1)
        let second = Task { try await source.packet(for: 1) { _ in } }
        try await source.waitForRequests(2)
        source.release(2)
        _ = try await second.value
        XCTAssertEqual(source.answerCount, 1)
        source.release()
        _ = try await first.value
        XCTAssertEqual(source.answerCount, 2)
    }

    func testACancelledRequestIsAnsweredOnlyIfTheScriptRequiresIt() async throws {
        for answersWhenCancelled in [false, true] {
            let source = ScriptedVenueSource([venue])
            source.change {
                $0.isHeld = true
                $0.answersWhenCancelled = answersWhenCancelled
            }
            let request = Task { try await source.catalogue() }
            try await source.waitForRequests(1)
            request.cancel()
            if answersWhenCancelled { source.release() }
            let isAnswered = await (try? request.value) != nil
            XCTAssertEqual(isAnswered, answersWhenCancelled)
        }
    }
}

/// The readings that a source with faults delivers.
final class FaultySourceTests: XCTestCase {
    /// Ten sightings a second of one beacon.
    private static let readings = (0..<100).map { tick -> SensorReading in
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
        return .sighting(Sighting(instant: Instant(seconds: 50 + Double(tick) / 10), beacon: beacon, rssi: -60))
    }

    /// Returns the delivered readings of a recording, and the error at their end.
    private func delivered(_ faults: ScanFault..., seed: UInt64 = 0) async -> ([SensorReading], (any Error)?) {
        var all: [SensorReading] = []
        do {
            for try await reading in FaultySource(ScriptedSource(Self.readings), faults, seed: seed).readings() {
                all.append(reading)
            }
            return (all, nil)
        } catch { return (all, error) }
    }

    private func times(_ readings: [SensorReading]) -> [Double] { readings.map { $0.instant.seconds - 50 } }

    func testWithoutFaultsTheReadingsAreThoseOfTheSource() async {
        let (readings, error) = await delivered()
        XCTAssertEqual(readings, Self.readings)
        XCTAssertNil(error)
    }

    func testAShareOfTheReadingsIsDoubled() async {
        let (readings, _) = await delivered(ScanFault(.duplicates(share: 0.5), at: .seconds(2), for: .seconds(4)))
        XCTAssertTrue((110...130).contains(readings.count), "\(readings.count)")
        let doubled = zip(readings, readings.dropFirst()).filter { $0 == $1 }.map { $0.0.instant.seconds - 50 }
        XCTAssertTrue(doubled.allSatisfy { (2...6).contains($0) }, "\(doubled)")
    }

    func testReorderingKeepsEachReadingAndDelaysNoneLonger() async {
        let (readings, _) = await delivered(ScanFault(.reordering(longest: .seconds(1)), at: .seconds(2)))
        XCTAssertEqual(times(readings).sorted(), times(Self.readings))
        var latest = 0.0
        var late = 0
        for time in times(readings) {
            XCTAssertLessThan(latest - time, 1.11)
            if time < latest { late += 1 }
            latest = max(latest, time)
        }
        XCTAssertGreaterThan(late, 20)
    }

    func testTheSameSeedGivesTheSameReadings() async {
        let faults = [
            ScanFault(.reordering(longest: .seconds(1)), at: .seconds(2)),
            ScanFault(.flood(rate: 100, identities: 1000), at: .seconds(3), for: .seconds(1)),
        ]
        func all(_ seed: UInt64) async throws -> [SensorReading] {
            var all: [SensorReading] = []
            for try await reading in FaultySource(ScriptedSource(Self.readings), faults, seed: seed).readings() {
                all.append(reading)
            }
            return all
        }
        do {
            let (first, second, other) = (try await all(1), try await all(1), try await all(2))
            XCTAssertEqual(first, second)
            XCTAssertNotEqual(first, other)
            XCTAssertEqual(first.count, 200)
        } catch { XCTFail("\(error)") }
    }

    func testJumpsAndSuspensionsMoveInstants() async {
        let (jumped, _) = await delivered(ScanFault(.instantJump(by: .seconds(-20)), at: .seconds(4), for: .seconds(2)))
        XCTAssertEqual(jumped[50].instant, Instant(seconds: 35))
        XCTAssertEqual(jumped[60], Self.readings[60])
        let (slept, _) = await delivered(ScanFault(.suspension(.seconds(900), isCounted: true), at: .seconds(4)))
        XCTAssertEqual(slept[39], Self.readings[39])
        XCTAssertEqual(slept[99].instant, Instant(seconds: 59.9 + 900))
    }

    func testAPulledOutAdapterReportsItselfAndDeliversNothing() async {
        let (readings, error) = await delivered(ScanFault(.unplugging, at: .seconds(4), for: .seconds(2)))
        XCTAssertNil(error)
        let events = readings.compactMap { if case .radio(let event) = $0 { event } else { nil } }
        XCTAssertEqual(events.map(\.status), [.unplugged, .scanning])
        XCTAssertEqual(events.map(\.instant), [Instant(seconds: 54), Instant(seconds: 56)])
        XCTAssertEqual(readings.count, 82)
    }

    func testAFailureEndsTheScanAndLaterScansUntilItIsOver() async throws {
        let radio = ScriptedSource()
        let source = FaultySource(radio, [ScanFault(.failure, at: .seconds(1), for: .seconds(2))])
        var counts: [Int] = []
        for part in [Self.readings[..<12], Self.readings[12..<20], Self.readings[30...]] {
            let readings = source.readings()
            let number = counts.count + 1
            try await Bounded.wait(for: "a scan") { try await radio.waitForScans(number) }
            part.forEach(radio.send)
            radio.finish()
            var count = 0
            do {
                for try await _ in readings { count += 1 }
                XCTAssertEqual(counts.count, 2, "only the third scan ends without an error")
            } catch { XCTAssertEqual(error as? LocalizationError, ScanFault.failure) }
            counts.append(count)
        }
        XCTAssertEqual(counts, [10, 0, 70])
    }

    func testALiveSourceKeepsTheNewestReadingsAndCountsTheLostOnes() async throws {
        let radio = ScriptedSource()
        let source = FaultySource(radio, [], capacity: 10)
        let readings = source.readings()
        Self.readings.forEach(radio.send)
        radio.finish()
        // The 90th loss is the delivery of the last reading.
        try await Bounded.poll(for: "all readings") { source.lostReadings >= 90 }
        var all: [SensorReading] = []
        for try await reading in readings { all.append(reading) }
        let sightings = all.count { if case .radio = $0 { false } else { true } }
        XCTAssertEqual(source.deliveredReadings, 100)
        XCTAssertEqual(sightings + source.lostReadings, 100, "a report that takes the place of a reading loses it")
        XCTAssertLessThanOrEqual(sightings, 10)
        let details = all.compactMap { if case .radio(let event) = $0 { event.detail } else { nil } }
        XCTAssertFalse(details.isEmpty, "the losses are reported")
    }
}

final class ManualClockTests: XCTestCase {
    func testTheClockStandsStillUntilATestAdvancesIt() {
        let clock = ManualClock(now: Instant(seconds: 5))
        XCTAssertEqual(clock.now, Instant(seconds: 5))
        clock.advance(by: .seconds(2))
        XCTAssertEqual(clock.now, Instant(seconds: 7))
        clock.advance(to: Instant(seconds: 9))
        XCTAssertEqual(clock.now, Instant(seconds: 9))
    }

    func testTheClockNeverRunsBackwards() {
        let clock = ManualClock(now: Instant(seconds: 5))
        clock.advance(by: .seconds(-1))
        clock.advance(to: .zero)
        XCTAssertEqual(clock.now, Instant(seconds: 5))
    }

    func testASleeperWakesAtItsDeadlineAndNotBefore() async throws {
        let clock = ManualClock()
        let woken = Task {
            try await clock.sleep(until: Instant(seconds: 10))
            return clock.now
        }
        let deadline = try await clock.waitForSleeper()
        XCTAssertEqual(deadline, Instant(seconds: 10))
        clock.advance(to: Instant(seconds: 9.999))
        XCTAssertEqual(clock.deadlines, [Instant(seconds: 10)], "the task still sleeps")
        clock.advance(to: Instant(seconds: 12))
        let now = try await woken.value
        XCTAssertEqual(now, Instant(seconds: 12))
        XCTAssertEqual(clock.deadlines, [])
    }

    func testATaskWithAPastDeadlineDoesNotSleep() async throws {
        let clock = ManualClock(now: Instant(seconds: 10))
        try await clock.sleep(until: Instant(seconds: 10))
        try await clock.sleep(for: .seconds(-1))
        XCTAssertEqual(clock.deadlines, [])
    }

    func testACancelledSleeperThrowsAndIsRemoved() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleeper()
        sleeper.cancel()
        do {
            try await sleeper.value
            XCTFail("no error")
        } catch { XCTAssertTrue(error is CancellationError, "\(error)") }
        try await clock.waitUntilNobodySleeps()
        XCTAssertEqual(clock.deadlines, [])
    }

    func testATaskThatIsAlreadyCancelledDoesNotSleep() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        do {
            try await sleeper.value
            XCTFail("no error")
        } catch { XCTAssertTrue(error is CancellationError, "\(error)") }
    }

    func testTheClockWaitsForTheEarliestDeadline() async throws {
        let clock = ManualClock()
        // By instants: a task that only begins to sleep after the clock has advanced must not wait again.
        let sleepers = [30.0, 10, 20].map { seconds in
            Task { try await clock.sleep(until: Instant(seconds: seconds)) }
        }
        let first = try await clock.waitForSleeper(dueBy: Instant(seconds: 15))
        XCTAssertEqual(first, Instant(seconds: 10))
        clock.advance(by: .seconds(30))
        for sleeper in sleepers { try await sleeper.value }
        XCTAssertEqual(clock.deadlines, [])
    }
}

final class BoundedTests: XCTestCase {
    func testAWaitReturnsTheValueOfAnEventWithinTheLimit() async throws {
        let value = try await Bounded.wait(for: "seven") { 7 }
        XCTAssertEqual(value, 7)
    }

    func testAWaitAtItsLimitIsCancelledAndNamesTheEvent() async throws {
        let state = WatchedState(false)
        do {
            try await Bounded.wait(for: "the impossible", within: .zero) {
                do { try await state.wait { $0 } } catch {
                    state.update { $0 = true }
                    throw error
                }
            }
            XCTFail("the wait returned")
        } catch let error as Bounded.Expired {
            XCTAssertTrue("\(error)".contains("the impossible"), "\(error)")
        }
        XCTAssertTrue(state.value, "the wait is cancelled before the error is thrown")
    }

    func testTheErrorOfAStreamThatEndsEarlyContainsItsElements() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(4)
        continuation.finish()
        do {
            _ = try await Bounded.first(2, of: stream)
            XCTFail("the stream had two elements")
        } catch let error as Bounded.Expired {
            XCTAssertTrue("\(error)".contains("[4]"), "\(error)")
        }
    }
}
