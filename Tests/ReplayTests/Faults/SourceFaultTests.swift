import CBench
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import VenuePackets
import XCTest

/// What a session does while its radio, its clock or its machine has a fault, and after it.
///
/// Each fault begins 15 s after the start of a walk. A test compares the positions with those of the undisturbed walk.
final class SourceFaultTests: XCTestCase {
    /// The undisturbed walk.
    private static let undisturbed = Task { try await story([]) }

    private static func story(_ faults: [ScanFault]) async throws -> FaultStory {
        let stage = try await FaultStage(faults)
        try await stage.play(until: 120)
        return await stage.end()
    }

    /// Asserts that a session gave as many and as good positions between two times as without the fault.
    ///
    /// - Parameter shift: the difference between the session's instants and those of the undisturbed walk.
    private func assertLocates(
        _ story: FaultStory, from begin: Double, to end: Double = 119, shift: Double = 0, line: UInt = #line
    ) async throws {
        let (own, best) = (
            story.accuracy(from: begin, to: end, shift: shift),
            try await Self.undisturbed.value.accuracy(from: begin, to: end)
        )
        XCTAssertGreaterThan(best.count, 20, line: line)
        XCTAssertGreaterThanOrEqual(own.count, best.count - 2, line: line)
        XCTAssertLessThan(own.error, best.error + 1.5, "instead of \(best.error) m", line: line)
    }

    private static let whole = ["started", "searchVenue", "getPacket", "getPacket", "findFloor", "localizationRunning"]

