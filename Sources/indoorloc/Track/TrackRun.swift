import Glibc
import IndoorLocalization
import LiveSurvey
import MQTTSharing
import TagTracking
import TagTrackingService

/// A fleet on one machine whose outputs are printed, until a signal or a time limit ends it.
struct TrackRun: Sendable {
    /// An update for the loop that prints.
    enum Update: Sendable {
        case outputs([FleetOutput])
        case alerts([AlertEvent])
        case report(FleetService.Report)
        case state(TrackLog.State)
        case hearings([TrackLog.Heard])
        case nameTaken(ProcessNameTaken)
    }

    /// Passes the outputs to the loop that prints.
    private struct Printing: FleetOutputSink {
        let give: @Sendable (Update) -> Void

        func write(_ outputs: [FleetOutput]) async { give(.outputs(outputs)) }

        func write(_ alerts: [AlertEvent]) async { give(.alerts(alerts)) }
    }

    /// The clock of the fleet, for several tasks.
    final class SharedClock: Sendable {
        private let clock = Guarded(FleetClock())

        func now() -> Instant { clock.withLock { $0.now() } }

        /// The clock with its steps at the latest reading.
        var state: FleetClock { clock.withLock { $0 } }
    }

    /// The time between two readings of the counters for the log.
    private static let logInterval = Duration.seconds(5)

    let clock: SharedClock
    let engine: FleetEngine
    /// The options with the register, which is read again on SIGHUP and when the file changes.
    let fleet: FleetOptions
    /// The latest outputs of earlier starts.
    let places: [FleetOutput]
    /// The register at the start.
    let register: TagRegister
    /// The register with its changes; nil without one.
    let registerFile: ReloadedFile<TagRegister>?
    let state: StateFolder?
    let sinks: [any FleetOutputSink]
    /// The sink that publishes over the broker, which is also one of the sinks; nil for none.
    let published: MQTTOutputSink?
    /// The broker of the gateways; nil for none.
    let broker: MQTTBroker?
    let filters: [String]
    /// The page of the tags; nil for none.
    let page: TrackPage?
    /// The simulated gateways and tags, which replace those of the broker; nil for none.
    let demo: DemoFleet?
    /// The history, which is also one of the sinks; nil for none.
    let history: TagHistory?
    /// The rules of alerts; nil for none.
    let alerts: TrackAlerts?
    /// The trained rooms, in a fleet without a floor plan; nil with a floor plan.
    let rooms: TrackRooms?
    /// Records surveys with tags, which is also one of the sinks; nil for none.
    let survey: SurveyDesk?
    /// Records tags that move, and is also one of the sinks, with the folder of the recordings; nil for none.
    let recording: (recorder: TagRecorder, folder: RecordingFolder)?

    /// Whether to print the outputs. A person who starts a demonstration looks at the page, so that the many lines of a
    /// demonstration aren't printed on a terminal.
    private var prints: Bool { demo == nil || isatty(STDOUT_FILENO) == 0 }

