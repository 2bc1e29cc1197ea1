import IndoorLocalization

/// The log of a session's outputs.
struct SessionLog: Sendable {
    /// The latest logged state and its fields; nil before the first one.
    private var latest: (name: String, fields: [LogField])?

    /// Writes an output as a log line if a log option was given; otherwise only the output file has it.
    ///
    /// A state with the name, the venue and the map of the latest one, such as the progress of a download, isn't
    /// written.
    mutating func write(_ content: SessionOutput.Content) {
        switch content {
        case .state(let state):
            let fields = state.logFields
            if let latest, latest == (state.name, fields) { return }
            latest = (state.name, fields)
            StandardError.detail("state \(state.name)", .info, fields)
        case .error(let error): StandardError.detail(error.message, .error, error.logFields)
        case .diagnosis(let diagnosis):
            StandardError.detail("\(diagnosis)", .notice, [LogField("reason", diagnosis.reason.rawValue)])
        case .event(let event): StandardError.detail("\(event)", .debug, [LogField("venue", event.venueID)])
        case .position(let position):
            let radius = JSONText.number(position.radius, decimals: 1)
            StandardError.detail(
                "position", .debug,
                [
                    LogField("venue", position.venueID), LogField("map", position.mapID),
                    LogField("x", JSONText.number(position.x, decimals: 2)),
                    LogField("y", JSONText.number(position.y, decimals: 2)), LogField("radius", radius),
                ])
        case .outdoorPosition, .motion, .interaction, .downloadedVenue: break
        }
    }
}

extension LocalizationState {
    /// The fields of a log line about the state.
    fileprivate var logFields: [LogField] {
        let venue = venueID.map { [LogField("venue", $0)] } ?? []
        guard case .localizationRunning(let running) = self else { return venue }
        return venue + [LogField("map", running.mapID)]
    }
}

extension LocalizationError {
    /// The fields of a log line about the error.
    var logFields: [LogField] { [LogField("code", code.rawValue), LogField("kind", kind.rawValue)] }
}
