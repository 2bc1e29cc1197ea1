import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// A radio with other sources beside it, as one source.
final class CombinedSourceTests: XCTestCase {
    private struct Broken: Error, CustomStringConvertible {
        var description: String { "unplugged" }
    }

    private let clock = ManualClock()
    private let radio = ScriptedSource()
    private let sensors = ScriptedSource()

    private func pressure(_ seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: 1000))
    }

    private func combined() -> CombinedSource { CombinedSource(radio, with: [sensors], clock: clock) }

    /// Reads a source in a task of its own; the readings and errors so far, and how it ended.
    private struct Reader: Sendable {
        let seconds = WatchedState<[Double]>([])
        let errors = WatchedState<[LocalizationError]>([])
        let end = WatchedState<String?>(nil)
        let task: Task<Void, Never>

        init(_ source: CombinedSource) {
            let readings = source.readings { [errors] error in errors.update { $0.append(error) } }
            task = Task { [seconds, end] in
                do {
                    for try await reading in readings { seconds.update { $0.append(reading.instant.seconds) } }
                    end.update { $0 = "ended" }
                } catch { end.update { $0 = "\(error)" } }
            }
        }

        func wait(for expected: [Double]) async throws {
            try await Bounded.wait(for: "\(expected)") { [seconds] in try await seconds.wait { $0 == expected } }
        }

        func waitForEnd() async throws -> String? {
            try await Bounded.wait(for: "the end") { [end] in try await end.wait { $0 != nil } }
            return end.value
        }
    }

    private func read(_ source: CombinedSource) async throws -> Reader {
        let reader = Reader(source)
        try await radio.waitUntilScanning()
        try await sensors.waitUntilScanning()
        return reader
    }

    func testLiveReadingsComeInTheOrderOfTheirInstants() async throws {
        let source = combined()
        let reader = try await read(source)
        radio.send(pressure(2))
        sensors.send(pressure(1))
        sensors.send(pressure(3))
        try await reader.wait(for: [1, 2])
        radio.send(pressure(3))
        try await reader.wait(for: [1, 2, 3, 3])
        XCTAssertEqual(source.lateReadings, 0)
        reader.task.cancel()
    }

    func testASilentCompanionDelaysTheRadioNoLongerThanTheWindow() async throws {
        let source = combined()
        let reader = try await read(source)
        radio.send(pressure(2))
        let due = try await Bounded.wait(for: "an alarm") { [clock] in try await clock.waitForSleeper() }
        XCTAssertEqual(due, Instant(seconds: 0.1))
        XCTAssertEqual(reader.seconds.value, [])
        clock.advance(to: due)
        try await reader.wait(for: [2])
        sensors.send(pressure(1))
        let late = try await Bounded.wait(for: "an alarm") { [clock] in try await clock.waitForSleeper() }
        clock.advance(to: late)
        try await reader.wait(for: [2, 2])
        XCTAssertEqual(source.lateReadings, 1)
        reader.task.cancel()
    }

    func testAFailedCompanionIsReportedAndStartedAgainWhileTheOthersContinue() async throws {
        let reader = try await read(combined())
        sensors.fail(Broken())
        try await Bounded.wait(for: "an error") { try await reader.errors.wait { !$0.isEmpty } }
        let error = try XCTUnwrap(reader.errors.value.first)
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.cause, "unplugged")
        XCTAssertEqual(
            error.message, "a companion of the leading source failed, ScriptedSource; the rest goes on without it")
        radio.send(pressure(1))
        try await reader.wait(for: [1])
        let due = try await Bounded.wait(for: "a pause") { [clock] in try await clock.waitForSleeper() }
        XCTAssertTrue(due > .zero && due <= Instant(seconds: 1), "\(due)")
        // The order of readings waits on the same clock, so the first sleeper need not be the pause.
        let passing = Task { [clock] in
            while !Task.isCancelled { clock.advance(to: try await clock.waitForSleeper()) }
        }
        try await sensors.waitUntilScanning(2)
        passing.cancel()
        sensors.send(pressure(2))
        radio.send(pressure(2))
        try await reader.wait(for: [1, 2, 2])
        reader.task.cancel()
    }

    func testTheEndOfACompanionDoesNotAffectTheOthers() async throws {
        let reader = try await read(combined())
        sensors.finish()
        try await Bounded.wait(for: "the end of the sensors") { [sensors] in try await sensors.waitUntilNothingRuns() }
        radio.send(pressure(1))
        radio.finish()
        let end = try await reader.waitForEnd()
        XCTAssertEqual(end, "ended")
        XCTAssertEqual(reader.seconds.value, [1])
        XCTAssertEqual(reader.errors.value, [])
    }

    func testAFailureOfTheRadioEndsTheStreamAfterTheWaitingReadings() async throws {
        let reader = try await read(combined())
        radio.send(pressure(1))
        radio.fail(Broken())
        let end = try await reader.waitForEnd()
        XCTAssertEqual(end, "unplugged")
        XCTAssertEqual(reader.seconds.value, [1])
        try await Bounded.wait(for: "the end of the sensors") { [sensors] in try await sensors.waitUntilNothingRuns() }
    }

    func testCancellingTheReaderEndsAllSources() async throws {
        let reader = try await read(combined())
        reader.task.cancel()
        for source in [radio, sensors] {
            try await Bounded.wait(for: "the end") { try await source.waitUntilNothingRuns() }
        }
    }

    func testRecordingsAreMergedExactlyAndToTheEndOfTheLongest() async throws {
        var generator = SeededGenerator(seed: 3)
        let parts = (0..<3).map { _ in (0..<200).map { _ in pressure(generator.uniform() * 100) } }
            .map { $0.sorted { $0.instant < $1.instant } }
        let source = CombinedSource(
            ScriptedSource(parts[0]), with: [ScriptedSource(parts[1]), ScriptedSource(parts[2])])
        XCTAssertEqual(source.pace, .recorded)
        var merged: [SensorReading] = []
        for try await reading in source.readings() { merged.append(reading) }
        XCTAssertEqual(merged, parts.flatMap { $0 }.sorted { $0.instant < $1.instant })
        XCTAssertEqual(source.lateReadings, 0)
    }

    func testReadingsOfOneInstantFollowTheOrderOfTheRecordings() async throws {
        func step(_ length: Double) -> SensorReading { .step(Step(instant: Instant(seconds: 1), length: length)) }
        let source = CombinedSource(ScriptedSource([step(1), step(2)]), with: [ScriptedSource([step(3)])])
        var merged: [SensorReading] = []
        for try await reading in source.readings() { merged.append(reading) }
        XCTAssertEqual(merged, [step(1), step(2), step(3)])
    }

    func testARecordingContinuesBesideAFailedOne() async throws {
        let broken = ScriptedSource([pressure(1)], failure: Broken())
        let source = CombinedSource(ScriptedSource([pressure(2), pressure(3)]), with: [broken])
        let reader = Reader(source)
        let end = try await reader.waitForEnd()
        XCTAssertEqual(end, "ended")
        XCTAssertEqual(reader.seconds.value, [1, 2, 3])
        XCTAssertEqual(reader.errors.value.map(\.cause), ["unplugged"])
        let reversed = Reader(CombinedSource(broken, with: [ScriptedSource([pressure(2)])]))
        let failure = try await reversed.waitForEnd()
        XCTAssertEqual(failure, "unplugged")
    }

    func testARecordingAndALiveSourceAreNotCombined() async throws {
        let reader = Reader(CombinedSource(radio, with: [ScriptedSource([pressure(1)])]))
        let end = try await reader.waitForEnd()
        XCTAssertTrue(end?.contains("cannot be combined with a live source") ?? false, "\(end ?? "")")
    }

    func testACombinationHasTheSteeringOfItsRadio() {
        let steering = ScanSteering()
        let source = CombinedSource(radio.dutyCycledBySettings(steering), with: [sensors])
        XCTAssertTrue(source.steering === steering)
        XCTAssertNil(combined().steering)
    }

    func testASessionReportsTheErrorOfACompanionAndContinues() async throws {
        let stage = LocalizerStage()
        let localizer = Localizer(
            source: CombinedSource(stage.source, with: [sensors], clock: clock), venues: stage.venues,
            settings: LocalizerStage.settings, clock: stage.clock)
        let (errors, motion) = (localizer.errors, localizer.motion)
        await localizer.start()
        try await sensors.waitUntilScanning()
        sensors.fail(Broken())
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.cause, "unplugged")
        XCTAssertFalse(error.endsSession)
        clock.advance(to: try await Bounded.wait(for: "a pause") { [clock] in try await clock.waitForSleeper() })
        try await sensors.waitUntilScanning(2)
        sensors.send(pressure(5000))
        stage.source.send(SessionStage.heard(1, at: 5001))
        // Each reading can have an alarm of its own.
        let alarms = Task { [clock] in while true { clock.advance(to: try await clock.waitForSleeper()) } }
        defer { alarms.cancel() }
        _ = try await Bounded.first(1, of: motion)
        let state = await localizer.state
        XCTAssertFalse(state.isOver)
        await localizer.stop()
    }

    /// A recording that reports errors right before its end.
    private struct FailingParts: ReportingScanSource {
        static let messages = (0..<200).map { "part \($0)" }
        let pace = ScanPace.recorded

        func readings() -> AsyncThrowingStream<SensorReading, any Error> { readings { _ in } }

        func readings(
            reporting report: @escaping @Sendable (LocalizationError) -> Void
        ) -> AsyncThrowingStream<SensorReading, any Error> {
            AsyncThrowingStream(unfolding: {
                for message in Self.messages { report(LocalizationError(code: .generic, message: message)) }
                return nil
            })
        }
    }

    func testErrorsRightBeforeTheEndOfASourceAreAllReportedInOrder() async throws {
        let localizer = Localizer(
            source: FailingParts(), venues: ScriptedVenueSource([SessionStage.office]),
            settings: LocalizerStage.settings)
        let errors = localizer.errors
        await localizer.start()
        let reported = try await Bounded.first(FailingParts.messages.count, of: errors)
        XCTAssertEqual(reported.map(\.message), FailingParts.messages)
        await localizer.stop()
        let scanner = BeaconScanner(source: FailingParts())
        let scanErrors = scanner.errors
        await scanner.start()
        let told = try await Bounded.first(FailingParts.messages.count, of: scanErrors)
        XCTAssertEqual(told.map(\.message), FailingParts.messages)
        await scanner.stop()
    }

    func testAllReadersOfASharedCombinationGetTheErrorOfACompanion() async throws {
        let shared = SharedScanSource(combined())
        let errors = WatchedState<[String?]>([])
        let readers = (0..<2).map { number in
            let readings = shared.readings { error in errors.update { $0.append("\(number) \(error.cause ?? "")") } }
            return Task { for try await _ in readings {} }
        }
        try await sensors.waitUntilScanning()
        sensors.fail(Broken())
        try await Bounded.wait(for: "both errors") { try await errors.wait { $0.count == 2 } }
        XCTAssertEqual(errors.value.compactMap(\.self).sorted(), ["0 unplugged", "1 unplugged"])
        for reader in readers { reader.cancel() }
    }

    func testGNSSReadingsDeliverTheFixesOfAReceiver() async throws {
        let fix = GNSSFix(
            instant: Instant(seconds: 1), coordinate: Coordinate(latitude: 52, longitude: 13), accuracy: 5)
        let receiver = ScriptedSource([.gnss(fix)], pace: .live)
        var readings: [SensorReading] = []
        for try await reading in GNSSReadings(receiver).readings() { readings.append(reading) }
        XCTAssertEqual(readings, [.gnss(fix)])
    }
}

