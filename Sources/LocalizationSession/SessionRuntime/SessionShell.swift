import BeaconScanning
import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// An actor that converts readings, answers and wake-ups to events of a machine, and carries out its directives.
///
/// A conforming actor stores the runtime and emits the outputs. The machine makes all decisions.
package protocol SessionShell: Actor {
    /// The machine that decides.
    associatedtype Machine: SessionMachine

    /// The machine with its tasks.
    var runtime: SessionRuntime<Machine> { get set }

    /// Emits an output: a directive without work.
    func emit(_ output: SessionDriver<Machine>.Step)
    /// Emits an error that the machine doesn't handle. The scan continues.
    func emit(_ error: LocalizationError)
    /// Notes a reading before the machine receives it. By default, this does nothing.
    func note(_ reading: DecodedReading)
    /// Notes a directive before it is carried out. By default, this does nothing.
    func note(_ directive: Machine.Directive)
    /// Emits outputs that depend on the machine's new state, after all directives. By default, this does nothing.
    func settle()
}

extension SessionShell {
    package func note(_ reading: DecodedReading) {}
    package func note(_ directive: Machine.Directive) {}
    package func settle() {}

    /// Passes an event to the machine, and carries out its directives.
    package func handle(_ event: Machine.Event) async { await perform(runtime.handle(event)) }

    /// Passes an event that may begin a session to the machine. Without a session, time starts at zero.
    package func begin(with event: Machine.Event) async {
        if runtime.driver.machine.isOver { runtime.begin(for: self) }
        await handle(event)
    }

    /// Handles a reading, after all wake-ups that are due before it.
    func receive(_ reading: SensorReading, from sender: SessionTimeline.Sender, of number: Int) async {
        guard runtime.isCurrent(sender, number) else { return }
        let (decoded, delay) = runtime.receive(reading, of: sender)
        note(decoded)
        let instant = decoded.reading.instant
        while runtime.isCurrent(sender, number), let steps = runtime.wake(before: instant) {
            await perform(steps)
        }
        guard runtime.isCurrent(sender, number) else { return }
        await perform(runtime.deliver(decoded, delay: delay))
        if sender == .source { runtime.waits.note(instant) }
    }

    /// Handles the end of a sender. An end without an error follows all wake-ups that are due until then.
    func finish(_ sender: SessionTimeline.Sender, _ error: (any Error)?, of number: Int) async {
        guard runtime.isCurrent(sender, number) else { return }
        if sender == .source { runtime.isScanning = false }
        let end = runtime.timeline.now
        if error == nil {
            var ending = SessionEnding(at: end)
            while runtime.isCurrent(sender, number), let steps = runtime.driver.wake(for: &ending) {
                await perform(steps)
            }
            guard runtime.isCurrent(sender, number) else { return }
        }
        await perform(runtime.driver.handle(Machine.ended(sender, error), at: end))
    }

    /// Emits an error of a part of the source. The scan continues.
    func report(_ error: LocalizationError, of number: Int) {
        if runtime.isCurrent(.source, number) { emit(error) }
    }

    /// Handles an answer, unless its request was replaced or cancelled.
    func receive(_ answer: VenueAnswer, of number: Int) async {
        if runtime.fetch.isCurrent(number) { await handle(Machine.answered(answer)) }
    }

    func receive(_ update: VenueUpdate, of number: Int) async {
        if runtime.updates.isCurrent(number) { await handle(Machine.updated(update)) }
    }

    /// Handles the result of a computation, unless that was replaced or cancelled.
    func receive(prepared event: Machine.Event, of number: Int) async {
        if runtime.preparation.isCurrent(number) { await handle(event) }
    }

    func wakeUp(_ number: Int) async {
        guard let wake = runtime.alarm.ring(number) else { return }
        await perform(runtime.wake(upTo: wake) ?? [])
    }

    private func perform(_ steps: [SessionDriver<Machine>.Step]) async {
        let session = runtime.scan.number
        for step in steps {
            note(step.directive)
            guard let work = runtime.driver.machine.work(for: step.directive) else {
                emit(step)
                continue
            }
            // On a recording, time doesn't advance until the result is available.
            guard let task = carryOut(work), runtime.source.pace == .recorded else { continue }
            await task.value
            guard runtime.scan.isCurrent(session) else { return }  // stopped meanwhile
        }
        settle()
        if runtime.driver.machine.isOver {
            runtime.updates.cancel()
            runtime.waits.endAll()
        }
        runtime.setAlarm(for: self)
    }

