import LiveMap
import SessionMetrics
import TagTrackingService

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
