import IIOReceiving
import IndoorLocalization

extension CommandOption {
    static let imu = CommandOption(
        name: "imu", argument: "SOURCE", help: "motion and pressure from the kernel's sensors, as iio[:HERTZ]")
}

extension ParsedArguments {
    /// The inertial sensors that were asked for; nil for none.
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

extension IIOSource {
    /// Reads `iio` or `iio:HERTZ`; nil for anything else.
    init?(argument: String) {
        guard let match = argument.wholeMatch(of: #/iio(?::(\d+))?/#) else { return nil }
        self.init()
        guard let digits = match.output.1 else { return }
        guard let rate = Double(digits), Self.rates.contains(rate) else { return nil }
        self.rate = rate
    }
}

extension ScanSource {
    /// This source with inertial sensors beside it.
    func combined(with imu: IIOSource) -> CombinedSource { CombinedSource(self, with: [imu]) }
}
