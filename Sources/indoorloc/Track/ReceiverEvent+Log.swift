import IndoorLocalization
import TagTracking

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