    /// Starts a piece of work; returns its task if the machine waits for the result.
    private func carryOut(_ work: SessionWork<Machine.Event>) -> Task<Void, Never>? {
        switch work {
        case .startScanning: runtime.startScanning(for: self)
        case .startReceiving: runtime.startReceiving(for: self)
        case .stopScanning: runtime.stopScanning()
        case .cancelFetch: runtime.cancelFetch()
        case .keep(let schedule):
            do { try runtime.keep(schedule, for: self) } catch { emit(error) }
        case .fetch(let request): return runtime.ask(request, for: self)
        case .prepare(let compute): return runtime.prepare(compute, for: self)
        }
        return nil
    }
}

/// The work of a shell.
package enum SessionWork<Event: Sendable>: Sendable {
    /// Start a scan, which replaces an earlier one.
    case startScanning
    /// Start the satellite receiver, in addition to the scan.
    case startReceiving
    /// Stop the scan and the satellite receiver.
    case stopScanning
    /// Send a request to the venue source, which replaces an earlier one.
    case fetch(VenueRequest)
    /// Compute an event outside the actor and deliver it to the machine; replaces an earlier computation.
    case prepare(@Sendable () async -> Event)
    /// Cancel the request and the computation, and discard their results.
    case cancelFetch
    /// Set the duty cycle of a steerable source.
    case keep(ScanSchedule)
}

