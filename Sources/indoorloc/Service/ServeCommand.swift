import BlueZScanning
import GPSDReceiving
import IIOReceiving
import IndoorLocalization
import ScanRecording
import VenuePackets

/// Tells where this machine is for as long as it runs, and goes on after a restart where it was.
struct ServeCommand: Command {
    static let syntax = CommandSyntax(
        name: "serve", operands: "", operandCount: 0...0,
        summary: "tell where this machine is, as a service that goes on after a restart where it was",
        details: """
            Prints what 'locate' prints, each line with "time", seconds since 1970, and keeps in DIR/memory.json what the
            session knows: the next start begins with it. DIR is systemd's $STATE_DIRECTORY or else
            ~/.local/state/indoorloc. Several --venue may be given; with --server, and without --venue, all venues of the
            server are known.

            SIGTERM and SIGINT end it, with the memory kept and exit status 0; another one, half a second later or more, ends
            it at once. SIGHUP reads --settings and --geofences again, and opens --output anew. To systemd it tells when it
            is ready, what it does, and that it is alive: units are in Fixtures/systemd. With --share, other devices get the
            positions, as of 'locate'. With --geofences, the fences of a GeoJSON file are watched, too, as by 'replay'.

            With --upload-url, and --upload-beacons or --upload-positions, what is heard and found is uploaded in batches; it
            waits in a file while the network is away. With --settings-url, a server gives settings, too. Every
            heartbeat.interval, standard error has a line with what was counted.

            example: indoorloc serve --venue Fixtures/office \\
                         --replay Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .adapter, .route, .gnss, .imu,
            .beaconLayout, .seconds,
            CommandOption(name: "once", help: "end with the first position"),
            CommandOption(name: "output", short: "o", argument: "FILE", help: "append to this file"),
            CommandOption(name: "state-directory", argument: "DIR", help: "where the memory is kept"),
            CommandOption(name: "save-every", argument: "SECONDS", help: "how often it is kept (default 30)"),
            CommandOption(
                name: "replay", argument: "FILE", help: "hear this recording, at its pace, instead of the radio"),
            CommandOption(name: "replay-from", argument: "SECONDS", help: "begin so far into it (default 0)"),
        ] + UploadOptions.options + UploadOptions.contents + SettingsServerOption.options + SharingOptions.options
            + VenueServerOptions.packetOptions)

    private let arguments: ParsedArguments
    private let venues: [String]
    private let radioMap: String?
    private let output: OutputFile?
    private let server: VenueServerOptions
    private let seed: UInt64
    private let settings: SettingsStack
    private let geofences: GeofenceOption?
    private let gnss: GPSDSource?
    private let imu: IIOSource?
    private let radio: (adapter: AdapterChoice, route: ScanRoute?)
    private let replay: PacedRecording?
    private let limit: Duration?
    private let folder: String
    private let saveInterval: Duration
    private let sharing: SharingOptions?
    private let upload: UploadOptions?
    private let settingsServer: SettingsServerOption?
    private let layouts: [BeaconLayout]
    private let traceID = TraceID()

    init(_ arguments: ParsedArguments) throws {
        self.arguments = arguments
        venues = try (arguments.values["venue"] ?? []).map(InputFile.keeping)
        server = try VenueServerOptions(arguments, isRequired: false)
        if !arguments.has("server") { _ = try arguments.required("venue") }
        radioMap = try arguments.input("radio-map")
        output = Self.output(arguments)
        seed = try arguments.seed()
        settings = try arguments.settingsOfUpload()
        geofences = try arguments.geofences()
        gnss = try arguments.gnss()
        imu = try arguments.imu()
        radio = (try arguments.adapter(), try arguments.route())
        limit = try arguments.limit()
        replay = try arguments.replay()
        layouts = try arguments.beaconLayouts()
        saveInterval = .seconds(try arguments.seconds("save-every", in: 0.01...86_400, else: 30))
        folder = try arguments.stateDirectory()
        sharing = try SharingOptions(arguments)
        upload = try UploadOptions(arguments)
        settingsServer = try SettingsServerOption(arguments)
        // A server may switch it on later.
        if upload != nil, settingsServer == nil, !settings.resolved.upload.isOn {
            let message = "--upload-url needs --upload-beacons or --upload-positions, or both"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
    }

    /// A service goes on with its file, run after run.
    private static func output(_ arguments: ParsedArguments) -> OutputFile? {
        var output = arguments.outputFile("output", isPrivate: true)
        output?.existing = .extended
        return output
    }

    func run() async throws { try await StandardError.$traceID.withValue(traceID) { try await runTraced() } }

    private func runTraced() async throws {
        guard venues.isEmpty else {
            var packets: [Venue] = []
            for venue in venues {
                packets.append(try await server.packet(venue, radioMap: radioMap, isLive: true).venue)
                guard packets.dropLast().contains(where: { $0.id == packets.last?.id }) else { continue }
                let message = "--venue \(venue): another packet is of the same venue; give each its own id"
                throw UsageError(message: message, command: Self.syntax.name)
            }
            geofences?.warn(of: packets)
            return try await run(in: VenueLibrary(packets), content: .enough(for: packets))
        }
        try await server.withLiveRepository { repository in
            // Any of the server's venues may have beacons that are known by their address.
            try await run(in: repository, content: .everything)
        }
    }

    private func run(in venues: some VenueSource, content: ScanContent) async throws {
        if let replay {
            try await replay.checkStart()
            return try await serve(replay.dutyCycledBySettings().decoding(layouts), in: venues)
        }
        let source = try BluetoothScanSource(
            adapter: radio.adapter, route: radio.route, content: layouts.isEmpty ? content : .everything)
        StandardError.line("\(source.choice)")
        // Whatever happens, the adapter is given back as it was found.
        do { try await listen(to: source.dutyCycledBySettings().decoding(layouts), in: venues) } catch {
            await source.released()
            throw error
        }
        await source.released()
    }

    /// Serves by a radio, and by the inertial sensors that were asked for.
    private func listen(to radio: some ScanSource, in venues: some VenueSource) async throws {
        guard let imu else { return try await serve(radio, in: venues) }
        try await serve(radio.combined(with: imu), in: venues)
    }

    private func serve(_ source: some ScanSource, in venues: some VenueSource) async throws {
        let store = try SessionMemoryStore(folder: folder)
        let upload = try upload?.work(settings.resolved.upload)
        guard let upload else { return try await serve(source, in: venues, store, nil) }
        let tapped = TappedSource(source: source) { upload.take($0, by: source.wallClock) }
        try await serve(tapped, in: venues, store, upload)
    }

    private func serve(
        _ source: some ScanSource, in venues: some VenueSource, _ store: SessionMemoryStore, _ upload: UploadWork?
    ) async throws {
        let localizer = Localizer(
            source: source, gnss: gnss, venues: venues, settings: settings, seed: seed,
            traceIDs: { [traceID] in traceID })
        try await localizer.startMonitoring(geofences?.fences ?? [])
        let companions: [any ServiceCompanion] = try sharing.map { [try SharingCompanion($0, venues: venues)] } ?? []
        let inputs = ServiceInputs(settings, remote: settingsServer?.settings(settings.resolved.remote)) {
            ServiceInputs.Content(
                settings: try arguments.settingsOfUpload(), geofences: try arguments.geofences()?.fences ?? [])
        }
        StandardError.line("a session begins")
        var service = ServiceRun(
            localizer, companions: companions, upload: upload, manager: ServiceManager(), limit: limit,
            endsWithPosition: arguments.has("once"), memory: ServiceMemory(store, every: saveInterval),
            output: try ServiceOutput(output), inputs: inputs)
        try await service.run(saveInterval: saveInterval)
    }
}
