import IndoorVocabulary
import LiveMap

/// The paths of the live map of a session with surveys.
package struct SurveyedMapRoutes: HTTPRoutes {
    private let map: LiveMapRoutes
    private let survey: SurveyRoutes

    /// Creates the paths of a session and of the desk of its device.
    ///
    /// - Parameters:
    ///   - metrics: returns the content of `/metrics` in the OpenMetrics format; nil for none.
    ///   - beaconHistory: returns the history of a venue's beacons; nil if the session keeps none.
    package init(
        content: any LiveMapContent, desk: SurveyDesk, metrics: (@Sendable () async -> String)? = nil,
        beaconHistory: LiveMapRoutes.BeaconHistory? = nil
    ) {
        map = LiveMapRoutes(content: content, metrics: metrics, hasSurvey: true, beaconHistory: beaconHistory)
        survey = SurveyRoutes(desk)
    }

    package func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        guard let path = SurveyRoutes.Path(rawValue: target.path) else { return try map.checkMethod(method, target) }
        try HTTPProblem.check(method, isChange: path.isChange)
    }

    package func largestBody(of target: HTTPTarget) -> Int {
        SurveyRoutes.Path(rawValue: target.path) == nil ? map.largestBody(of: target) : SurveyRoutes.largestBody
    }

    package func response(to request: HTTPRequest) async -> HTTPResponse {
        guard let path = SurveyRoutes.Path(rawValue: request.target.path) else {
            return await map.response(to: request)
        }
        do throws(HTTPProblem) {
            try request.allowOnly(path.parameters)
            return try await survey.response(to: request, at: path)
        } catch { return HTTPResponse(error) }
    }
}