/// The machine of a session with its sources, its timeline and its tasks: the stored part of a `SessionShell`.
///
/// The tasks reference their shell weakly, and are cancelled when this value is destroyed.
package struct SessionRuntime<Machine: SessionMachine>: ~Copyable, Sendable {
    /// The source of the readings.
    private(set) var source: any ScanSource
    /// Returns the source to use for a schedule instead of the given one; nil if the given one follows the schedule
    /// itself.
    private let schedule: @Sendable (any ScanSource, ScanSchedule) throws(LocalizationError) -> (any ScanSource)?
    /// Whether a scan is running; false after the scan has ended by itself.
    var isScanning = false
    /// The satellite receiver; nil for none.
    private let gnss: (any GNSSSource)?
    private let venues: any VenueSource
    /// The machine and its wake-ups.
    package internal(set) var driver: SessionDriver<Machine>
    private var decoder = ReadingDecoder()
    var timeline: SessionTimeline
    private var delay = DeliveryDelay()
    /// The task of the scan; its number changes whenever a scan begins or ends.
    private(set) var scan = CurrentTask()
    private var reception = CurrentTask()
    private(set) var fetch = CurrentTask()
    private(set) var preparation = CurrentTask()
    var updates = CurrentTask()
    var alarm = SessionAlarm()
    /// The waits of callers for readings.
    var waits = ReadingWaits()
    /// The measurement of the session's work; nil while it isn't measured.
    var meter: CycleMeter?

    /// Creates the runtime of a machine without a session.
    package init(
        _ machine: Machine, source: any ScanSource, gnss: (any GNSSSource)? = nil, venues: any VenueSource,
        clock: some Clock<Duration>
    ) {
        self.source = source
        schedule = { (source, schedule) throws(LocalizationError) in try source.keeping(schedule, clock: clock) }
        self.gnss = gnss
        self.venues = venues
        driver = SessionDriver(machine)
        timeline = SessionTimeline(clock, pace: source.pace)
    }

    /// Passes an event to the machine at the current instant.
    mutating func handle(_ event: Machine.Event) -> [SessionDriver<Machine>.Step] {
        driver.handle(event, at: timeline.now)
    }

    /// Passes a decoded reading to the machine.
    mutating func deliver(_ reading: DecodedReading, delay: Duration) -> [SessionDriver<Machine>.Step] {
        let begun = meter?.clock()
        let steps = driver.handle(Machine.delivered(reading, delay: delay), at: reading.reading.instant)
        if let begun { meter?.endReading(begun: begun) }
        return steps
    }

    /// Delivers the next wake-up if it is due before `instant`; nil if none is.
    mutating func wake(before instant: Instant) -> [SessionDriver<Machine>.Step]? {
        let begun = meter?.clock()
        guard let steps = driver.wake(before: instant) else { return nil }
        if let begun { meter?.endUpdate(begun: begun) }
        return steps
    }

    /// Delivers the next wake-up if it is due at or before `instant`; nil if none is.
    mutating func wake(upTo instant: Instant) -> [SessionDriver<Machine>.Step]? {
        let begun = meter?.clock()
        guard let steps = driver.wake(upTo: instant) else { return nil }
        if let begun { meter?.endUpdate(begun: begun) }
        return steps
    }

    /// Returns whether the task of a sender was neither replaced nor cancelled.
    func isCurrent(_ sender: SessionTimeline.Sender, _ number: Int) -> Bool {
        switch sender {
        case .source: scan.isCurrent(number)
        case .receiver: reception.isCurrent(number)
        }
    }

    /// Moves a reading to the session's timeline and decodes it.
    ///
    /// - Returns: the decoded reading with its delivery delay, which is zero on a recording.
    mutating func receive(
        _ reading: SensorReading, of sender: SessionTimeline.Sender
    ) -> (reading: DecodedReading, delay: Duration) {
        var reading = reading
        reading.instant = timeline.place(reading.instant, of: sender)
        let late = timeline.elapsed.map { delay.observe(reading.instant, at: $0) }
        driver.shift(by: timeline.align(to: reading.instant))
        return (decoder.decode(reading), late ?? .zero)
    }

    /// Begins a session. Time is zero until the first reading. The session follows the updates of the venue source.
    mutating func begin(for shell: some SessionShell) {
        timeline.begin()
        updates.follow(venues.updates, for: shell) { await $0.receive($1, of: $2) }
    }

    /// Sets the duty cycle of the radio. If this requires another source, a running scan restarts with that source.
    mutating func keep(_ schedule: ScanSchedule, for shell: some SessionShell) throws(LocalizationError) {
        guard let steered = try self.schedule(source, schedule) else { return }
        source = steered
        if isScanning { startScanning(for: shell) }
    }

    mutating func startScanning(for shell: some SessionShell) {
        isScanning = true
        decoder = ReadingDecoder()
        scan.scan(source, for: shell) {
            await $0.receive($1, from: .source, of: $2)
        } report: {
            $0.report($1, of: $2)
        } finish: {
            await $0.finish(.source, $1, of: $2)
        }
    }

    mutating func startReceiving(for shell: some SessionShell) {
        guard let fixes = gnss?.fixes() else { return }
        timeline.restart(.receiver)
        reception.follow(fixes, for: shell) {
            await $0.receive(.gnss($1), from: .receiver, of: $2)
        } finish: {
            await $0.finish(.receiver, $1, of: $2)
        }
    }

    mutating func stopScanning() {
        isScanning = false
        scan.cancel()
        reception.cancel()
        delay = DeliveryDelay()
    }

    mutating func ask(_ request: VenueRequest, for shell: some SessionShell) -> Task<Void, Never> {
        fetch.ask(venues, request, for: shell) { await $0.receive($1, of: $2) }
    }

    /// Computes an event outside the actor, because the computation is slow and would delay readings.
    mutating func prepare<Shell: SessionShell>(
        _ compute: @escaping @Sendable () async -> Machine.Event, for shell: Shell
    ) -> Task<Void, Never> where Shell.Machine == Machine {
        preparation.begin { number in
            Task { [weak shell] in
                guard !Task.isCancelled else { return }
                let event = await compute()
                await shell?.receive(prepared: event, of: number)
            }
        }
    }

    mutating func cancelFetch() {
        fetch.cancel()
        preparation.cancel()
    }

    /// Whether a wake-up is due by the clock of a live source, and not handled yet.
    var isTickDue: Bool {
        guard let due = alarm.due, let elapsed = timeline.elapsed else { return false }
        return due <= elapsed
    }

    mutating func setAlarm(for shell: some SessionShell) {
        alarm.set(to: driver.machine.nextWake, on: timeline, for: shell) { await $0.wakeUp($1) }
    }
}

/// The waits for readings of the source that a session hasn't handled yet.
struct ReadingWaits: Sendable {
    /// The instant of the latest handled reading, on the session's timeline; nil before the first one.
    private(set) var latest: Instant?
    private var waits: [(instant: Instant, end: AsyncStream<Never>.Continuation)] = []