/// The order in which readings of several sources are handed on.
final class ReadingMergerTests: XCTestCase {
    private func pressure(_ seconds: Double) -> SensorReading {
        .pressure(PressureSample(instant: Instant(seconds: seconds), hectopascals: seconds))
    }

    private func seconds(_ readings: [SensorReading]) -> [Double] { readings.map(\.instant.seconds) }

    func testAReadingIsDeliveredWhenEverySourceHasReachedItsInstant() {
        var merger = ReadingMerger(sources: 2, window: .seconds(1))
        XCTAssertEqual(merger.add(pressure(1), from: 0, at: .zero), [])
        XCTAssertEqual(merger.add(pressure(3), from: 0, at: .zero), [])
        XCTAssertEqual(seconds(merger.add(pressure(2), from: 1, at: .zero)), [1, 2], "3 may still have one before it")
        XCTAssertEqual(seconds(merger.add(pressure(3), from: 1, at: .zero)), [3, 3])
        XCTAssertEqual(merger.lateCount, 0)
    }

    func testASilentSourceDelaysReadingsByTheWindow() {
        var merger = ReadingMerger(sources: 2, window: .milliseconds(100))
        XCTAssertEqual(merger.add(pressure(2), from: 0, at: .milliseconds(10)), [])
        XCTAssertEqual(merger.nextDue, .milliseconds(110))
        XCTAssertEqual(merger.add(pressure(1), from: 0, at: .milliseconds(20)), [])
        XCTAssertEqual(merger.drain(at: .milliseconds(109)), [])
        XCTAssertEqual(seconds(merger.drain(at: .milliseconds(110))), [1, 2], "what is older goes with it")
        XCTAssertNil(merger.nextDue)
    }