    /// Runs the fleet and prints its outputs.
    ///
    /// - Throws: `CommandError` if another process publishes under the same name, or the error of standard output,
    ///   except that of a reader that has closed the pipe.
    func follow(limit: Duration?) async throws {
        let clock = clock
        let queue = MessageQueue()
        let training = rooms?.file()
        let desk = rooms.map { rooms in
            RoomDesk(engine, path: rooms.path) {
                clock.now()
            } saved: {
                training?.wrote($0)
            } failed: {
                StandardError.line("--rooms: \($0); the change of the rooms is lost when the command ends", .warning)
            }
        }
        let server = try page?.start(
            engine, queue, history, hasAlerts: alerts?.isConfigured ?? false, published: published, rooms: desk,
            survey: survey
        ) { clock.now() }
        defer { server?.stop() }
        let file = registerFile
        let current: @Sendable () -> TagRegister = { [register] in file?.current ?? register }
        let rules = alerts?.file(register: current)
        let reloading = ReloadSignal {
            if file == nil, rules == nil, training == nil {
                StandardError.line(
                    "there is no register (--tags), file of rules (--alerts) or training (--rooms) to read again",
                    .notice)
            }
            file?.reload()
            rules?.reload()
            training?.reload()
        }
        defer { withExtendedLifetime(reloading) {} }
        let requests = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let asking = SignalSources([SIGUSR1]) { _ in requests.continuation.yield() }
        defer { asking.cancel() }
        let input = demo == nil ? broker.map { FleetInput($0, filters: filters) { _ in clock.now() } } : nil
        let work = LiveWork<Update>(tick: .milliseconds(200), limit: limit) { [self] give in
            let outputs: [any FleetOutputSink] = [Printing(give: give)] + sinks
            let alerting = await alerts?.service(
                to: outputs, register: register, places: places, hearings: engine, isListening: input == nil,
                clock: clock)
            let service = FleetService(
                input: input, queue: queue, engine: engine, state: state,
                sinks: outputs + (alerting.map { [$0] } ?? []), places: places,
                registered: Set(register.entries.keys), newRegister: { file?.take() },
                now: { clock.now() }, clock: { clock.state }
            ) { report in
                if case .listening(let isListening) = report { alerting?.listen(isListening) }
                give(.report(report))
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await service.run() }
                // The rules can have failed because of the earlier register.
                group.addTask { await file?.watch { rules?.reloadAfterFailure() } }
                if let alerting {
                    group.addTask { await alerting.run() }
                    group.addTask { await rules?.watch() }
                    group.addTask { await rules?.pass(to: alerting) }
                }
                group.addTask { [survey] in await survey?.run { StandardError.line("--survey: \($0)", .warning) } }
                group.addTask { [recording] in
                    guard let (recorder, folder) = recording else { return }
                    await recorder.run { TagRecordings(folder: folder) }
                }
                group.addTask { await training?.watch() }
                group.addTask { [engine] in await training?.pass(to: engine) }
                group.addTask { [demo] in await demo?.run(into: queue) { clock.now() } }
                group.addTask { [published] in
                    if let error = await published?.nameTaken() { give(.nameTaken(error)) }
                }
                group.addTask { [engine] in
                    for await _ in requests.stream {
                        give(.hearings(await TrackLog.heard(by: engine, register: current(), at: clock.now())))
                    }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.logInterval)) != nil {
                        give(.state(await TrackLog.State(engine)))
                    }
                }
            }
            await alerting?.stop()
        }
        var lines = LiveOutput()
        var log = TrackLog(broker: broker, filters: filters, hasTrainedRooms: rooms != nil)
        var failure: (any Error)?
        var hasEnded = false
        func handle(_ occurrence: LiveOccurrence<Update>) throws {
            switch occurrence {
            case .element(.outputs(let outputs)):
                if prints { for output in outputs { try lines.line(output.json) } }
            case .element(.alerts(let alerts)):
                if prints { for event in alerts { try lines.line(event.json) } }
            case .element(.report(let report)): log.write(report)
            case .element(.state(let state)): log.write(state)
            case .element(.hearings(let tags)): log.write(tags)
            case .element(.nameTaken(let error)): throw CommandError(description: "\(error)")
            case .ended: hasEnded = true
            case .tick, .limitReached, .interrupted: break
            }
            try lines.write()
        }
        do {
            try await work.follow { occurrence in
                try handle(occurrence)
                return lines.isWritten
            }
        } catch { failure = error }
        await work.stop()
        // The final state contains the outputs of the last step, which are printed as well.
        if failure == nil, !hasEnded {
            for await occurrence in work.occurrences {
                do { try handle(occurrence) } catch { failure = failure ?? error }
                if hasEnded || failure != nil { break }
            }
        }
        do { try lines.end() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}

/// The log lines of a fleet on one machine.
struct TrackLog {
    /// The counters of a fleet at one moment.
    struct State: Sendable {
        let intake: IntakeStatistics
        let statistics: FleetStatistics
        let problems: [IntakeProblem]
        let sharedBeacons: [BeaconIdentity: [DeviceAddress]]
        let unknownGateways: [GatewayActivity.UnknownGateway]

