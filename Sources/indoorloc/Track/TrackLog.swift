import IndoorLocalization
import MQTTSharing
import TagTracking
import TagTrackingService

/// The log lines of a fleet on one machine.
struct TrackLog {
    /// The counters of a fleet at one moment.
    struct State: Sendable {
        let intake: IntakeStatistics
        let statistics: FleetStatistics
        let problems: [IntakeProblem]
        let unknownGateways: [GatewayActivity.UnknownGateway]

        init(_ engine: FleetEngine) async {
            intake = await engine.intakeStatistics
            statistics = await engine.statistics
            problems = await engine.problems
            unknownGateways = await engine.activity.unknownGateways
        }
    }

    /// The time between two lines with the counters.
    private static let heartbeatInterval = Duration.seconds(60)
    /// The maximum number of names or topics that are reported, so that a foreign device can't fill the log.
    private static let mostNames = 20

    private let broker: MQTTBroker
    private let filters: [String]
    private var unknownReceivers: Set<String> = []
    private var invalidTopics: Set<String> = []
    private var nextHeartbeat = ContinuousClock.now + heartbeatInterval
    private var lastError: MQTTSharingError?
    /// The number of evicted tags in the latest warning about them, and the time of the next warning.
    private var evictedTags = 0
    private var nextEviction = ContinuousClock.now

    init(broker: MQTTBroker, filters: [String]) {
        self.broker = broker
        self.filters = filters
    }

    mutating func write(_ report: FleetService.Report) {
        switch report {
        case .connected(let refused):
            lastError = nil
            StandardError.line("receiving from \(broker.host):\(broker.port)", .info)
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
        }
    }

    mutating func write(_ state: State) {
        for gateway in state.unknownGateways
        where unknownReceivers.count < Self.mostNames && unknownReceivers.insert(gateway.name).inserted {
            let remedy =
                gateway.nearest == nil
                ? ": add it to the venue, or to the aliases of a receiver"
                : " Correct its name on the gateway, or add it to the aliases of the receiver"
            StandardError.line(gateway.text + remedy, .warning)
        }
        for problem in state.problems
        where invalidTopics.count < Self.mostNames && invalidTopics.insert(problem.topic).inserted {
            StandardError.line("\(problem.topic): \(problem.error)", .warning)
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
