import GPSDReceiving
import IIOReceiving
import IndoorLocalization

/// Options of the sensors beside the radio, and their values.
extension CommandOption {
    static let gnss = CommandOption(
        name: "gnss", argument: "SOURCE", help: "read satellite positions from gpsd: gpsd[:HOST[:PORT]]")
    static let imu = CommandOption(
        name: "imu", argument: "SOURCE", help: "read motion and air pressure from the kernel's sensors: iio[:HERTZ]")
}

extension ParsedArguments {
    /// The satellite receiver given by `--gnss`; nil if the option was not given.
    func gnss() throws(UsageError) -> GPSDSource? {
        guard let text = value("gnss") else { return nil }
        guard let source = GPSDSource(argument: text) else {
            let message =
                "--gnss must be gpsd, gpsd:HOST or gpsd:HOST:PORT, with an IPv6 address in brackets, not '\(text)'"
            throw UsageError(message: message, command: syntax.name)
        }
        return source
    }

    /// The inertial sensors given by `--imu`; nil if the option was not given.
    func imu() throws(UsageError) -> IIOSource? {
        guard let text = value("imu") else { return nil }
        guard let source = IIOSource(argument: text) else {
            let (least, most) = (Int(IIOSource.rates.lowerBound), Int(IIOSource.rates.upperBound))
            let message = "--imu must be iio or iio:HERTZ, from \(least) to \(most) Hz, not '\(text)'"
            throw UsageError(message: message, command: syntax.name)
        }
        return source
    }
}

extension GPSDSource {
    /// Reads `gpsd`, `gpsd:HOST` or `gpsd:HOST:PORT`; returns nil for other text.
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

extension IIOSource {
    /// Reads `iio` or `iio:HERTZ`; returns nil for other text.
    init?(argument: String) {
        guard let match = argument.wholeMatch(of: #/iio(?::(\d+))?/#) else { return nil }
        self.init()
        guard let digits = match.output.1 else { return }
        guard let rate = Double(digits), Self.rates.contains(rate) else { return nil }
        self.rate = rate
    }
}

extension ScanSource {
    /// This source combined with inertial sensors.
    func combined(with imu: IIOSource) -> CombinedSource { CombinedSource(self, with: [imu]) }
}