    func testDuplicatesChangeNothing() async throws {
        let story = try await Self.story([ScanFault(.duplicates(share: 1), at: .seconds(15), for: .seconds(60))])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 15)
    }

    func testReadingsInTheWrongOrderAreUsed() async throws {
        let story = try await Self.story([
            ScanFault(.reordering(longest: .seconds(2)), at: .seconds(15), for: .seconds(60))
        ])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 15)
    }

    func testTheSessionFindsTheVenueAgainAfterInstantsJumpForward() async throws {
        let story = try await Self.story([ScanFault(.instantJump(by: .seconds(3600)), at: .seconds(15))])
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        XCTAssertEqual(story.reasons, [.silentBeacons, .noReadings, .located])
        try await assertLocates(story, from: 20, shift: 3600)
    }

    func testTheSessionContinuesAfterInstantsJumpBack() async throws {
        let story = try await Self.story([ScanFault(.instantJump(by: .seconds(-3600)), at: .seconds(15))])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        // The session's own time goes on.
        try await assertLocates(story, from: 20)
    }

    func testTheSessionContinuesAfterOneWrongInstant() async throws {
        let story = try await Self.story([
            ScanFault(.instantJump(by: .seconds(3600)), at: .seconds(15), for: .seconds(0.3))
        ])
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        try await assertLocates(story, from: 30, shift: 3600)
    }

    func testTheSessionFindsTheVenueAgainAfterASuspensionThatTheInstantsCount() async throws {
        let night = Duration.seconds(8 * 3600)
        let stage = try await FaultStage([ScanFault(.suspension(night, isCounted: true), at: .seconds(15))])
        try await stage.play(until: 15)
        stage.clock.advance(by: night)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 20, shift: night.seconds)
    }

    func testTheSessionContinuesAfterASuspensionThatTheInstantsDoNotCount() async throws {
        let night = Duration.seconds(8 * 3600)
        let stage = try await FaultStage([ScanFault(.suspension(night, isCounted: false), at: .seconds(15))])
        try await stage.play(until: 15)
        stage.clock.advance(by: night)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 60)
        // The times of day follow the machine's clock.
        XCTAssertEqual(Set(story.wallShifts(within: 60)), [0, night.seconds])
    }

    func testAChangeOfTheWallClockChangesTimesOfDayOnly() async throws {
        let story = try await Self.story([
            ScanFault(.wallClockJump(by: .seconds(-86_400)), at: .seconds(15), for: .seconds(60))
        ])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        XCTAssertEqual(story.errors, [])
        try await assertLocates(story, from: 15)
        XCTAssertEqual(Set(story.wallShifts(within: 1)), [0, -86_400])
        XCTAssertEqual(story.wallShifts(within: 1).last, 0)
    }

    func testTheSessionFindsTheVenueAgainAfterHoursOfSilence() async throws {
        let pause = 2 * 3600.0
        let stage = try await FaultStage([ScanFault(.silence, at: .seconds(15), for: .seconds(pause))])
        try await stage.play(until: 60)
        let before = cbench_heap_bytes()
        try await stage.play(until: pause, step: 60)
        XCTAssertLessThan(Int(cbench_heap_bytes()) - Int(before), 1 << 20)
        let reason = await stage.localizer.diagnosis.reason
        XCTAssertEqual(reason, .noReadings)
        try await stage.play(until: pause + 120)
        let story = await stage.end()
        XCTAssertEqual(story.statesWithoutFloorChanges, Self.whole + Self.whole.dropFirst() + ["idle"])
        XCTAssertEqual(story.reasons, [.silentBeacons, .noReadings, .located])
        let silent = story.outputs.filter { (61..<pause).contains($0.instant.seconds - FaultStage.beginning) }
        XCTAssertEqual(silent, [], "nothing is repeated during the silence")
        let (count, error) = story.accuracy(from: pause + 25, to: pause + 119)
        XCTAssertGreaterThan(count, 180)
        XCTAssertLessThan(error, 4)
    }

    func testAnAdapterThatIsPulledOutIsReportedAndTheSessionContinuesWithIt() async throws {
        let stage = try await FaultStage([ScanFault(.unplugging, at: .seconds(15), for: .seconds(20))])
        try await stage.play(until: 30)
        let diagnosis = await stage.localizer.diagnosis
        XCTAssertEqual(diagnosis.reason, .radioFailed)
        XCTAssertEqual(diagnosis.radio?.status, .unplugged)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.errors.map(\.message), ["hci0 is not plugged in"])
        XCTAssertEqual(story.reasons, [.radioFailed, .located])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        try await assertLocates(story, from: 45)
    }

    func testAScanThatFailsIsStartedAgainUntilItSucceeds() async throws {
        let stage = try await FaultStage([ScanFault(.failure, at: .seconds(15), for: .seconds(20))])
        try await stage.play(until: 30)
        var diagnosis = await stage.localizer.diagnosis
        // During an attempt, no next attempt is known.
        for half in 1...8 where diagnosis.retryAfter == nil {
            try await stage.play(until: 30 + Double(half) / 2)
            diagnosis = await stage.localizer.diagnosis
        }
        XCTAssertEqual(diagnosis.reason, .radioFailed)
        XCTAssertEqual(diagnosis.error, ScanFault.failure)
        XCTAssertNotNil(diagnosis.retryAfter)
        try await stage.play(until: 120)
        let story = await stage.end()
        // The pauses grow: at most 1, 2, 4, 8 and 16 s.
        XCTAssertEqual(Set(story.errors), [ScanFault.failure])
        XCTAssertLessThan(story.errors.count, 8)
        XCTAssertEqual(story.reasons, [.radioFailed, .located])
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        let (count, error) = story.accuracy(from: 70, to: 119)
        XCTAssertGreaterThan(count, 90)
        XCTAssertLessThan(error, 6)
    }

    func testAFloodLosesReadingsAndIsCountedAndTheSessionStillAnswers() async throws {
        let flood = ScanFault(.flood(rate: 100_000, identities: 1 << 40), at: .seconds(15), for: .seconds(3))
        let stage = try await FaultStage([flood], capacity: 4096)
        try await stage.play(until: 15)
        let before = cbench_heap_bytes()
        try await stage.play(until: 16)
        // During the flood.
        let (state, diagnosis) = (await stage.localizer.state.name, await stage.localizer.diagnosis)
        XCTAssertEqual(state, "localizationRunning")
        XCTAssertEqual(diagnosis.reason, .located)
        try await stage.play(until: 20)
        XCTAssertGreaterThan(stage.source.deliveredReadings, 250_000)
        XCTAssertGreaterThan(stage.source.lostReadings, 100_000)
        // Nearly each reading names another beacon: none of them stays.
        XCTAssertLessThan(Int(cbench_heap_bytes()) - Int(before), 8 << 20)
        try await stage.play(until: 120)
        let story = await stage.end()
        XCTAssertEqual(story.states, Self.whole + ["idle"])
        try await assertLocates(story, from: 25)
    }
}

