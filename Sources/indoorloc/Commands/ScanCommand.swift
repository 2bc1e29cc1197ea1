import BlueZScanning
import Foundation
import IIOReceiving
import IndoorLocalization
import ScanRecording

/// The command `scan`: shows or records the readings of this device's Bluetooth radio.
struct ScanCommand: Command {
    static let syntax = CommandSyntax(
        name: "scan", operands: "", operandCount: 0...0,
        summary: "show and record the beacons that this device's Bluetooth radio receives",
        details: """
            On a terminal, shows a table of the beacons received in the last 5 s: RSSI and smoothed RSSI in dBm, distance
            by the beacon's advertised power, sightings per second, and seconds since the last sighting. Otherwise
            prints a recording (JSON Lines) whose beacon lines also have "smoothed", "distance" and "proximity".

            Route hci reads every report from the kernel's raw socket; the program requires the capabilities CAP_NET_RAW
            and CAP_NET_ADMIN. Route dbus scans through bluetoothd, which merges reports, and requires no capability.
            Without --route, the better permitted route is used; the first line of the table shows it.

            The ending of FILE determines its format, as for 'convert': .jsonl, .jsonl.gz, .btsnoop, .snoop, .log or
            .cfa. FILE contains all advertisements, including those of other devices. It is created with the first one,
            so that a radio that can't be used leaves an existing file unchanged.

            With --imu, the recording also has motion and air pressure; a capture (btsnoop) can't store them. With
            --upload-url, sightings are uploaded in batches, as by 'serve'; without a network they wait in a file. DIR is
            ~/.local/state/indoorloc.

            With --publish, this device is a gateway of a fleet: all advertisements go to PREFIX/gateways/NAME/advertisements
            in batches, with the kernel's times, and PREFIX/gateways/NAME/presence is "online" or "offline". While the
            broker is unreachable, the command connects again and again, and discards readings older than 5 s. With
            --replay, a recording plays in real time in place of the radio.

            A survey needs the true position (ground truth) in the recording. With --at, the device stays at one point;
            with --room, in one room. With --marks, walk through the points of FILE in their order, straight and at
            constant speed between two points, and press Enter or space at each of them. 'u' undoes the last mark within
            30 s. The recording can be used by 'survey' and, with --room, by 'rooms train'.

            example: indoorloc scan --seconds 60 --imu iio --record walk.jsonl.gz
                     indoorloc scan --record east.jsonl --marks points.txt --venue Fixtures/office
                     indoorloc scan --publish mqtt://broker.example.org/site --name hall-3
            """,
        options: [
            .adapter, .route, .imu, .record, .append, .overwrite, .seconds,
            CommandOption(name: "list", help: "list the Bluetooth adapters of this device and exit"),
            CommandOption(
                name: "replay", argument: "FILE", help: "play this recording in real time instead of the radio"),
            CommandOption(name: "replay-from", argument: "SECONDS", help: "start offset in the recording (default 0)"),
        ] + PublishOptions.options + TruthOptions.options + CommandOption.log + UploadOptions.options)

    private let adapter: AdapterChoice
    private let route: ScanRoute?
    private let imu: IIOSource?
    private let record: RecordTarget?
    private let limit: Duration?
    private let isList: Bool
    private let upload: UploadOptions?
    private let truth: TruthOptions?
    private let publish: PublishOptions?
    private let replay: PacedRecording?

    init(_ arguments: ParsedArguments) throws {
        adapter = try arguments.adapter()
        route = try arguments.route()
        imu = try arguments.imu()
        record = try arguments.recordTarget()
        limit = try arguments.limit()
        isList = arguments.has("list")
        upload = try UploadOptions(arguments)
        truth = try TruthOptions(arguments)
        publish = try PublishOptions(arguments)
        replay = try arguments.replay()
    }

    func run() async throws {
        if isList { return try list() }
        try record?.output.check()
        // Before the radio is used.
        if try truth?.markList() != nil { try TerminalKeys.check(STDIN_FILENO) }
        if let replay {
            try await replay.checkStart()
            return try await listen(to: replay)
        }
        let source = try BluetoothScanSource(adapter: adapter, route: route, content: .everything)
        StandardError.line("\(source.choice)", .info)
        // The adapter's earlier state is restored even after an error.
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
        if adapters.isEmpty { StandardError.line("this device has no Bluetooth adapter") }
        try StandardOutput.write(adapters.map { "\($0)\n" }.joined())
    }

    /// Shows and records the readings of a source until it ends or is interrupted.
    ///
    /// - Parameters:
    ///   - terminal: the terminal of the keys for `--marks`.
    ///   - prompt: shows the user's next step; nil uses the table or standard error.
    func listen(
        to source: some ScanSource, terminal: Int32 = STDIN_FILENO, prompt: (@Sendable (String) -> Void)? = nil
    ) async throws {
        var settings = UploadSettings()
        settings.beacons = true
        let upload = try upload?.work(settings)
        let publisher = publish.map(AdvertisementPublisher.init)
        let marks = try truth?.markList()
        var output = try ScanOutput(
            isTerminal: TerminalScreen.isThere, record: record, truth: truth, marks: marks, prompt: prompt
        ) { source.wallClock }
        let scan = LiveWork<ScanElement>(tick: .milliseconds(500), limit: limit) { give in
            let uploading = upload.map { upload in Task { await upload.run() } }
            let publishing = publisher.map { publisher in Task { await publisher.run() } }
            let result: Result<Void, any Error>
            do {
                for try await reading in source.beginReadings(reporting: {
                    StandardError.line("\($0)", .error, $0.logFields)
                }) {
                    if upload != nil || publisher != nil {
                        let clock = source.wallClock
                        upload?.receive(reading, by: clock)
                        publisher?.receive(reading, by: clock)
                        try publisher?.checkName()
                    }
                    give(.reading(reading))
                }
                result = .success(())
            } catch { result = .failure(error) }
            // All readings are in the queue before the end.
            uploading?.cancel()
            publisher?.end()
            await uploading?.value
            await publishing?.value
            try result.get()
        }
        let keys = marks.flatMap { _ in
            TerminalKeys(of: terminal) { [occurrences = scan.occurrences] key, time in
                occurrences.put(.element(.key(key, time)))
            }
        }
        if let keys { scan.exitActions.add(keys.restore) }
        defer { keys?.close() }
        var failure: (any Error)?
        do {
            try output.begin()
            try await scan.follow { occurrence in try output.receive(occurrence) }
        } catch { failure = error }
        await scan.stop()
        // Readings from before an error are kept.
        do { try output.close() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}
