import BlueZScanning
import IndoorLocalization

/// Options of the commands that listen to the radio, and what they mean.
extension CommandOption {
    static let adapter = CommandOption(name: "adapter", argument: "A", help: "scan with this one: hci0, or its address")
    static let route = CommandOption(
        name: "route", argument: "ROUTE", help: "hci or dbus (default the better one permitted)")
    static let record = CommandOption(
        name: "record", argument: "FILE", help: "write what is heard to this file, too")
    static let append = CommandOption(name: "append", help: "go on with the recording that is there already")
    static let seconds = CommandOption(
        name: "seconds", argument: "N", help: "end after this time (default at Ctrl-C)")
}

extension ParsedArguments {
    /// The adapter that was asked for, by name or address.
    func adapter() throws(UsageError) -> AdapterChoice {
        guard let text = value("adapter") else { return .first }
        if let address = DeviceAddress(text) { return .address(address) }
        guard text.hasPrefix("hci"), UInt16(text.dropFirst(3)) != nil else {
            let message = "--adapter must be a name such as hci0, or an address, not '\(text)'"
            throw UsageError(message: message, command: syntax.name)
        }
        return .named(text)
    }

    /// The route that was asked for; nil for the better one.
    func route() throws(UsageError) -> ScanRoute? {
        guard let name = value("route") else { return nil }
        guard let route = ScanRoute(rawValue: name) else {
            let all = ScanRoute.allCases.map(\.rawValue).joined(separator: " or ")
            throw UsageError(message: "--route must be \(all), not '\(name)'", command: syntax.name)
        }
        return route
    }

    /// The file to record to; nil for none.
    func recordTarget() throws(UsageError) -> RecordTarget? {
        let options = ["append", "overwrite"].filter(has)
        guard let path = value("record") else {
            guard let option = options.first else { return nil }
            throw UsageError(message: "--\(option) needs --record", command: syntax.name)
        }
        guard options.count < 2 else {
            throw UsageError(message: "--append and --overwrite contradict each other", command: syntax.name)
        }
        guard let format = ConvertedFormat(path: path) else {
            let message = "--record '\(path)' must end in \(ConvertedFormat.endings)"
            throw UsageError(message: message, command: syntax.name)
        }
        if has("append"), case .capture = format {
            let message = "--append goes with a recording, .jsonl or .jsonl.gz; a capture cannot go on"
            throw UsageError(message: message, command: syntax.name)
        }
        var output = OutputFile(
            path: path, inputs: inputs(except: ["record"]), isPrivate: true,
            remedy: "say --append to go on with it, or --overwrite to replace it")
        if has("overwrite") { output.existing = .replaced }
        if has("append") { output.existing = .extended }
        return RecordTarget(output: output, format: format)
    }

    /// After which time to end; nil for none.
    func limit() throws(UsageError) -> Duration? {
        guard has("seconds") else { return nil }
        return .seconds(try number("seconds", in: 1...31_536_000, else: 1))
    }
}

extension ScanContent {
    /// What a session in these venues needs to hear: a beacon that is known by its address may send anything.
    static func enough(for venues: [Venue]) -> ScanContent {
        venues.contains { $0.beacons.contains { $0.address != nil } } ? .everything : .beacons
    }
}