    /// Begins a wait for the readings up to an instant. The stream ends with the wait.
    mutating func begin(until instant: Instant) -> (stream: AsyncStream<Never>, end: AsyncStream<Never>.Continuation) {
        let (stream, end) = AsyncStream.makeStream(of: Never.self)
        waits.append((instant, end))
        return (stream, end)
    }

    /// Notes that the session has handled a reading, and ends the waits for it.
    mutating func note(_ instant: Instant) {
        latest = max(latest ?? instant, instant)
        guard !waits.isEmpty else { return }
        for wait in waits where wait.instant <= instant { wait.end.finish() }
        waits.removeAll { $0.instant <= instant }
    }

    /// Ends all waits, because the session has ended.
    mutating func endAll() {
        for wait in waits { wait.end.finish() }
        self = ReadingWaits()
    }
}

/// The delivery delay of readings, relative to the quickest delivery.
///
/// The clocks of the source and of the session have different zeros. The smallest difference between them so far counts
/// as a delivery without delay. The delay of another delivery is the amount by which its difference is larger.
package struct DeliveryDelay: Hashable, Sendable {
    /// The clock's time minus the source's, for the quickest delivery.
    private var least: Duration?
    private var latest: Duration = .zero
    /// The latest consecutive deliveries that are too late to be believed.
    private var suspects = Suspects()

    /// Consecutive deliveries with a delay of more than `SessionTimeline.longestDelay`.
    private struct Suspects: Hashable, Sendable {
        var count = 0
        /// The clock's time of the first of them.
        var since = Duration.zero
        /// The smallest difference among them.
        var least = Duration.zero
    }

    /// The greatest relative drift between two clocks; each quartz is within 50 parts in a million.
    private static let drift = 1e-4

    /// Creates the delays of a source that has delivered nothing.
    package init() {}

    /// Handles a reading's instant and the clock's time at its arrival; returns the delay.
    package mutating func observe(_ instant: Instant, at elapsed: Duration) -> Duration {
        let difference = elapsed - .nanoseconds(instant.nanoseconds)
        let pause = elapsed - latest
        latest = elapsed
        guard let least else {
            self.least = difference
            return .zero
        }
        let slack = pause > .zero ? .seconds(pause.seconds * Self.drift) : Duration.zero
        let base = min(least + slack, difference)
        self.least = base
        guard difference - base > SessionTimeline.longestDelay else {
            if suspects.count > 0 { suspects = Suspects() }
            return difference - base
        }
        return measureAgain(difference, base, at: elapsed)
    }

    /// Returns the delay of a delivery that is very late.
    ///
    /// Readings that were held up arrive at once, and then others without a delay. If all readings stay late, the source's
    /// clock stood still, as that of a suspended machine; the quickest of these deliveries then counts as one without
    /// delay.
    private mutating func measureAgain(_ difference: Duration, _ base: Duration, at elapsed: Duration) -> Duration {
        if suspects.count == 0 { suspects = Suspects(since: elapsed, least: difference) }
        suspects.count += 1
        suspects.least = min(suspects.least, difference)
        guard suspects.count >= SessionTimeline.pastReadings,
            elapsed - suspects.since >= SessionTimeline.longestDelay
        else { return difference - base }
        defer { suspects = Suspects() }
        least = suspects.least
        return difference - suspects.least
    }
}

/// The broadcasts of motion updates, one for each kind.
struct MotionBroadcast: Sendable {
    let motion: Broadcast<MotionEstimate>
    let headings: Broadcast<Heading>
    let attitudes: Broadcast<Attitude>

    init(_ pace: ScanPace) {
        motion = Broadcast(of: pace)
        headings = Broadcast(of: pace)
        attitudes = Broadcast(of: pace)
    }

    /// Finishes the streams of all current subscribers.
    func finish() {
        motion.finish()
        headings.finish()
        attitudes.finish()
    }

    /// The number of elements dropped for slow subscribers.
    var dropped: Int { motion.dropped + headings.dropped + attitudes.dropped }

    func send(_ update: MotionUpdate) {
        switch update {
        case .motion(let estimate): motion.send(estimate)
        case .heading(let heading): headings.send(heading)
        case .attitude(let attitude): attitudes.send(attitude)
        }
    }
}
