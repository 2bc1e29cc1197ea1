import BeaconScanning
import IndoorVocabulary
import VenueModel

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
    package var isTickDue: Bool {
        guard let due = alarm.due, let elapsed = timeline.elapsed else { return false }
        return due <= elapsed
    }

    mutating func setAlarm(for shell: some SessionShell) {
        alarm.set(to: driver.machine.nextWake, on: timeline, for: shell) { await $0.wakeUp($1) }
    }
}
