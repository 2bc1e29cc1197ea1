import IndoorVocabulary
import TagTracking

/// The alerts of a fleet. It is a sink of the fleet's outputs, and passes what happens to alerts to other sinks and to a
/// webhook.
///
/// With a store, each event is on disk before a destination gets it, unless it can't be stored, and an alert lasts over a
/// restart. The fleet doesn't wait for the file, which another program can lock, nor for a destination: events wait in
/// memory, up to a number of them.
package actor AlertService: FleetOutputSink {
    /// The time between two checks.
    private static let interval = Duration.seconds(1)
    /// The shortest time between two times at which the places of tags are stored without an event.
    private static let saveInterval = Duration.seconds(5)

    private var machine: AlertMachine
    private let store: AlertStore?
    private let deliveries: AlertDeliveries?
    private let destinations: [any FleetOutputSink]
    private let hearings: any HearingSource
    private let now: @Sendable () -> Instant
    private let steps: @Sendable () -> Duration
    /// The steps of the clock that the machine contains.
    private var knownSteps = Duration.zero
    private let report: @Sendable (String) -> Void
    private nonisolated let connection: Guarded<Bool>
    private let mostWaiting: Int
    /// The events that wait to be stored and passed on, the oldest first, and the number of those that were too many.
    private var waiting: [AlertEvent] = []
    private var lostWaiting = 0
    /// Whether the destinations need the status after the events that wait.
    private var isStatusDue = false
    /// The task that stores and passes on; nil if nothing waits.
    private var passing: Task<Void, Never>?
    private var savedRevision: UInt64 = 0
    private var nextSave = ContinuousClock.now
    private var isUnsaved = false
    /// The events that couldn't be stored, the oldest first, and the number of those that were too many.
    private var unsaved: [AlertEvent] = []
    private var lostEvents = 0
    private var hasReportedLimit = false

    /// The parts of a service.
    package struct Setup: Sendable {
        /// The rules.
        package var rules: AlertRules
        /// The known tags.
        package var register: TagRegister
        /// The number of the start.
        package var epoch: UInt64
        /// The latest outputs of the tags of earlier starts.
        package var places: [FleetOutput]
        /// The alerts on disk; nil for none.
        package var store: AlertStore?
        /// The webhook, which needs a store; nil for none.
        package var webhook: AlertWebhook?
        /// The maximum number of pairs of a rule and a tag.
        package var mostPairs = AlertMachine.mostPairs
        /// The number of events that wait to be stored from which further ones are lost, some tens of megabytes.
        package var mostWaiting = 65_536

        /// Creates the parts.
        package init(
            rules: AlertRules, register: TagRegister, epoch: UInt64, places: [FleetOutput] = [],
            store: AlertStore? = nil, webhook: AlertWebhook? = nil
        ) {
            (self.rules, self.register, self.epoch, self.places) = (rules, register, epoch, places)
            (self.store, self.webhook) = (store, webhook)
        }
    }

    /// Creates a service that continues from its store.
    ///
    /// - Parameters:
    ///   - destinations: the sinks that get what happens to alerts.
    ///   - hearings: lists the times at which tags were heard.
    ///   - isListening: whether messages of gateways arrive from the start; see ``listen(_:)``.
    ///   - now: returns the time of the fleet.
    ///   - steps: returns the sum of the times by which the clock was set forward since the start, see ``FleetClock``.
    ///   - report: receives problems for the log; it must not block.
    /// - Throws: ``AlertStoreError`` if the store can't be read.
    package init(
        _ setup: Setup, to destinations: [any FleetOutputSink], hearings: any HearingSource, isListening: Bool,
        now: @escaping @Sendable () -> Instant, steps: @escaping @Sendable () -> Duration = { .zero },
        report: @escaping @Sendable (String) -> Void
    ) async throws(AlertStoreError) {
        var machine = AlertMachine(
            rules: setup.rules, register: setup.register, epoch: setup.epoch, limit: setup.mostPairs)
        var latest: [AlertEvent] = []
        if let start = try await setup.store?.begin() {
            latest = start.latest.compactMap { try? AlertEvent(json: $0) }
            if let snapshot = start.snapshot {
                do throws(FleetSnapshotError) { waiting = try machine.restore(snapshot, at: now()) } catch {
                    report("the alerts that lasted are unknown: \(error)")
                }
            }
        }
        machine.begin(with: setup.places)
        self.machine = machine
        (store, self.destinations, self.hearings) = (setup.store, destinations, hearings)
        mostWaiting = setup.mostWaiting
        (self.now, self.steps, self.report) = (now, steps, report)
        connection = Guarded(isListening)
        if let webhook = setup.webhook, let store = setup.store {
            deliveries = AlertDeliveries(webhook, store, now: now) { report("--alert-webhook: \($0)") }
        } else {
            deliveries = nil
        }
        reportUnknownTags()
        let status = status(latest: latest)
        for destination in destinations { await destination.use(status) }
    }

    private func reportUnknownTags() {
        for problem in machine.rules.unknownTags(in: machine.register) { report("--alerts: \(problem)") }
    }

    private func status(latest: [AlertEvent]) -> AlertStatus {
        AlertStatus(
            rules: machine.rules, tags: Set(machine.selectedTags), active: machine.activeAlerts, latest: latest)
    }

    /// Records whether messages of gateways arrive, such as after a loss of the connection to their broker.
    package nonisolated func listen(_ isListening: Bool) { connection.withLock { $0 = isListening } }

    /// Checks the alerts until the task is cancelled.
    package func run() async {
        await deliveries?.start()
        while !Task.isCancelled {
            await tick()
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Stores the places of tags, and ends the deliveries. Without a store, no later start knows the alerts that last:
    /// their destinations forget them.
    package func stop() async {
        await pass()
        await deliveries?.stop()
        beginSaving(isLast: true)
        await passing?.value
        guard store == nil else { return }
        var status = status(latest: [])
        status.active = []
        for destination in destinations { await destination.use(status) }
    }

    /// Handles the passing of time, without waiting for the file or for a destination.
    func tick() async {
        let time = now()
        handle(.listening(connection.withLock { $0 }), at: time)
        let silent = machine.tagsOfSilence
        if !silent.isEmpty { handle(.heard(await hearings.lastReadings(of: silent)), at: now()) }
        handle(.tick, at: now())
        beginPassing()
        beginSaving(isLast: false)
    }

    package func write(_ outputs: [FleetOutput]) async {
        handle(.outputs(outputs), at: now())
        beginPassing()
    }

    package func write(_ batteries: [TagKey: TagBattery]) async {
        handle(.batteries(batteries), at: now())
        beginPassing()
    }

    package func use(register: TagRegister, removing tags: [TagKey]) async {
        handle(.removed(tags), at: now())
        use(machine.rules, register)
    }

    /// Uses other rules.
    package func use(rules: AlertRules) async { use(rules, machine.register) }

    private func use(_ rules: AlertRules, _ register: TagRegister) {
        handle(.use(rules, register), at: now())
        reportUnknownTags()
        isStatusDue = true
        beginPassing()
    }

    private func handle(_ event: AlertMachine.Event, at time: Instant) {
        // After the time: a step that it contains is never missed.
        let steps = steps()
        if steps > knownSteps { machine.move(by: steps - knownSteps) }
        knownSteps = steps
        let events = machine.handle(event, at: time)
        if waiting.count < mostWaiting { waiting += events } else { lostWaiting += events.count }
        guard machine.refusedPairs > 0, !hasReportedLimit else { return }
        hasReportedLimit = true
        report(
            "--alerts: the rules select too many tags: some pairs of a rule and a tag raise no alert; select fewer tags"
        )
    }

    /// Stores the events and passes them on, and returns when that is done.
    func pass() async {
        beginPassing()
        await passing?.value
    }

    /// Begins to store the events and to pass them on, unless that has begun.
    private func beginPassing() {
        guard passing == nil, !waiting.isEmpty || isStatusDue else { return }
        passing = Task { await passWaiting() }
    }

    /// Stores the events and passes them on, in their order, until none waits.
    private func passWaiting() async {
        while !waiting.isEmpty || isStatusDue {
            let (events, lost) = (waiting, lostWaiting)
            // Destinations that miss events get the alerts that last.
            let status = isStatusDue || lost > 0 ? self.status(latest: []) : nil
            (waiting, lostWaiting, isStatusDue) = ([], 0, false)
            if lost > 0 { report("too many events of alerts waited, lost: \(lost)") }
            if !events.isEmpty {
                await save(events)
                for destination in destinations { await destination.write(events) }
                await deliveries?.continueSending()
            }
            if let status { for destination in destinations { await destination.use(status) } }
        }
        passing = nil
    }

    /// Begins to store the places of tags if that is due, unless something is being passed on.
    private func beginSaving(isLast: Bool) {
        guard passing == nil, machine.revision != savedRevision, isLast || ContinuousClock.now >= nextSave else {
            return
        }
        passing = Task {
            // Events that have come meanwhile are stored together with the places.
            if waiting.isEmpty {
                let hadUnsaved = !unsaved.isEmpty
                await save([])
                if hadUnsaved, !isLast { await deliveries?.continueSending() }
            }
            await passWaiting()
        }
    }

    /// Stores events after those that couldn't be stored before. One call after the other keeps their order.
    private func save(_ events: [AlertEvent]) async {
        guard let store else { return }
        nextSave = .now + Self.saveInterval
        let revision = machine.revision
        unsaved += events
        do throws(AlertStoreError) {
            try await store.add(unsaved, machine.snapshot(), isDelivered: deliveries != nil)
            savedRevision = revision
            if isUnsaved {
                report(
                    "alerts are stored again" + (lostEvents > 0 ? "; too many events waited, lost: \(lostEvents)" : ""))
            }
            (unsaved, isUnsaved, lostEvents) = ([], false, 0)
        } catch {
            if !isUnsaved { report("alerts aren't stored: \(error)") }
            isUnsaved = true
            let excess = max(0, unsaved.count - store.limits.count)
            unsaved.removeFirst(excess)
            lostEvents += excess
        }
    }
}