/// A live session in virtual time, on the recorded walk through the upper floor, with a radio that has faults.
///
/// The walk goes there and back without a pause, for as long as a test plays it. Times are those of the undisturbed walk.
final class FaultStage: Sendable {
    /// The recorded walk and its truth, there and back.
    struct Walk: Sendable {
        let venue: Venue
        let readings: [SensorReading]
        let truths: [Truth]
        /// The duration of the walk there and back in seconds.
        let period: Double

        init() throws {
            let office = try FixtureFolder("office")
            venue = try VenuePacketReader().read(office.path).venue
            var reader = try RecordingReader(path: try office.file("tracks/upper.jsonl"))
            var (there, truths): ([SensorReading], [Truth]) = ([], [])
            var end = Instant.zero
            while let entry = try reader.next() {
                end = max(end, entry.instant ?? end)
                switch entry {
                case .measurement(let reading): there.append(reading)
                case .truth(let truth): truths.append(truth)
                default: break
                }
            }
            let back = there.reversed().map { reading -> SensorReading in
                var reading = reading
                reading.instant = Instant(seconds: 2 * end.seconds - reading.instant.seconds)
                return reading
            }
            (readings, self.truths, period) = (there + back, truths, 2 * end.seconds)
        }

        /// Returns the true place at a time of the walk.
        func place(at seconds: Double) -> MapPoint {
            let phase = seconds.truncatingRemainder(dividingBy: period)
            let time = min(phase, period - phase)
            let next = max(1, truths.firstIndex { $0.instant.seconds >= time } ?? truths.count - 1)
            guard let from = truths[next - 1].point, let to = truths[next].point else { return MapPoint(x: 0, y: 0) }
            let span = truths[next].instant.seconds - truths[next - 1].instant.seconds
            let share = span > 0 ? (time - truths[next - 1].instant.seconds) / span : 1
            return from + (to - from) * share
        }
    }

    static let walk = Result { try Walk() }

    let walk: Walk
    let clock = ManualClock(now: Instant(seconds: 300))
    let radio = ScriptedSource()
    let source: FaultySource
    let localizer: Localizer
    private let outputs = WatchedState<[SessionOutput]>([])
    private let reader: Task<Void, Never>
    /// The number of readings that the radio has sent to a running scan.
    private let sent = Guarded(0)
    private let progress = Guarded((time: 0.0, round: 0, index: 0))

    /// The instant of the first reading: far from the clock's, as sources count from where they like.
    static let beginning = 5000.0
    /// The Unix time of the instant zero.
    static let timeOfZero = 1_700_000_000.0

    init(_ faults: [ScanFault] = [], capacity: Int = 65_536) async throws {
        walk = try Self.walk.get()
        source = FaultySource(radio, faults, seed: 7, capacity: capacity)
        // The faults are those of the radio and of the clock, not of beacons. Fewer particles suffice for an error of metres.
        var settings = LocalizationSettings()
        settings.positioning.particleCount = 300
        settings.positioning.testedBeacons = .none
        localizer = Localizer(
            source: source, venues: VenueLibrary([walk.venue]), settings: settings, clock: clock, seed: 1)
        let told = localizer.outputs
        reader = Task { [outputs] in
            for await output in told { outputs.update { $0.append(output) } }
        }
        radio.wallClock = WallClock(timeOfZero: .seconds(Self.timeOfZero))
        await localizer.start()
        try await radio.waitForScans()
        // Before the session knows its venues, a reading identifies none.
        _ = try await Bounded.elements(of: localizer.states, until: "searchVenue") { $0 == .searchVenue }
    }

    /// Plays the walk up to a time in half seconds. After each, the session has handled all readings.
    ///
    /// - Parameter sends: whether the readings are sent; otherwise only time passes.
    func play(until end: Double, step: Double = 0.5, sends: Bool = true) async throws {
        var (time, round, index) = progress.withLock { $0 }
        while time < end {
            time = min(end, time + step)
            while true {
                let reading = walk.readings[index]
                let instant = Double(round) * walk.period + reading.instant.seconds
                guard instant < time else { break }
                if sends {
                    var sent = reading
                    sent.instant = Instant(seconds: Self.beginning + instant)
                    if radio.runningScanCount > 0 { self.sent.withLock { $0 += 1 } }
                    radio.send(sent)
                }
                index += 1
                if index == walk.readings.count { (index, round) = (0, round + 1) }
            }
            try await settle()
            clock.advance(by: .seconds(step))
            try await tick()
        }
        progress.withLock { $0 = (time, round, index) }
    }