    func testALateReadingIsDeliveredAndCounted() {
        var merger = ReadingMerger(sources: 2, window: .zero)
        XCTAssertEqual(seconds(merger.add(pressure(5), from: 0, at: .zero)), [5])
        let late = merger.add(pressure(4), from: 1, at: .zero)
        XCTAssertEqual(late, [.pressure(PressureSample(instant: Instant(seconds: 5), hectopascals: 4))])
        XCTAssertEqual(merger.lateCount, 1)
    }

    func testASourceThatHasLeftDelaysNoReadingUntilItDeliversAgain() {
        var merger = ReadingMerger(sources: 2, window: .seconds(1))
        XCTAssertEqual(merger.add(pressure(1), from: 0, at: .zero), [])
        merger.leave(1)
        XCTAssertEqual(seconds(merger.drain(at: .zero)), [1])
        XCTAssertEqual(seconds(merger.add(pressure(2), from: 0, at: .zero)), [2])
        XCTAssertEqual(seconds(merger.add(pressure(3), from: 1, at: .zero)), [], "source 0 may have one before it")
        XCTAssertEqual(seconds(merger.add(pressure(4), from: 0, at: .zero)), [3])
        XCTAssertEqual(seconds(merger.drainAll()), [4])
    }

    func testReadingsOfOneInstantStayInTheOrderOfArrival() {
        var merger = ReadingMerger(sources: 2, window: .zero)
        merger.leave(1)
        let readings = [1.0, 2, 3].map {
            SensorReading.pressure(PressureSample(instant: .zero, hectopascals: $0))
        }
        XCTAssertEqual(readings.flatMap { merger.add($0, from: 0, at: .zero) }, readings)
    }

