import BlueZScanning
import GPSDReceiving
import IIOReceiving
import IndoorLocalization

/// Options of the commands that use the radio, and their values.
extension CommandOption {
    static let adapter = CommandOption(
        name: "adapter", argument: "A", help: "Bluetooth adapter: a name such as hci0, or an address")
    static let route = CommandOption(
        name: "route", argument: "ROUTE", help: "hci or dbus (default: the better one that is permitted)",
        proposals: .words(of: ScanRoute.self))
    static let record = CommandOption(
        name: "record", argument: "FILE", help: "also record the readings in this file")
    static let append = CommandOption(name: "append", help: "append to the existing recording")
    package static let seconds = CommandOption(
        name: "seconds", argument: "N", help: "end after N seconds (default: at Ctrl-C)")
}

extension ParsedArguments {
    /// The adapter given by `--adapter`, by name or address.
    func adapter() throws(UsageError) -> AdapterChoice {
        guard let text = value("adapter") else { return .first }
        if let address = DeviceAddress(text) { return .address(address) }
        guard text.hasPrefix("hci"), UInt16(text.dropFirst(3)) != nil else {
            let message = "--adapter must be a name such as hci0 or an address, not '\(text)'"
            throw UsageError(message: message, command: syntax.name)
        }
        return .named(text)
    }

    /// The route given by `--route`; nil for the better one.
    func route() throws(UsageError) -> ScanRoute? {
        guard let name = value("route") else { return nil }
        guard let route = ScanRoute(rawValue: name) else {
            let all = ScanRoute.allCases.map(\.rawValue).joined(separator: " or ")
            throw UsageError(message: "--route must be \(all), not '\(name)'", command: syntax.name)
        }
        return route
    }

    /// The file for the recording; nil if none was given.
    func recordTarget() throws(UsageError) -> RecordTarget? {
        let options = ["append", "overwrite"].filter(has)
        guard let path = value("record") else {
            guard let option = options.first else { return nil }
            throw UsageError(message: "--\(option) requires --record", command: syntax.name)
        }
        guard options.count < 2 else {
            throw UsageError(message: "--append and --overwrite can't be combined", command: syntax.name)
        }
        guard let format = ConvertedFormat(path: path) else {
            let message = "--record '\(path)' must end in \(ConvertedFormat.endings)"
            throw UsageError(message: message, command: syntax.name)
        }
        if has("append"), case .capture = format {
            let message = "--append requires a recording, .jsonl or .jsonl.gz; a capture can't be continued"
            throw UsageError(message: message, command: syntax.name)
        }
        var output = OutputFile(
            path: path, inputs: inputs(except: ["record"]), isPrivate: true,
            remedy: "use --append to continue it, or --overwrite to replace it")
        if has("overwrite") { output.existing = .replaced }
        if has("append") { output.existing = .extended }
        return RecordTarget(output: output, format: format)
    }

    /// The time limit; nil if none was given.
    package func limit() throws(UsageError) -> Duration? {
        guard has("seconds") else { return nil }
        return .seconds(try number("seconds", in: 1...31_536_000, else: 1))
    }
}

extension ScanContent {
    /// The content that a session in these venues needs: all advertisements if beacons are known by their address.
    static func enough(for venues: [Venue]) -> ScanContent {
        venues.contains { $0.beacons.contains { $0.address != nil } } ? .everything : .beacons
    }
}

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

    /// Passes this source, combined with inertial sensors, to a body. The sensors have their former state when it returns or
    /// throws.
    func combined(with imu: IIOSource, _ body: (CombinedSource) async throws -> Void) async throws {
        var failure: (any Error)?
        do { try await body(combined(with: imu)) } catch { failure = error }
        await IIOSource.released()
        if let failure { throw failure }
    }
}
