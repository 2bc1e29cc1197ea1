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

/// The settings and geofences of a service, from its command line, its files and a server.
struct ServiceInputs: Sendable {
    /// The settings and geofences of the command line and its files.
    struct Content: Sendable {
        var settings: SettingsStack
        /// The geofences to monitor, in addition to the venues' fences.
        var geofences: [Geofence]
    }

    /// The settings in effect, from the command line, its files and the server.
    private(set) var settings: SettingsStack
    /// The settings of a server; nil without a server.
    let remote: RemoteSettings?
    private let read: @Sendable () throws -> Content
    /// The server's latest settings.
    private var entries: [SettingsEntry] = []
    /// The server's last reported error; nil if it has given settings since.
    private var lastFailure: String?

    /// - Parameters:
    ///   - settings: the settings of the command line and its files.
    ///   - read: reads the command line's files again.
    init(_ settings: SettingsStack, remote: RemoteSettings?, read: @escaping @Sendable () throws -> Content) {
        self.settings = settings
        self.remote = remote
        self.read = read
    }

    /// Reads the files again and keeps the server's settings.
    ///
    /// - Returns: the geofences to monitor, in addition to the venues' fences.
    /// - Throws: the error of a file, or `SettingsFailure` if the files contradict the server's settings. Then nothing
    ///   changes.
    mutating func reload() throws -> [Geofence] {
        let content = try read()
        var next = content.settings
        _ = next.load(entries, from: .remote)
        next.apply()
        let problems = next.problems
        guard problems.isEmpty else { throw SettingsFailure(problems: problems) }
        settings = next
        return content.geofences
    }

    /// Replaces the server's earlier settings. If the new settings contradict each other, nothing changes.
    ///
    /// - Returns: the problems in words, then a note for each expert setting.
    mutating func apply(_ update: RemoteSettings.Update) -> [String] {
        switch update {
        case .failure(let error):
            guard error.message != lastFailure else { return [] }
            lastFailure = error.message
            return ["\(error.message); the server's earlier settings stay in effect"]
        case .settings(let entries):
            lastFailure = nil
            var next = settings
            let problems = next.load(entries, from: .remote).map(\.description)
            next.apply()
            let contradictions = next.problems.map(\.description)
            guard contradictions.isEmpty else {
                return problems + contradictions + ["the server's earlier settings stay in effect"]
            }
            settings = next
            self.entries = entries
            return problems + next.expertNotes(of: .remote)
        }
    }
}

/// The output of a service: standard output, or a file to which lines are appended.
///
/// Neither a full disk nor a stopped reader ends the service. Lines that don't fit in the buffer are lost. Standard
/// error reports when this begins, and the number of lost lines when it ends.
struct ServiceOutput {
    /// The file; nil for standard output.
    private let file: OutputFile?
    private var lines = LiveOutput()
    /// The reported problem; nil while lines are written.
    private var trouble: String?

    /// Opens the file.
    ///
    /// - Throws: `OutputFile.Failure` if the file can't be opened, or if it is an input.
    init(_ file: OutputFile?) throws(OutputFile.Failure) {
        self.file = file
        try open()
    }

    private var place: String { file?.path ?? "standard output" }

    /// Writes a line with the time of day, as the instants of each run count from its own start.
    ///
    /// - Throws: `OutputError` if the reader has closed the pipe.
    mutating func line(_ output: SessionReplay.Output) throws(OutputError) {
        var time = JSONText()
        time.add("time", Date().timeIntervalSince1970, decimals: 3)
        let text: String = time.text.dropLast() + "," + output.json.dropFirst()
        try attempt { lines throws(OutputError) in
            try lines.line(text)
            try lines.write()
        }
    }

    /// Writes as many pending lines as the reader accepts.
    mutating func write() throws(OutputError) {
        try attempt { lines throws(OutputError) in try lines.write() }
    }

    /// Writes the remaining lines, and reports lost ones.
    mutating func end() throws(OutputError) {
        try attempt { lines throws(OutputError) in try lines.finish() }
        lines.drop()
        let losses = lines.drainLosses()
        if losses > 0 { StandardError.line("\(place): \(LiveOutput.text(losses))", .warning) }
    }

    /// Opens the file again, in case it was renamed. If this fails, the earlier file stays open.
    mutating func reopen() throws(OutputError) {
        try write()
        do throws(OutputFile.Failure) { try open() } catch {
            StandardError.line("\(error); the earlier file stays open", .warning)
        }
    }

    /// Writes; a failure is reported once.
    private mutating func attempt(_ body: (inout LiveOutput) throws(OutputError) -> Void) throws(OutputError) {
        do { try body(&lines) } catch {
            if error.isBrokenPipe { throw error }
            begin("\(OutputError(number: error.number, place: place))")
            return
        }
        if lines.lost > 0, !lines.isWritten { begin("\(place): the reader doesn't accept lines") }
        guard trouble != nil, lines.isWritten else { return }
        trouble = nil
        StandardError.line("\(place): writing resumed; \(LiveOutput.text(lines.drainLosses()))", .notice)
    }

    private mutating func begin(_ text: String) {
        guard trouble == nil else { return }
        trouble = text
        StandardError.line("\(text); the service continues, and lines are lost", .warning)
    }

    private func open() throws(OutputFile.Failure) {
        guard let file else { return }
        try file.check()
        let descriptor = Foundation.open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutputFile.Failure(path: file.path) }
        dup2(descriptor, STDOUT_FILENO)
        close(descriptor)
    }
}

/// The session memory of a service, stored in a folder at intervals and at its end.
struct ServiceMemory {
    private let store: SessionMemoryStore
    private let interval: Duration
    private var lastWrite = ContinuousClock.now
    /// The error of the last save; nil if it succeeded.
    private var trouble: SessionMemoryStoreError?

    init(_ store: SessionMemoryStore, every interval: Duration) {
        self.store = store
        self.interval = interval
    }

    /// Whether the next save is due.
    var isDue: Bool { lastWrite.duration(to: .now) >= interval }

    /// Restores the stored memory to a localizer, and reports the outcome on standard error.
    func restore(to localizer: Localizer) async {
        switch store.read() {
        case .none: break
        case .memory(let memory, let age):
            await localizer.restore(memory, after: age)
            let place = memory.stay.map { "venue \($0.venueID)" } ?? "no venue"
            let total = Int((memory.age + age).seconds)
            StandardError.line("restored the memory of \(place), \(total) s old, from \(store.path)", .info)
        case .unusable(let reason, let path):
            let fate = path.map { "moved to \($0)" } ?? "not moved"
            StandardError.line("\(reason); \(fate); the session begins without a memory", .warning)
        }
    }

    /// Saves a memory. A failure doesn't end the service; it is reported once.
    mutating func save(_ memory: SessionMemory) {
        lastWrite = .now
        do throws(SessionMemoryStoreError) {
            try store.write(memory)
            if trouble != nil { StandardError.line("the memory is saved again", .notice) }
            trouble = nil
        } catch {
            if trouble != error { StandardError.line("the memory can't be saved: \(error)", .warning) }
            trouble = error
        }
    }
}
