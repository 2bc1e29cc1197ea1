import BlueZScanning
import Foundation
import IIOReceiving
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
            holds all advertisements, those of other devices too, and begins with the first one: a radio that cannot be used
            leaves what was there.

            With --imu, the recording has motion and air pressure, too; a capture (btsnoop) has no place for them. With
            --upload-url, the beacons are uploaded in batches, as by 'serve'; they wait in a file while the network is away. DIR is
            ~/.local/state/indoorloc.

            example: indoorloc scan --seconds 60 --imu iio --record walk.jsonl.gz
            """,
        options: [
            .adapter, .route, .imu, .record, .append, .overwrite, .seconds,
            CommandOption(name: "list", help: "list the Bluetooth adapters of this machine, and end"),
        ] + UploadOptions.options)

    private let adapter: AdapterChoice
    private let route: ScanRoute?
    private let imu: IIOSource?
    private let record: RecordTarget?
    private let limit: Duration?
    private let isList: Bool
    private let upload: UploadOptions?

    init(_ arguments: ParsedArguments) throws {
        adapter = try arguments.adapter()
        route = try arguments.route()
        imu = try arguments.imu()
        record = try arguments.recordTarget()
        limit = try arguments.limit()
        isList = arguments.has("list")
        upload = try UploadOptions(arguments)
    }

    func run() async throws {
        if isList { return try list() }
        try record?.output.check()
        let source = try BluetoothScanSource(adapter: adapter, route: route, content: .everything)
        StandardError.line("\(source.choice)")
        // Whatever happens, the adapter is given back as it was found.
        do { try await listenBesideSensors(to: source) } catch {
            await source.released()
            throw error
        }
        await source.released()
    }

    private func listenBesideSensors(to radio: some ScanSource) async throws {
        guard let imu else { return try await listen(to: radio) }
        try await listen(to: radio.combined(with: imu))
    }

    private func list() throws {
        let adapters = try BluetoothAdapter.all()
        if adapters.isEmpty { StandardError.line("this machine has no Bluetooth adapter") }
        try StandardOutput.write(adapters.map { "\($0)\n" }.joined())
    }

    /// Shows and records what a source delivers, until it ends or is interrupted.
    func listen(to source: some ScanSource) async throws {
        var settings = UploadSettings()
        settings.beacons = true
        let upload = try upload?.work(settings)
        var output = try ScanOutput(isTerminal: TerminalScreen.isThere, record: record) { source.wallClock }
        let scan = LiveWork<SensorReading>(tick: .milliseconds(500), limit: limit) { give in
            let uploading = upload.map { upload in Task { await upload.run() } }
            let result: Result<Void, any Error>
            do {
                for try await reading in source.beginReadings(reporting: { StandardError.line("\($0)") }) {
                    upload?.take(reading, by: source.wallClock)
                    give(reading)
                }
                result = .success(())
            } catch { result = .failure(error) }
            // What was heard is in the queue before the end.
            uploading?.cancel()
            await uploading?.value
            try result.get()
        }
        var failure: (any Error)?
        do {
            try output.begin()
            try await scan.follow { occurrence in try output.take(occurrence) }
        } catch { failure = error }
        await scan.stop()
        // What was heard before an error is not lost.
        do { try output.close() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}
