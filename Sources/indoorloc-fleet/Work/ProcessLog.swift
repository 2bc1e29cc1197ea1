import indoorloc

/// The log of this command, for closures that run outside of its task.
struct ProcessLog: Sendable {
    private let settings = StandardError.logSettings

    /// Writes a line on standard error.
    func line(_ text: String, _ level: LogLevel) {
        StandardError.$logSettings.withValue(settings) { StandardError.line(text, level) }
    }
}
