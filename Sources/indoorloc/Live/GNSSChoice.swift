import GPSDReceiving
import IndoorLocalization

extension CommandOption {
    static let gnss = CommandOption(
        name: "gnss", argument: "SOURCE", help: "satellite positions from gpsd, as gpsd[:HOST[:PORT]]")
}

extension ParsedArguments {
    /// The satellite receiver that was asked for; nil for none.
    func gnss() throws(UsageError) -> GPSDSource? {
        guard let text = value("gnss") else { return nil }
        guard let source = GPSDSource(argument: text) else {
            let message =
                "--gnss must be gpsd, gpsd:HOST or gpsd:HOST:PORT, with brackets about an IPv6 address, not '\(text)'"
            throw UsageError(message: message, command: syntax.name)
        }
        return source
    }
}

extension GPSDSource {
    /// Reads `gpsd`, `gpsd:HOST` or `gpsd:HOST:PORT`; nil for anything else.
    init?(argument: String) {
        guard let match = argument.wholeMatch(of: #/gpsd(?::(?:\[([^\[\]]+)\]|([^:\[\]]+))(?::(\d+))?)?/#) else {
            return nil
        }
        self.init()
        if let host = match.output.1 ?? match.output.2 { self.host = String(host) }
        guard let digits = match.output.3 else { return }
        guard let port = UInt16(digits), port > 0 else { return nil }
        self.port = port
    }
}