        init(_ engine: FleetEngine) async {
            intake = await engine.intakeStatistics
            statistics = await engine.statistics
            problems = await engine.problems
            sharedBeacons = await engine.sharedBeacons
            unknownGateways = await engine.activity.unknownGateways
        }
    }

    /// A tag with the receivers that have heard it.
    struct Heard: Sendable {
        let tag: TagKey
        let name: String?
        let hearings: [HearingTable.Hearing]
        /// The time of the request.
        let now: Instant
    }

    /// The maximum number of tags outside of the register in an answer, and of receivers in a line.
    private static let (mostStrangers, mostReceivers) = (50, 6)

    /// Returns the tags of the register in the order of their names, and then the tags that were heard last.
    static func heard(by engine: FleetEngine, register: TagRegister, at now: Instant) async -> [Heard] {
        let known = register.entries.values.sorted { ($0.name ?? "", $0.key) < ($1.name ?? "", $1.key) }
        let strangers = await engine.heardTags.reversed().lazy.filter { register.entries[$0] == nil }
        var list: [Heard] = []
        for (tag, name) in known.map({ ($0.key, $0.name) }) + strangers.prefix(mostStrangers).map({ ($0, nil) }) {
            list.append(Heard(tag: tag, name: name, hearings: await engine.hearings(of: tag), now: now))
        }
        return list
    }

    /// Writes a line for each tag, on request (SIGUSR1).
    mutating func write(_ tags: [Heard]) {
        if tags.isEmpty { StandardError.line("no tag was heard", .notice) }
        let remark = hasTrainedRooms ? "not trained" : "not in the venue"
        for tag in tags {
            StandardError.line(tag.line(mostReceivers: Self.mostReceivers, otherwise: remark), .notice)
        }
    }

    /// The time between two lines with the counters.
    private static let heartbeatInterval = Duration.seconds(60)
    /// The maximum number of topics that are reported, so that a foreign device can't fill the log.
    private static let mostTopics = 20

    private let broker: MQTTBroker?
    private let filters: [String]
    private let hasTrainedRooms: Bool
    private var unknownGateways = UnknownGatewayLog()
    private var invalidTopics: Set<String> = []
    private var sharedBeacons: Set<BeaconIdentity> = []
    private var nextHeartbeat = ContinuousClock.now + heartbeatInterval
    private var lastError: MQTTSharingError?
    /// The number of evicted tags in the latest warning about them, and the time of the next warning.
    private var evictedTags = 0
    private var nextEviction = ContinuousClock.now

    init(broker: MQTTBroker?, filters: [String], hasTrainedRooms: Bool) {
        self.broker = broker
        self.filters = filters
        self.hasTrainedRooms = hasTrainedRooms
    }

    mutating func write(_ report: FleetService.Report) {
        switch report {
        case .connected(let refused):
            lastError = nil
            if let broker { StandardError.line("receiving from \(broker.host):\(broker.port)", .info) }
            for filter in refused {
                StandardError.line("\(MQTTSharingError.forbidden(topic: filter))", .warning)
            }
        case .disconnected(let error, let pause):
            // The same error is reported once until the next connection, because the attempts repeat.
            guard error != lastError else { return }
            lastError = error
            let seconds = JSONText.number(pause.seconds, decimals: 0)
            StandardError.line("\(error); trying again in \(seconds) s and then with growing pauses", .warning)
        case .lost(let messages):
            let count = messages.counting("message")
            StandardError.line("\(count) lost: messages arrive faster than they can be handled", .warning)
        case .unsaved(let error): StandardError.line("the state isn't saved: \(error)", .warning)
        case .saved: StandardError.line("the state is saved again", .notice)
        case .receivers(let events):
            for event in events { StandardError.line(event.logLine, event.logLevel) }
        case .listening: break
        case .clockSetForward(let step):
            StandardError.line(
                "the clock was set forward by \(JSONText.number(step.seconds, decimals: 0)) s: earlier outputs have the "
                    + "times of the old clock", .notice)
        case .clockSetBack(let lead):
            StandardError.line(
                "the clock was set back: the times of outputs are \(JSONText.number(lead.seconds, decimals: 0)) s ahead, and "
                    + "take twice that time to agree with it; a restart corrects them at once", .warning)
        }
    }

