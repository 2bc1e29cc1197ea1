import IndoorLocalization
import LiveMap
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

    /// Stops the server.
    package func stop() { server.stop() }
}