    func testReadingsBeyondTheLimitAreDeliveredEarly() {
        var merger = ReadingMerger(sources: 2, window: .seconds(1))
        var handedOn: [SensorReading] = []
        for number in 0..<5000 { handedOn += merger.add(pressure(Double(number)), from: 0, at: .zero) }
        XCTAssertEqual(handedOn.count, 5000 - ReadingMerger.limit)
        handedOn += merger.drainAll()
        XCTAssertEqual(seconds(handedOn), (0..<5000).map(Double.init))
    }

    func testAnyInterleavingWithinTheWindowIsOrderedAndComplete() {
        for seed in 0..<50 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var merger = ReadingMerger(sources: 3, window: .milliseconds(300))
            // Each source is late by up to 200 ms, and in order by itself.
            var arrivals: [(elapsed: Duration, source: Int, instant: Double)] = []
            for source in 0..<3 {
                var arrival = 0.0
                for tick in 0..<100 {
                    let instant = Double(tick) * 0.05 + generator.uniform() * 0.04
                    arrival = max(arrival, instant + generator.uniform() * 0.2)
                    arrivals.append((.nanoseconds(Int64(arrival * 1e9)), source, instant))
                }
            }
            arrivals.sort { ($0.elapsed, $0.instant) < ($1.elapsed, $1.instant) }
            var handedOn: [SensorReading] = []
            for arrival in arrivals {
                handedOn += merger.add(pressure(arrival.instant), from: arrival.source, at: arrival.elapsed)
            }
            handedOn += merger.drainAll()
            XCTAssertEqual(seconds(handedOn), arrivals.map { Instant(seconds: $0.instant).seconds }.sorted(), "\(seed)")
            XCTAssertEqual(merger.lateCount, 0)
        }
    }
}