    mutating func write(_ state: State) {
        for line in unknownGateways.lines(about: state.unknownGateways) { StandardError.line(line, .warning) }
        for problem in state.problems
        where invalidTopics.count < Self.mostTopics && invalidTopics.insert(problem.source).inserted {
            StandardError.line("\(problem.source): \(problem.error)", .warning)
        }
        for (beacon, addresses) in state.sharedBeacons.sorted(by: { $0.key < $1.key })
        where sharedBeacons.insert(beacon).inserted {
            StandardError.line(
                "the beacon \(beacon) is sent by \(addresses.count) addresses, which are located as one tag: "
                    + addresses.map(\.description).joined(separator: ", ")
                    + "; give each tag its own beacon, or list the addresses in the register (--tags)", .warning)
        }
        let evicted = state.statistics.evictedTags - evictedTags
        if evicted > 0, ContinuousClock.now >= nextEviction {
            evictedTags += evicted
            nextEviction = .now + Self.heartbeatInterval
            let megabytes = state.statistics.unknownTagBytes >> 20
            StandardError.line(
                "\(evicted.counting("unknown tag")) given up: the positions of unknown tags have reached their limit, "
                    + "\(megabytes) MB (--unknown-memory); give a register (--tags), or --unknown none", .warning)
        }
        guard ContinuousClock.now >= nextHeartbeat else { return }
        nextHeartbeat = .now + Self.heartbeatInterval
        StandardError.line(
            "tags \(state.statistics.presentTags), messages \(state.intake.messages), readings "
                + "\(state.statistics.readings), positions \(state.statistics.positions), events "
                + "\(state.statistics.events)", .info)
    }
}

extension TrackLog.Heard {
    /// The line of the log: tag "Keys" (phone:anna): heard by kitchen -61 dBm 2 s ago, hall -72 dBm 1 s ago
    ///
    /// - Parameter remark: what is said of a receiver that is unknown to the venue or to the training.
    fileprivate func line(mostReceivers: Int, otherwise remark: String) -> String {
        let title = name.map { "tag \"\($0)\" (\(tag))" } ?? "tag \(tag)"
        guard !hearings.isEmpty else { return "\(title): not heard since the start" }
        let parts = hearings.prefix(mostReceivers).map { hearing in
            let age = JSONText.number(max(0, hearing.instant.seconds(to: now)), decimals: 0)
            return "\(hearing.receiver)\(hearing.isInVenue ? "" : " (\(remark))") "
                + "\(JSONText.number(hearing.rssi, decimals: 0)) dBm \(age) s ago"
        }
        let rest = hearings.count > mostReceivers ? ", and \(hearings.count - mostReceivers) more" : ""
        return "\(title): heard by " + parts.joined(separator: ", ") + rest
    }
}

extension IntakeProblem {
    /// The topic, and the sender if it is known.
    fileprivate var source: String { topic + (sender.map { " from \($0)" } ?? "") }
}

extension ReceiverEvent {
    /// The line of the log for the event.
    package var logLine: String { "receiver '\(receiver)' \(health.words): \(text)" }

    /// The level of the line.
    package var logLevel: LogLevel { health == .healthy ? .notice : .warning }
}

extension ReceiverEvent.Health {
    /// The health in words.
    fileprivate var words: String {
        switch self {
        case .healthy: "works again"
        case .silent: "is silent"
        case .deaf: "is deaf"
        case .moved: "has moved"
        case .clockWrong: "has a wrong clock"
        case .miscalibrated: "measures differently"
        }
    }
}