    /// Waits until the session has handled all delivered readings, and has prepared a venue that it has found.
    private func settle() async throws {
        try await Bounded.poll(for: "the source has received the readings") { [self] in
            source.receivedReadings >= sent.withLock { $0 } || radio.runningScanCount == 0
        }
        // A scan that has failed leaves readings unread.
        sent.withLock { $0 = source.receivedReadings }
        try await Bounded.poll(for: "the session has handled its readings") { [self] in
            await localizer.activityCounts.readings + source.lostReadings >= source.deliveredReadings
        }
        try await Bounded.poll(for: "the session has prepared the venue") { [self] in
            if case .getPacket = await localizer.state { false } else { true }
        }
        // After a scan that has failed, the session waits for the next attempt. If time passed before the session
        // knows of the failure, that attempt would be later.
        if radio.runningScanCount == 0 {
            try await Bounded.poll(for: "the next attempt") { [self] in
                await localizer.diagnosis.retryAfter != nil
            }
        }
    }

    /// Waits until the session has handled the ticks that are due, so that they come before the next readings.
    private func tick() async throws {
        try await Bounded.poll(for: "the session has handled its ticks") { [self] in
            await !localizer.isTickDue
        }
    }

    /// Ends the session, and returns all its outputs.
    func end() async -> FaultStory {
        await localizer.stop()
        localizer.finishStreams()
        await reader.value
        return FaultStory(outputs: outputs.value, walk: walk)
    }

    /// Waits for an output.
    func wait(for awaited: String, _ condition: @escaping @Sendable (SessionOutput.Content) -> Bool) async throws {
        try await Bounded.wait(for: awaited) { [outputs] in
            try await outputs.wait { $0.contains { condition($0.content) } }
        }
    }
}

/// What a user saw of a session with faults.
struct FaultStory {
    let outputs: [SessionOutput]
    let walk: FaultStage.Walk

    var positions: [Position] { outputs.compactMap { if case .position(let it) = $0.content { it } else { nil } } }
    var errors: [LocalizationError] { outputs.compactMap { if case .error(let it) = $0.content { it } else { nil } } }
    var states: [String] { outputs.compactMap { if case .state(let it) = $0.content { it.name } else { nil } } }
    /// The states without corrections of the floor: a session that finds a venue may take its first readings for
    /// another floor. The accuracy says whether the floor is right later.
    var statesWithoutFloorChanges: [String] {
        states.reduce(into: []) { states, next in
            states.append(next)
            if states.suffix(3) == ["localizationRunning", "findFloor", "localizationRunning"] { states.removeLast(2) }
        }
    }
    var reasons: [SessionDiagnosis.Reason] {
        outputs.compactMap { if case .diagnosis(let it) = $0.content { it.reason } else { nil } }
    }

    /// Returns by how many seconds the time of day of each entry into a room or exit from one differs from that of the
    /// undisturbed wall clock, in multiples of a tolerance.
    func wallShifts(within tolerance: Double) -> [Double] {
        outputs.compactMap { output in
            guard case .event(let event) = output.content, let time = event.unixTime else { return nil }
            let shift = time.seconds - FaultStage.timeOfZero - event.instant.seconds
            return (shift / tolerance).rounded() * tolerance
        }
    }

    /// Returns the number of positions and their median error in metres between two times of the walk.
    ///
    /// - Parameter shift: the difference between the session's instants and those of the undisturbed walk.
    func accuracy(from begin: Double, to end: Double, shift: Double = 0) -> (count: Int, error: Double) {
        let errors = positions.compactMap { position -> Double? in
            let time = position.instant.seconds - FaultStage.beginning - shift
            guard time >= begin, time < end else { return nil }
            return position.mapID == 2 ? position.point.distance(to: walk.place(at: time)) : 50
        }.sorted()
        return (errors.count, errors.isEmpty ? .infinity : errors[errors.count / 2])
    }
}
