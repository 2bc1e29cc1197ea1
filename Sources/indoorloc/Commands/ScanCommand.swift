import BlueZScanning
import Foundation
import IndoorLocalization
import ScanRecording

/// Listens to this machine's Bluetooth radio, and shows or records what it hears.
struct ScanCommand: Command {
    static let syntax = CommandSyntax(
        name: "scan", operands: "", operandCount: 0...0,
        summary: "listen to this machine's Bluetooth radio, show the beacons and record them",
        details: """
            On a terminal, shows a table of the beacons that were heard in the last 5 s: RSSI and smoothed RSSI in dBm,
            distance by the power that the beacon advertises, sightings a second, and seconds since the last one. Else
            prints a recording (JSON Lines), whose beacon lines have "smoothed", "distance" and "proximity" too.

            Route hci reads the kernel's raw socket: every report, for which the program needs the capabilities
            CAP_NET_RAW and CAP_NET_ADMIN. Route dbus asks bluetoothd, which merges reports, and needs none. Without
            --route the better one that is permitted is taken, which the first line of the table tells.

            FILE is what its name ends in, as with 'convert': .jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa. It
            holds all advertisements, those of other devices too.

            example: indoorloc scan --seconds 60 --record walk.jsonl.gz
            """,
        options: [
            CommandOption(name: "adapter", argument: "A", help: "scan with this one: hci0, or its address"),
            CommandOption(name: "route", argument: "ROUTE", help: "hci or dbus (default the better one permitted)"),
            CommandOption(name: "record", argument: "FILE", help: "write what is heard to this file, too"),
            CommandOption(name: "seconds", argument: "N", help: "end after this time (default at Ctrl-C)"),
            CommandOption(name: "list", help: "list the Bluetooth adapters of this machine, and end"),
        ])

    private let adapter: AdapterChoice
    private let route: ScanRoute?
    private let record: (path: String, format: ConvertedFormat)?
    private let limit: Duration?
    private let isList: Bool

    init(_ arguments: ParsedArguments) throws {
        adapter = try arguments.adapter()
        route = try arguments.value("route").map { name in
            guard let route = ScanRoute(rawValue: name) else {
                let all = ScanRoute.allCases.map(\.rawValue).joined(separator: " or ")
                throw UsageError(message: "--route must be \(all), not '\(name)'", command: Self.syntax.name)
            }
            return route
        }
        record = try arguments.value("record").map { path in
            guard let format = ConvertedFormat(path: path) else {
                let message = "--record '\(path)' must end in \(ConvertedFormat.endings)"
                throw UsageError(message: message, command: Self.syntax.name)
            }
            return (path, format)
        }
        limit =
            arguments.has("seconds")
            ? .seconds(try arguments.number("seconds", in: 1...31_536_000, else: 1)) : nil
        isList = arguments.has("list")
    }

    func run() async throws {
        if isList { return try list() }
        let source = try BluetoothScanSource(adapter: adapter, route: route, content: .everything)
        StandardError.write("indoorloc: \(source.choice)\n")
        try await listen(to: source)
    }

    private func list() throws {
        let adapters = try BluetoothAdapter.all()
        if adapters.isEmpty { StandardError.write("indoorloc: this machine has no Bluetooth adapter\n") }
        try StandardOutput.write(adapters.map { "\($0)\n" }.joined())
    }

    /// Shows and records what a source delivers, until it ends or is interrupted.
    func listen(to source: some ScanSource) async throws {
        let startMicroseconds = Int64((Date().timeIntervalSince1970 * 1e6).rounded())
        let header = RecordingHeader(startedAt: RecordingStart.text(startMicroseconds))
        var output = ScanOutput(header: header, isTerminal: TerminalScreen.isThere)
        if let record {
            try output.record(
                to: record.path, format: record.format, header: header, startMicroseconds: startMicroseconds)
        }
        try output.begin()
        let scan = LiveScan(source, tick: .milliseconds(500), limit: limit)
        var failure: (any Error)?
        do {
            for await occurrence in scan.occurrences {
                if case .ended(let error) = occurrence { failure = error }
                guard try output.take(occurrence) else { break }
            }
        } catch { failure = error }
        await scan.stop()
        // What was heard before an error is not lost.
        try output.close()
        if (failure as? OutputError)?.isBrokenPipe == true { return }
        if let failure { throw failure }
    }
}

extension ParsedArguments {
    /// The adapter that was asked for, by name or address.
    fileprivate func adapter() throws(UsageError) -> AdapterChoice {
        guard let text = value("adapter") else { return .first }
        if let address = DeviceAddress(text) { return .address(address) }
        guard text.hasPrefix("hci"), UInt16(text.dropFirst(3)) != nil else {
            let message = "--adapter must be a name such as hci0, or an address, not '\(text)'"
            throw UsageError(message: message, command: syntax.name)
        }
        return .named(text)
    }
}
