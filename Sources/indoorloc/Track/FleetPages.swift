import IndoorLocalization
import LiveMap
import LiveSurvey
import SessionMetrics
import TagTracking
import TagTrackingService
import VenuePackets

/// The options of the page of a process that locates a share of a fleet's tags.
package struct FleetPageOptions: Sendable {
    /// The options.
    package static let options = LiveMapOptions.options(serving: "a page of the tags of this process")

    private let options: LiveMapOptions

    /// Reads the options; returns nil without `--http`.
    package init?(_ arguments: ParsedArguments) throws {
        guard let options = try LiveMapOptions(arguments) else { return nil }
        self.options = options
    }

    /// Starts the server of the page.
    ///
    /// - Parameter metrics: returns the metrics of the process.
    /// - Throws: the error of the token file or the address.
    package func start(
        _ packet: VenuePacket, metrics: @escaping @Sendable () -> [MetricFamily]
    ) throws -> FleetPage {
        try FleetPage(try options.listener(), packet, metrics: metrics)
    }
}

/// The page, the HTTP interface and the metrics of a process that locates a share of a fleet's tags.
package final class FleetPage: FleetOutputSink {
    private let board: TagBoard
    private let server: LiveMapServer

    fileprivate init(
        _ listener: LiveMapListener, _ packet: VenuePacket, metrics: @escaping @Sendable () -> [MetricFamily]
    ) throws {
        board = TagBoard(receivers: packet.venue.receivers)
        let routes = TagRoutes(
            board: board, title: packet.venue.name, venue: packet.venue, plans: PacketPlans(PlanFiles(packet)),
            metrics: { MetricText.text(of: metrics()) })
        server = try LiveMapServer(routes: routes, listener: listener)
        StandardError.line("page of the tags: \(server.url)", .info)
    }

    package func write(_ outputs: [FleetOutput]) async { await board.write(outputs) }

    package func write(_ events: [ReceiverEvent]) async { await board.write(events) }

    package func write(_ activity: GatewayActivity) async { await board.write(activity) }

    // Without the register, because the page would list the tags of other processes as those without a position.
    package func use(register: TagRegister, removing tags: [TagKey]) async { await board.remove(tags) }

    package func forget(_ isForgotten: @Sendable (TagKey) -> Bool) async { await board.forget(isForgotten) }

    /// Stops the server.
    package func stop() { server.stop() }
}

/// The page and the HTTP interface of a fleet on one machine.
struct TrackPage: Sendable {
    /// The state that the interface reports. It is a sink of the fleet's outputs.
    let board: TagBoard
    private let listener: LiveMapListener
    private let venue: Venue
    private let plans: PlanFiles
    private let opens: Bool

    /// Listens at the address of the options.
    ///
    /// - Parameter opens: whether to open the page in the default browser.
    /// - Throws: the error of the token file or the address.
    init(_ options: LiveMapOptions, _ venue: Venue, _ plans: PlanFiles, _ register: TagRegister, opens: Bool) throws {
        listener = try options.listener()
        (self.venue, self.plans, self.opens) = (venue, plans, opens)
        board = TagBoard(
            receivers: venue.receivers, capacity: LatestOutputs.capacity(with: register.entries.count))
    }

    /// The rules by which the fleet selects the format of messages: those over HTTP, whose topic begins with
    /// `http/FORMAT`, and then those of the broker's topics, whose filters can match any topic.
    static func formats(with others: [TopicFormat]) -> [TopicFormat] {
        GatewayFormat.allCases.map { TopicFormat(filter: "http/\($0.rawValue)/#", format: $0) } + others
    }

    /// Starts the server, which runs until its `stop()`.
    ///
    /// - Parameters:
    ///   - queue: receives the messages of gateways that use HTTP.
    ///   - hasAlerts: whether there are rules of alerts.
    ///   - published: publishes the outputs over the broker; nil for none.
    ///   - rooms: trains the rooms of a fleet without a floor plan; nil with a floor plan.
    ///   - survey: records surveys with tags; nil for none.
    ///   - now: returns the time of the fleet.
    /// - Throws: `LiveMapError` if the system has no resources for the server.
    func start(
        _ engine: FleetEngine, _ queue: MessageQueue, _ history: TagHistory?, hasAlerts: Bool,
        published: MQTTOutputSink?, rooms: RoomDesk?, survey: SurveyDesk?,
        now: @escaping @Sendable () -> Instant
    ) throws(LiveMapError) -> LiveMapServer {
        let routes = TagRoutes(
            board: board, title: venue.name, venue: venue, plans: PacketPlans(plans),
            metrics: {
                var statistics = await engine.statistics
                statistics.residentMemory = ResidentMemory.bytes
                let families =
                    statistics.families(at: now()) + (await engine.intakeStatistics.families)
                    + (await engine.receivers.families) + (await published?.counters.families ?? [])
                return MetricText.text(of: families)
            },
            gateways: { format, path, body, client in
                let topic = "http/\(format.rawValue)" + (path.isEmpty ? "" : "/" + path)
                let message = GatewayMessage(topic: topic, payload: body, arrival: now())
                // The gateway immediately gets the reason for an invalid message. The fleet decodes valid ones again.
                do throws(GatewayError) {
                    _ = try GatewayDecoder().readings(topic: topic, payload: body, format: format)
                } catch {
                    await engine.refuse(message, from: client, error)
                    return .invalid("\(error)")
                }
                return queue.offer(message) ? .accepted : .busy
            }, hearings: engine, history: history, hasAlerts: hasAlerts, rooms: rooms, survey: survey)
        let server = try LiveMapServer(routes: routes, listener: listener)
        StandardError.line("page of the tags: \(server.url)", .info)
        if opens { LocalPage.open(server.url) }
        return server
    }
}

/// The options of the metrics of a process without a page.
package struct MetricsOptions: Sendable {
    /// The options.
    package static let options = LiveMapOptions.options(serving: "/metrics")

    private let options: LiveMapOptions

    /// Reads the options; returns nil without `--http`.
    package init?(_ arguments: ParsedArguments) throws {
        guard let options = try LiveMapOptions(arguments) else { return nil }
        self.options = options
    }

    /// Starts a server, which runs until its `stop()`.
    ///
    /// - Parameter metrics: returns the metrics of the process.
    /// - Throws: the error of the token file or the address.
    package func start(metrics: @escaping @Sendable () -> [MetricFamily]) throws -> LiveMapServer {
        let server = try LiveMapServer(routes: MetricsRoutes(metrics: metrics), listener: try options.listener())
        StandardError.line("metrics: \(server.url)metrics", .info)
        return server
    }
}
