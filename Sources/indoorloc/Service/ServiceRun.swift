import Foundation
import IndoorLocalization
import VenuePackets

/// A session that runs as a service, until a signal, a time limit or its source ends it.
///
/// One loop handles all events. It also sends the watchdog messages, so that a session that doesn't respond isn't
/// reported as alive. A slow reader of the output never blocks the loop: lines that don't fit are lost and counted.
struct ServiceRun {
    let localizer: Localizer
    let companions: [any SessionCompanion]
    /// The upload of sightings and positions; nil for none.
    let upload: UploadWork?
    let manager: ServiceManager
    /// The time limit; nil for none.
    let limit: Duration?
    /// Whether the service ends with the first position.
    let endsWithPosition: Bool
    /// The settings and geofences, which can be reloaded.
    private var inputs: ServiceInputs
    /// Counts the readings that were discarded because the session was too slow.
    private let lost: LostReadings
    var memory: ServiceMemory?
    var output: ServiceOutput

    private var status = ServiceStatus()
    private var log = SessionLog()
    private var heartbeats: HeartbeatHistory
    private let start = ContinuousClock.now
    /// The error that ended the session or the service.
    private var failure: (any Error)?
    private var isEnding = false

    init(
        _ localizer: Localizer, companions: [any SessionCompanion], upload: UploadWork?, manager: ServiceManager,
        limit: Duration?, endsWithPosition: Bool, memory: ServiceMemory?, output: ServiceOutput, inputs: ServiceInputs,
        lost: LostReadings
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
        self.lost = lost
        heartbeats = HeartbeatHistory(inputs.settings.resolved.heartbeat)
    }

    /// Runs the service.
    ///
    /// - Parameter saveInterval: the interval at which the memory is saved.
    /// - Throws: the error that ended the session, or made output impossible.
    mutating func run(saveInterval: Duration) async throws {
        await memory?.restore(to: localizer)
        let tick = min(.milliseconds(500), saveInterval, manager.watchdogInterval.map { $0 / 4 } ?? .seconds(1))
        let work = LiveWork<ServiceEvent>(tick: tick, limit: limit) {
            [localizer, companions, upload, remote = inputs.remote] give in
            let hangUp = ReloadSignal { give(.reload) }
            var companions = companions
            if let upload { companions.append(upload) }
            if let remote { companions.append(SettingsCompanion(remote: remote) { give(.remote($0)) }) }
            await LiveSession.follow(localizer, companions: companions) { give(.output($0)) }
            withExtendedLifetime(hangUp) {}
        }
        for await occurrence in work.occurrences {
            if case .ended = occurrence { break }
            do { try await handle(occurrence) } catch {
                note(error)
                if !isEnding { await end() }
            }
        }
        await work.stop()
        lost.report()
        if !isEnding { await end() }
        do { try output.end() } catch { note(error) }
        if let failure { throw failure }
    }

    /// Stores the first failure. A reader that has closed the pipe, such as `| head`, is not a failure.
    private mutating func note(_ error: any Error) {
        if failure == nil, (error as? OutputError)?.isBrokenPipe != true { failure = error }
    }

    private mutating func handle(_ occurrence: LiveOccurrence<ServiceEvent>) async throws {
        switch occurrence {
        case .element(.output(let output)):
            try self.output.line(output)
            log.write(output.content)
            let messages = status.observe(output.content)
            for message in messages { manager.notify(message) }
            switch output.content {
            case .state(.error(let error)): failure = error
            case .position where endsWithPosition && !isEnding: await end()
            // After a restart, the service must not repeat an event of this run.
            case .event where !isEnding: await saveMemory()
            default: break
            }
        case .element(.reload): if !isEnding { try await readInputs() }
        case .element(.remote(let update)): if !isEnding { await apply(update) }
        case .tick:
            lost.report()
            try output.write()
            if !isEnding { await pulse() }
        case .interrupted, .limitReached: if !isEnding { await end() }
        case .ended: break
        }
    }

    /// Does the periodic work: sends the watchdog message and saves the memory.
    private mutating func pulse() async {
        // A session that is late with due work is stuck, even if it still responds.
        let delay = await localizer.delay
        if let interval = manager.watchdogInterval, delay < interval / 2 { manager.notify(.watchdog) }
        await beat()
        let isDue = memory?.isDue == true
        if isDue { await saveMemory() }
        guard isDue || status.isOutdated else { return }
        status.renew(await localizer.diagnosis)
        manager.notify(.status(status.text))
    }

    /// Reports a heartbeat if it is due.
    private mutating func beat() async {
        let uptime = start.duration(to: .now)
        guard heartbeats.isDue(at: uptime) else { return }
        let heartbeat = Heartbeat(
            uptime: uptime, unixTime: UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)),
            activity: await localizer.activityCounts)
        heartbeats.append(heartbeat)
        let summary = await upload?.summary
        StandardError.line(heartbeat.line + (summary.map { "; \($0)" } ?? ""), .info)
    }

    /// Ends the session and saves its memory. Its last lines follow.
    private mutating func end() async {
        isEnding = true
        manager.notify(.stopping)
        let known = await localizer.suspend()
        memory?.save(known)
    }

    private mutating func saveMemory() async {
        let known = await localizer.memory
        memory?.save(known)
    }

    private mutating func readInputs() async throws {
        manager.notify(.reloading)
        do {
            let geofences = try inputs.reload()
            await use(inputs.settings)
            try await watch(geofences)
        } catch {
            // An invalid file doesn't end the service.
            StandardError.write("indoorloc: \(error); the earlier settings and geofences stay in effect\n")
        }
        try output.reopen()
        manager.notify(.ready, .status(status.text))
    }

    /// Applies an update of a settings server, and reports its problems.
    private mutating func apply(_ update: RemoteSettings.Update) async {
        let before = inputs.settings
        for problem in inputs.apply(update) { StandardError.line("--settings-url: \(problem)", .warning) }
        if inputs.settings != before { await use(inputs.settings) }
    }

    private mutating func use(_ settings: SettingsStack) async {
        await localizer.setSettings(settings)
        await upload?.setSettings(settings.resolved.upload)
        heartbeats.settings = settings.resolved.heartbeat
    }

    /// Monitors these geofences only. Geofences that are already monitored keep their state.
    private func watch(_ fences: [Geofence]) async throws(GeofenceError) {
        let watched = await localizer.monitoredGeofences
        let ids = Set(fences.map(\.id))
        for fence in watched where !ids.contains(fence.id) { await localizer.stopMonitoring(fence.id) }
        let known = Set(watched)
        try await localizer.startMonitoring(fences.filter { !known.contains($0) })
    }
}

extension Heartbeat {
    /// The heartbeat as a log line.
    var line: String {
        "heartbeat: up \(Int(uptime.seconds)) s, passes \(activity.passes), readings \(activity.readings), "
            + "sightings \(activity.sightings), positions \(activity.positions), outdoors "
            + "\(activity.outdoorPositions), events \(activity.events), errors \(activity.errors)"
    }
}

/// An event of a running service.
enum ServiceEvent: Sendable {
    /// An output of the session; its instant counts from the start.
    case output(SessionReplay.Output)
    /// New settings of a server, or its error.
    case remote(RemoteSettings.Update)
    /// A request to reload the settings: SIGHUP.
    case reload
}
