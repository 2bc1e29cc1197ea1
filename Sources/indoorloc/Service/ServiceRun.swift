import IndoorLocalization

/// A session that runs as a service: until a signal, a time limit or its source ends it.
///
/// One loop takes in all that comes up. It feeds the manager's watchdog itself, so that a session that does not answer does
/// not count as alive. Lines that nobody takes, or for which there is no room, hold it up in nothing else: they are lost,
/// and counted.
struct ServiceRun {
    /// What is read again on demand.
    struct Inputs: Sendable {
        var settings: SettingsStack
        /// What is watched beside the fences of the venues.
        var geofences: [Geofence]
    }

    let localizer: Localizer
    let companions: [any ServiceCompanion]
    let manager: ServiceManager
    /// How long it may run; nil for any time.
    let limit: Duration?
    /// Whether it ends with the first position.
    let endsWithPosition: Bool
    /// Reads the settings and the geofences again.
    let reload: @Sendable () throws -> Inputs
    var memory: ServiceMemory?
    var output: ServiceOutput

    private var status = ServiceStatus()
    /// The error that the session ended with, or the service.
    private var failure: (any Error)?
    private var isEnding = false

    init(
        _ localizer: Localizer, companions: [any ServiceCompanion], manager: ServiceManager, limit: Duration?,
        endsWithPosition: Bool, memory: ServiceMemory?, output: ServiceOutput,
        reload: @escaping @Sendable () throws -> Inputs
    ) {
        self.localizer = localizer
        self.companions = companions
        self.manager = manager
        self.limit = limit
        self.endsWithPosition = endsWithPosition
        self.memory = memory
        self.output = output
        self.reload = reload
    }

    /// Runs it.
    ///
    /// - Parameter saveInterval: how often the memory is to be kept.
    /// - Throws: what made the session end, or the output impossible.
    mutating func run(saveInterval: Duration) async throws {
        await memory?.remind(localizer)
        let tick = min(.milliseconds(500), saveInterval, manager.watchdogInterval.map { $0 / 4 } ?? .seconds(1))
        let work = LiveWork<ServiceNews>(tick: tick, limit: limit) { [localizer, companions] give in
            let hangUp = ReloadSignal { give(.reload) }
            await LiveSession.follow(localizer, companions: companions) { give(.told($0)) }
            withExtendedLifetime(hangUp) {}
        }
        for await occurrence in work.occurrences {
            if case .ended = occurrence { break }
            do { try await take(occurrence) } catch {
                note(error)
                if !isEnding { await end() }
            }
        }
        await work.stop()
        if !isEnding { await end() }
        do { try output.end() } catch { note(error) }
        if let failure { throw failure }
    }

    /// Keeps the first failure. That nobody reads any more, as behind `| head`, is none.
    private mutating func note(_ error: any Error) {
        if failure == nil, (error as? OutputError)?.isBrokenPipe != true { failure = error }
    }

    private mutating func take(_ occurrence: LiveOccurrence<ServiceNews>) async throws {
        switch occurrence {
        case .element(.told(let told)):
            try output.line(told)
            let messages = status.observe(told.content)
            for message in messages { manager.tell(message) }
            switch told.content {
            case .state(.error(let error)): failure = error
            case .position where endsWithPosition && !isEnding: await end()
            // Who was told of an entry must not be told again by the next run.
            case .event where !isEnding: await keepMemory()
            default: break
            }
        case .element(.reload): if !isEnding { try await readInputs() }
        case .tick:
            try output.write()
            if !isEnding { await pulse() }
        case .interrupted, .limitReached: if !isEnding { await end() }
        case .ended: break
        }
    }

    /// What is done again and again: the watchdog is fed, and the memory kept.
    private mutating func pulse() async {
        // A session that is late with what was due at a time is stuck, though it may still answer.
        let delay = await localizer.delay
        if let interval = manager.watchdogInterval, delay < interval / 2 { manager.tell(.watchdog) }
        guard memory?.isDue == true else { return }
        await keepMemory()
        manager.tell(.status(status.text))
    }

    /// Ends the session, with what it knows kept. Its last lines are still to come.
    private mutating func end() async {
        isEnding = true
        manager.tell(.stopping)
        let known = await localizer.suspend()
        memory?.keep(known)
    }

    private mutating func keepMemory() async {
        let known = await localizer.memory
        memory?.keep(known)
    }

    private mutating func readInputs() async throws {
        manager.tell(.reloading)
        do {
            let inputs = try reload()
            await localizer.setSettings(inputs.settings)
            try await watch(inputs.geofences)
        } catch {
            // A service does not end by a mistake in a file: what counted before stays.
            StandardError.write("indoorloc: \(error); the earlier settings and geofences stay\n")
        }
        try output.reopen()
        manager.tell(.ready, .status(status.text))
    }

    /// Has these geofences watched, and no others; those that are watched already go on as they are.
    private func watch(_ fences: [Geofence]) async throws(GeofenceError) {
        let watched = await localizer.monitoredGeofences
        let ids = Set(fences.map(\.id))
        for fence in watched where !ids.contains(fence.id) { await localizer.stopMonitoring(fence.id) }
        let known = Set(watched)
        try await localizer.startMonitoring(fences.filter { !known.contains($0) })
    }
}
