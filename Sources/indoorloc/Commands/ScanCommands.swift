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
        try await radio.combined(with: imu) { try await listen(to: $0) }
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
        var failure = FirstFailure()
        do {
            try output.begin()
            try await scan.follow { occurrence in try output.receive(occurrence) }
        } catch { failure.note(error) }
        await scan.stop()
        // Readings from before an error are kept.
        do { try output.close() } catch { failure.note(error) }
        try failure.check()
    }
}

/// The command `regions watch`: prints beacon regions as they are entered and left.
struct RegionsWatchCommand: Command {
    static let syntax = CommandSyntax(
        name: "regions watch", operands: "", operandCount: 0...0,
        summary: "print the beacon regions that this device enters and leaves",
        details: """
            Prints one JSON line for each region that is entered or left: t (seconds since the first reading), type
            "region", event and region. With --rangings, also prints one line per second for each region that the device
            is in: type "ranging", region, and its beacons with uuid, major, minor, rssi (smoothed, dBm), distance (m)
            and proximity.

            REGION is NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR. The device leaves a region when it has
            received none of its beacons for 30 s, or for the setting scanner.regions.exitTimeout. The radio scans all
            the time.

            example: indoorloc regions watch --region home=7C2F0A10-0000-4000-8000-000000000010
            """,
        options: [
            CommandOption(name: "region", argument: "REGION", help: "a region to watch; may be repeated"),
            CommandOption(name: "rangings", help: "also print the beacons of each region once per second"), .settings,
            .set,
        ] + HeardSource.options + CommandOption.log)

    private let source: HeardSource
    private let regions: [(id: String, region: BeaconRegion)]
    private let printsRangings: Bool
    private let settings: ScannerSettings

    init(_ arguments: ParsedArguments) throws {
        _ = try arguments.required("region")
        regions = try (arguments.values["region"] ?? []).map(Self.region)
        for (index, one) in regions.enumerated()
        where regions[..<index].contains(where: { $0.id == one.id || $0.region == one.region }) {
            throw UsageError(message: "--region \(one.id) is given twice", command: Self.syntax.name)
        }
        printsRangings = arguments.has("rangings")
        settings = try arguments.settings().resolved.scanner
        source = try HeardSource(arguments)
    }

    /// Reads `NAME=UUID[:MAJOR[:MINOR]]`.
    private static func region(_ text: String) throws(UsageError) -> (id: String, region: BeaconRegion) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let fields = parts.last?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        let numbers = fields.dropFirst().map { UInt16($0) }
        guard parts.count == 2, !parts[0].isEmpty, let uuid = fields.first.flatMap({ BeaconUUID(String($0)) }),
            numbers.count <= 2, !numbers.contains(nil)
        else {
            throw UsageError(
                message: "--region must be NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR, not '\(text)'",
                command: syntax.name)
        }
        let region = BeaconRegion(
            uuid: uuid, major: numbers.first.flatMap(\.self), minor: numbers.dropFirst().first.flatMap(\.self))
        return (String(parts[0]), region)
    }

    func run() async throws {
        var listener = Listener(printsRangings: printsRangings)
        try await source.listen(HeardSource.settings(settings), &listener) { machine in
            for (id, region) in regions { _ = machine.regions.track(region, id: id) }
        }
    }

    /// Prints region events and rangings.
    private struct Listener: ScannerListener {
        let printsRangings: Bool
        private var lines = LiveOutput()

        init(printsRangings: Bool) { self.printsRangings = printsRangings }

        mutating func receive(_ directive: ScanMachine.Directive) throws {
            switch directive {
            case .emitRegionEvent(let event): try lines.line(event.json)
            case .emitRanging(let ranging) where printsRangings && !ranging.ranges.isEmpty:
                try lines.line(ranging.json)
            default: try reportTrouble(directive)
            }
        }

        mutating func write() throws -> Bool {
            try lines.write()
            return lines.isWritten
        }

        mutating func end() throws { try lines.end() }
    }
}

extension RegionEvent {
    /// The event as a line of JSON.
    fileprivate var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "region")
        json.add("event", kind.rawValue)
        json.add("region", regionID)
        return json.text
    }
}

extension RegionRanging {
    /// The ranging as a line of JSON.
    fileprivate var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "ranging")
        json.add("region", regionID)
        json.add(
            "beacons",
            ranges.map { range in
                var json = JSONText()
                json.add("uuid", range.beacon.uuid.description)
                json.add("major", Int(range.beacon.major))
                json.add("minor", Int(range.beacon.minor))
                json.add("rssi", range.rssi, decimals: 1)
                json.add("distance", range.distance?.meters, decimals: 2)
                json.add("proximity", range.proximity?.rawValue)
                return json
            })
        return json.text
    }
}
