import Foundation
import IndoorLocalization
import VenuePackets

/// A session that runs as a service: until a signal, a time limit or its source ends it.
///
/// One loop takes in all that comes up. It feeds the manager's watchdog itself, so that a session that does not answer does
/// not count as alive. Lines that nobody takes, or for which there is no room, hold it up in nothing else: they are lost,
/// and counted.
struct ServiceRun {
    let localizer: Localizer
    let companions: [any ServiceCompanion]
    /// Uploads what is heard and found; nil if nothing is.
    let upload: UploadWork?
    let manager: ServiceManager
    /// How long it may run; nil for any time.
    let limit: Duration?
    /// Whether it ends with the first position.
    let endsWithPosition: Bool
    /// The settings, and how they and the geofences are read again.
    private var inputs: ServiceInputs
    var memory: ServiceMemory?
    var output: ServiceOutput

    private var status = ServiceStatus()
    private var heartbeats: HeartbeatHistory
    private let start = ContinuousClock.now
    /// The error that the session ended with, or the service.
    private var failure: (any Error)?
    private var isEnding = false

    init(
        _ localizer: Localizer, companions: [any ServiceCompanion], upload: UploadWork?, manager: ServiceManager,
        limit: Duration?, endsWithPosition: Bool, memory: ServiceMemory?, output: ServiceOutput, inputs: ServiceInputs
    ) {
        self.localizer = localizer
        self.companions = companions
        self.upload = upload
        self.manager = manager
        self.limit = limit
        self.endsWithPosition = endsWithPosition
        self.memory = memory
        self.output = output
        self.inputs = inputs
        heartbeats = HeartbeatHistory(inputs.settings.resolved.heartbeat)
    }

    /// Runs it.
    ///
    /// - Parameter saveInterval: how often the memory is to be kept.
    /// - Throws: what made the session end, or the output impossible.
    mutating func run(saveInterval: Duration) async throws {
        await memory?.restore(to: localizer)
        let tick = min(.milliseconds(500), saveInterval, manager.watchdogInterval.map { $0 / 4 } ?? .seconds(1))
        let work = LiveWork<ServiceEvent>(tick: tick, limit: limit) {
            [localizer, companions, upload, remote = inputs.remote] give in
            let hangUp = ReloadSignal { give(.reload) }
            var companions = companions
            if let upload { companions.append(upload) }
            if let remote { companions.append(SettingsCompanion(remote: remote) { give(.remote($0)) }) }
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

    private mutating func take(_ occurrence: LiveOccurrence<ServiceEvent>) async throws {
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
        case .element(.remote(let update)): if !isEnding { await take(update) }
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
        await beat()
        guard memory?.isDue == true else { return }
        await keepMemory()
        manager.tell(.status(status.text))
    }

    /// Tells what was counted, if that is due.
    private mutating func beat() async {
        let uptime = start.duration(to: .now)
        guard heartbeats.isDue(at: uptime) else { return }
        let heartbeat = Heartbeat(
            uptime: uptime, unixTime: UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
            activity: await localizer.activityCounts)
        heartbeats.append(heartbeat)
        let summary = await upload?.summary
        StandardError.line(heartbeat.line + (summary.map { "; \($0)" } ?? ""))
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
            let geofences = try inputs.reload()
            await use(inputs.settings)
            try await watch(geofences)
        } catch {
            // A service does not end by a mistake in a file: what counted before stays.
            StandardError.write("indoorloc: \(error); the earlier settings and geofences stay\n")
        }
        try output.reopen()
        manager.tell(.ready, .status(status.text))
    }

    /// Takes what a server gives, and tells what is wrong with it.
    private mutating func take(_ update: RemoteSettings.Update) async {
        let before = inputs.settings
        for problem in inputs.take(update) { StandardError.line("--settings-url: \(problem)") }
        if inputs.settings != before { await use(inputs.settings) }
    }

    private mutating func use(_ settings: SettingsStack) async {
        await localizer.setSettings(settings)
        await upload?.setSettings(settings.resolved.upload)
        heartbeats.settings = settings.resolved.heartbeat
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

extension Heartbeat {
    /// What was counted, as a log has it.
    var line: String {
        "heartbeat: up \(Int(uptime.seconds)) s, passes \(activity.passes), readings \(activity.readings), "
            + "sightings \(activity.sightings), positions \(activity.positions), outdoors "
            + "\(activity.outdoorPositions), events \(activity.events), errors \(activity.errors)"
    }
}