/// The bounded buffer of sources that wrap others, and its reports of lost readings.
final class ReadingFeedTests: XCTestCase {
    private struct Broken: Error, Equatable {}

    /// All readings of a stream that has ended, or is about to end.
    private func all(_ stream: ReadingFeed.Stream) async throws -> [SensorReading] {
        try await Bounded.wait(for: "the end of a stream") {
            var readings: [SensorReading] = []
            for try await reading in stream { readings.append(reading) }
            return readings
        }
    }

    private func event(_ reading: SensorReading?) -> RadioEvent? {
        guard case .radio(let event) = reading else { return nil }
        return event
    }

    func testAFeedWhoseReaderKeepsUpReportsNothing() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 3)
        let readings = (0..<3).map { ScannerStage.sighting(at: Double($0)) }
        for reading in readings { feed.yield(reading) }
        feed.finish()
        let heard = try await all(stream)
        XCTAssertEqual(heard, readings)
    }

    func testAFeedKeepsTheNewestReadingsAndReportsLossesOnceASecond() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 4)
        let off = RadioEvent(instant: .zero, status: .sharing, adapter: "hci7", detail: "another scan runs")
        feed.yield(.radio(off))
        // The fifth element is the first to displace another one, at 0.4 s; the report is due at 1.4 s.
        for step in 1...14 { feed.yield(ScannerStage.sighting(at: Double(step) / 10)) }
        var iterator = stream.makeAsyncIterator()
        for second in [1.2, 1.3, 1.4] {
            let reading = try await iterator.next()
            XCTAssertEqual(reading, ScannerStage.sighting(at: second))
        }
        let report = event(try await iterator.next())
        XCTAssertEqual(report?.instant, Instant(seconds: 1.4))
        XCTAssertEqual(report?.status, .sharing, "the radio's status is repeated")
        XCTAssertEqual(report?.adapter, "hci7")
        XCTAssertEqual(report?.detail, "11 readings were lost because they were not read in time.")
    }

    func testEachElementIsReadOrReportedAsLost() async throws {
        let lost = Guarded<[SensorReading]>([])
        let (stream, feed) = ReadingFeed.makeStream(capacity: 4) { reading in lost.withLock { $0.append(reading) } }
        // Two reports take the place of readings; the second one displaces the first one.
        let readings = (0..<30).map { ScannerStage.sighting(at: Double($0) / 10) }
        for reading in readings { feed.yield(reading) }
        feed.finish()
        let elements = lost.withLock { $0 } + (try await all(stream))
        XCTAssertEqual(elements.filter { event($0) == nil }, readings)
        XCTAssertEqual(elements.count { event($0) != nil }, 3, "a report after 1.4 s, after 2.4 s and at the end")
    }

    func testAFeedReportsTheLastLossesWhenItEnds() async throws {
        for isBroken in [false, true] {
            let (stream, feed) = ReadingFeed.makeStream(capacity: 2)
            for step in 1...3 { feed.yield(ScannerStage.sighting(at: Double(step) / 10)) }
            feed.finish(throwing: isBroken ? Broken() : nil)
            var heard: [SensorReading] = []
            do {
                for try await reading in stream { heard.append(reading) }
                XCTAssertFalse(isBroken)
            } catch { XCTAssertTrue(error is Broken && isBroken, "\(error)") }
            XCTAssertEqual(heard.first, ScannerStage.sighting(at: 0.3))
            XCTAssertEqual(event(heard.last)?.status, .scanning)
            XCTAssertEqual(event(heard.last)?.detail, "1 reading was lost because it was not read in time.")
        }
    }

    func testAFeedWithoutARadioReportsLossesWithTheRadiosFirstReading() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 2)
        for second in 0..<9 { feed.yield(SessionStage.motion(at: Double(second))) }
        feed.yield(ScannerStage.sighting(at: 9))
        var iterator = stream.makeAsyncIterator()
        let sighting = try await iterator.next()
        XCTAssertEqual(sighting, ScannerStage.sighting(at: 9))
        let report = event(try await iterator.next())
        XCTAssertEqual(report?.detail, "8 readings were lost because they were not read in time.")
    }

    func testAReadingBehindAFailureShowsThatTheRadioScansAgain() async throws {
        let (stream, feed) = ReadingFeed.makeStream(capacity: 1)
        feed.yield(ScannerStage.radio(.poweredOff, at: 0))
        feed.yield(ScannerStage.sighting(at: 1))
        feed.finish()
        let heard = try await all(stream)
        XCTAssertEqual(heard.map { event($0)?.status }, [.scanning])
    }

    // MARK: - The wrapping sources

    /// A source that counts how many of its readings, 10 ms apart, were fetched.
    private struct CountedSource: ScanSource, GNSSSource {
        let pace: ScanPace
        let count: Int
        let fetched = WatchedState(0)

        func readings() -> AsyncThrowingStream<SensorReading, any Error> {
            AsyncThrowingStream { [count, fetched] in
                let number = fetched.update {
                    $0 += 1; return $0
                }
                return number > count ? nil : ScannerStage.sighting(at: Double(number) / 100)
            }
        }

        func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
            readings().transformed { reading in
                [GNSSFix(instant: reading.instant, coordinate: Coordinate(latitude: 52, longitude: 13), accuracy: 5)]
            }
        }
    }

    /// A wrapper without a buffer leaves unfetched readings to its source, which counts its own losses.
    func testWrappersWithoutABufferFetchNoReadingBeforeItsReaderDoes() async throws {
        let layout = BeaconLayout.eddystoneTLM
        let wrappers: [(String, ScanPace, (CountedSource) -> any ScanSource)] = [
            ("layouts", .live, { $0.decoding([layout]) }),
            ("satellites", .live, { GNSSReadings($0) }),
            ("duty cycle", .recorded, { $0.dutyCycled(DutyCycle()) }),
            ("steered", .recorded, { $0.dutyCycledBySettings() }),
            ("combination", .recorded, { CombinedSource($0, with: []) }),
        ]
        for (name, pace, wrap) in wrappers {
            let source = CountedSource(pace: pace, count: 1000)
            var iterator = wrap(source).readings().makeAsyncIterator()
            for number in 1...3 {
                let reading = try await iterator.next()
                XCTAssertEqual(reading?.instant, Instant(seconds: Double(number) / 100), name)
                for _ in 0..<100 { await Task.yield() }
                XCTAssertEqual(source.fetched.value, number, name)
            }
        }
    }

    func testWrappersWithABufferBoundItAndReportTheReadingsThatTheyLose() async throws {
        let clock = ManualClock()
        let wrappers: [(String, Int, (CountedSource) -> any ScanSource)] = [
            ("duty cycle", ReadingFeed.capacity, { $0.dutyCycled(.continuous, clock: clock) }),
            ("combination", ReadingFeed.capacity, { CombinedSource($0, with: [], clock: clock) }),
            ("shared", SharedScanSource.capacity, { SharedScanSource($0) }),
        ]
        for (name, capacity, wrap) in wrappers {
            let count = capacity + 1000
            let source = CountedSource(pace: .live, count: count)
            let wrapper = wrap(source)
            let stream = wrapper.readings()
            try await Bounded.wait(for: "the end of \(name)") { try await source.fetched.wait { $0 == count + 1 } }
            let heard = try await all(stream)
            // The reader may fetch one reading before the last report displaces another.
            XCTAssertTrue(
                (capacity...(capacity + 1)).contains(heard.count), "\(name): \(heard.count)")
            let reports = heard.compactMap { event($0)?.detail }
            let reported = reports.reduce(0) { $0 + (Int($1.prefix { $0.isNumber }) ?? 0) }
            XCTAssertGreaterThan(reports.count, 1, name)
            let known = heard.count - reports.count + reported
            XCTAssertTrue(
                ((count - 1)...count).contains(known), "\(name): \(known) readings were delivered or reported as lost")
        }
    }
}
