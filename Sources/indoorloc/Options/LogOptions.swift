extension CommandOption {
    static let logLevel = CommandOption(
        name: "log-level", argument: "LEVEL",
        help: "least severe lines on standard error: error, warning, notice, info or debug (default info)",
        proposals: .words(of: LogLevel.self))
    static let logFormat = CommandOption(
        name: "log-format", argument: "FORMAT", help: "form of these lines: text, logfmt or journald (default text)",
        proposals: .words(of: LogFormat.self))
    /// The options of the commands that run until they are ended.
    package static let log = [logLevel, logFormat]
}

extension ParsedArguments {
    /// The settings of log lines.
    ///
    /// - Throws: `UsageError` for an unknown level or format.
    func logSettings() throws(UsageError) -> LogSettings {
        var settings = LogSettings()
        if let name = value("log-level") {
            guard let level = LogLevel(rawValue: name) else {
                throw UsageError(
                    message: "--log-level must be error, warning, notice, info or debug, not '\(name)'",
                    command: syntax.name)
            }
            settings.level = level
        }
        if let name = value("log-format") {
            guard let format = LogFormat(rawValue: name) else {
                throw UsageError(
                    message: "--log-format must be text, logfmt or journald, not '\(name)'", command: syntax.name)
            }
            settings.format = format
        }
        settings.isDetailed = has("log-level") || has("log-format")
        return settings
    }
}
