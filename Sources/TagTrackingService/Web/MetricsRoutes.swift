import LiveMap
import SessionMetrics

/// The paths of a process without a page: its metrics and its health.
package struct MetricsRoutes: HTTPRoutes {
    private let metrics: @Sendable () -> [MetricFamily]

    /// Creates the paths.
    ///
    /// - Parameter metrics: returns the metrics of the process.
    package init(metrics: @escaping @Sendable () -> [MetricFamily]) { self.metrics = metrics }

    package func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        try HTTPProblem.check(method, isChange: false)
    }

    package func largestBody(of target: HTTPTarget) -> Int { 0 }

    package func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(HTTPProblem) {
            try request.allowOnly([])
            switch request.target.path {
            case "/metrics": return .metrics(MetricText.text(of: metrics()))
            case "/api/v1/health": return try .json(["status": "ok"])
            default: throw HTTPProblem(404, "The paths of this process are /metrics and /api/v1/health.")
            }
        } catch { return HTTPResponse(error) }
    }
}

extension HTTPResponse {
    /// Metrics in the OpenMetrics format.
    static func metrics(_ text: String) -> HTTPResponse {
        let type = "application/openmetrics-text; version=1.0.0; charset=utf-8"
        return HTTPResponse(200, [HTTPResponse.type(type), HTTPResponse.noStore], .bytes(Array(text.utf8)))
    }
}
