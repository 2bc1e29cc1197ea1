import BlueZScanning
import GPSDReceiving
import IIOReceiving
import IndoorLocalization
import ScanRecording
import VenuePackets

/// The command `locate`: locates this device from its Bluetooth radio.
struct LocateCommand: Command {
    static let syntax = CommandSyntax(
        name: "locate", operands: "", operandCount: 0...0,
        summary: "locate this device from its Bluetooth radio",
        details: """
            Prints the lines that 'replay' prints, in real time; "t" is in seconds since the start. --adapter and --route
            work as for 'scan'. Replay a recording with 'indoorloc replay --venue V FILE'. With --gnss, satellites give
            the position outdoors, and the venue before a beacon is received; satellite positions are also recorded.
            With --imu, the device's motion and air pressure sensors are used and recorded, at 50 Hz by default. With
            --geofences, the geofences of a GeoJSON file are also monitored, as for 'replay'. With --share, other devices
            receive the positions over an MQTT broker; 'indoorloc share watch' prints them. With --http, the command serves a
            live map of the session for web browsers, as for 'serve'. With --http and --record, a tap on the page's plan ('Mark
            my place') stores ground truth in the recording. With --http and --survey, the page records a survey, as for 'serve'. With --nmea, which may be repeated, gpsd, GeoClue and map programs
            receive the positions as those of a satellite receiver; the venue needs a georeference.

            example: indoorloc locate --venue Fixtures/office --record walk.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .adapter, .route, .gnss, .imu,
            .beaconLayout, .record, .append, .overwrite, .seconds, SurveyOption.option(with: "this device"),
        ] + BeaconHistoryOptions.options + CommandOption.log + LiveMapOptions.options + NMEAOptions.options
            + SharingOptions.options
            + VenueServerOptions.packetOptions)

    private let venue: String
    private let server: VenueServerOptions
    private let radioMap: String?
    private let seed: UInt64
    private let settings: SettingsStack
    private let geofences: GeofenceOption?
    private let adapter: AdapterChoice
    private let route: ScanRoute?
    private let gnss: GPSDSource?
    private let imu: IIOSource?
    private let layouts: [BeaconLayout]
    private let record: RecordTarget?
    private let traceID = TraceID()
    private let limit: Duration?
    private let sharing: SharingOptions?
    private let liveMap: LiveMapOptions?
    private let survey: SurveyOption?
    private let nmea: NMEAOptions?
    private let beaconHistory: BeaconHistoryOptions?
    private var drift = FollowedDrift()

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        server = try VenueServerOptions(arguments, isRequired: false)
        radioMap = try arguments.input("radio-map")
        seed = try arguments.seed()
        settings = try arguments.settings()
        geofences = try arguments.geofences()
        adapter = try arguments.adapter()
        route = try arguments.route()
        gnss = try arguments.gnss()
        imu = try arguments.imu()
        layouts = try arguments.beaconLayouts()
        var record = try arguments.recordTarget()
        record?.traceID = traceID
        self.record = record
        limit = try arguments.limit()
        sharing = try SharingOptions(arguments, defaults: settings.resolved.sharing)
        liveMap = try LiveMapOptions(arguments)
        survey = try SurveyOption(arguments, if: liveMap != nil, requirement: "--http")
        nmea = try NMEAOptions(arguments)
        beaconHistory = try BeaconHistoryOptions(arguments)
    }

    func run() async throws { try await StandardError.$traceID.withValue(traceID) { try await runTraced() } }

    private func runTraced() async throws {
        try record?.output.check()
        // An address in use is reported before the radio starts.
        let listener = try liveMap?.listener()
        var packet = try await server.packet(venue, radioMap: radioMap, isLive: true)
        var following = self
        if let beaconHistory { following.drift = try await beaconHistory.follow(&packet.venue) }
        geofences?.warn(of: [packet.venue])
        settings.warnOfUselessSettings(in: [packet.venue])
        try nmea?.check([packet.venue], gnss)
        let survey = try survey.map { option throws(CommandError) in
            let place = SurveyOption.place(
                of: packet, isFromServer: server.isGiven, hasRadioMap: radioMap != nil, command: Self.syntax.name)
            return try DeviceSurvey(option, packet, place: place, settings: settings, seed: seed)
        }
        let source = try BluetoothScanSource(
            adapter: adapter, route: route,
            content: record == nil && layouts.isEmpty ? .enough(for: [packet.venue]) : .everything)
        StandardError.line("session started: \(source.choice)", .info)
        let marks = listener != nil && record?.acceptsMarks == true ? LiveMarks(venue: packet.venue) : nil
        let map = listener.map { listener in
            LiveMapCompanion(
                listener: listener, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)),
                marks: marks.map { marks in { @Sendable place in marks.mark(MarkedPlace(place)) } }, survey: survey)
        }
        // The adapter's earlier state is restored even after an error.
        do {
            try await following.listen(
                in: packet.venue, to: source.dutyCycledBySettings().decoding(layouts), map, marks)
        } catch {
            await source.released()
            throw error
        }
        await source.released()
    }

    /// Locates with a radio, and with inertial sensors if `--imu` was given.
    private func listen(
        in venue: Venue, to radio: some ScanSource, _ map: LiveMapCompanion?, _ marks: LiveMarks?
    ) async throws {
        guard let imu else { return try await locate(in: venue, radio, map, marks: marks) }
        try await radio.combined(with: imu) { try await locate(in: venue, $0, map, marks: marks) }
    }

    /// Returns a session in a venue.
    func session(
        in venue: Venue, _ companions: [any SessionCompanion] = [], lost: LostReadings = LostReadings()
    ) -> LiveSession {
        LiveSession(
            venue: venue, settings: settings, seed: seed, gnss: gnss, geofences: geofences?.fences ?? [],
            traceID: traceID, companions: companions, lost: lost)
    }

    /// Prints the outputs of a session until it ends or is interrupted.
    ///
    /// - Parameters:
    ///   - map: serves a live map of the session; nil for none.
    ///   - marks: receives marks of the ground truth for the recording; nil for none.
    func locate(
        in venue: Venue, _ source: some ScanSource, _ map: LiveMapCompanion? = nil, marks: LiveMarks? = nil
    ) async throws {
        var recorder = try record.map { try LiveRecorder($0, acceptsMarks: marks != nil) { source.wallClock } }
        let lost = LostReadings()
        let history = try beaconHistory?.companion(drift)
        var companions: [any SessionCompanion] = []
        if let sharing { companions.append(try SharingCompanion(sharing, venues: VenueLibrary([venue]))) }
        if var map {
            map.metrics = LiveMapCompanion.metrics(lost: lost)
            map.beaconHistory = history?.reports(of: map.venues)
            companions.append(map)
            if let survey = map.survey { companions.append(survey) }
        }
        let nmea = try nmea?.companion()
        if let nmea { companions.append(nmea) }
        if let history { companions.append(history) }
        var session = session(in: venue, companions, lost: lost)
        session.survey = map?.survey
        if let nmea, let gnss { session.gnss = nmea.separated(from: gnss) }
        let isRecorded = record != nil
        let work = LiveWork<LiveSession.Update>(tick: .milliseconds(500), limit: limit) { [session] give in
            try await session.run(source, givesReadings: isRecorded, give)
        }
        var (lines, log) = (LiveOutput(), SessionLog())
        var failure = FirstFailure()
        do {
            try await work.follow { occurrence in
                switch occurrence {
                case .element(.output(let output)):
                    try lines.line(output.json)
                    log.write(output.content)
                    if case .state(.error(let error)) = output.content { failure.note(error) }
                case .element(.reading(let reading)):
                    let isFirst = recorder?.hasBegun == false
                    try recorder?.write(reading)
                    if isFirst, recorder?.hasBegun == true {
                        marks?.begin { [occurrences = work.occurrences] place, time in
                            occurrences.put(.element(.mark(place, time)))
                        }
                    }
                case .element(.mark(let place, let time)):
                    if let problem = recorder?.mark(place, at: time) { StandardError.line(problem, .warning) }
                case .tick, .ended, .limitReached, .interrupted:
                    session.lost.report()
                    try lines.write()
                }
                return lines.isWritten
            }
        } catch { failure.note(error) }
        await work.stop()
        session.lost.report()
        // Readings from before an error are kept.
        do { try recorder?.close() } catch { failure.note(error) }
        do { try lines.end() } catch { failure.note(error) }
        try failure.check()
    }
}

/// The command `serve`: locates this device as a service, which continues after a restart.
struct ServeCommand: Command {
    static let syntax = CommandSyntax(
        name: "serve", operands: "", operandCount: 0...0,
        summary: "locate this device as a service that continues after a restart",
        details: """
            Prints the lines that 'locate' prints, each with "time" (seconds since 1970). Saves the session memory in
            DIR/memory.json, and restores it at the next start. DIR is systemd's $STATE_DIRECTORY, or else
            ~/.local/state/indoorloc. --venue may be repeated. With --server and without --venue, all venues of the
            server are available.

            SIGTERM and SIGINT save the memory and end the service with exit status 0; a second signal, at least half a
            second later, ends it at once. SIGHUP reloads --settings and --geofences, and reopens --output. The service
            reports to systemd that it is ready, its status, and that it is alive; the Debian package has units. With
            --share, other devices receive the positions, as for 'locate'. With --geofences, the geofences of a GeoJSON
            file are also monitored, as for 'replay'.

            With --upload-url, and --upload-beacons or --upload-positions, sightings and positions are uploaded in
            batches; without a network they wait in a file. With --settings-url, a server also gives settings. A line
            with counts is written to standard error every heartbeat.interval.

            With --http, the service serves a live map of the session for web browsers, its data as JSON and a stream,
            and metrics for Prometheus at /metrics. Without a token, only programs on this host have access. With --nmea,
            other programs receive the positions, as for 'locate'. With --survey, people mark on the page where they carry this
            device, and the service learns a radio map from the walks, which it uses after a person adopts it on the page.

            With --record, the service also records its readings, from which 'indoorloc survey --self' learns the venue;
            with --learned, it uses the result from its next start on.

            example: indoorloc serve --venue Fixtures/office \\
                         --replay Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .adapter, .route, .gnss, .imu,
            .beaconLayout, .seconds,
            CommandOption(name: "once", help: "end after the first position"),
            CommandOption(
                name: "output", short: "o", argument: "FILE",
                help: "append lines to this file instead of standard output"),
            CommandOption(name: "state-directory", argument: "DIR", help: "folder for the memory"),
            CommandOption(
                name: "save-every", argument: "SECONDS", help: "interval at which the memory is saved (default 30)"),
            CommandOption(
                name: "replay", argument: "FILE", help: "play this recording in real time instead of the radio"),
            CommandOption(name: "replay-from", argument: "SECONDS", help: "start offset in the recording (default 0)"),
            .recordFolder("the readings in this folder, a file for each hour"), .recordLimit, .learned,
            SurveyOption.option(with: "this device"),
        ] + BeaconHistoryOptions.options + CommandOption.log + UploadOptions.options + UploadOptions.contents
            + SettingsServerOption.options
            + LiveMapOptions.options + NMEAOptions.options
            + SharingOptions.options
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
    private let liveMap: LiveMapOptions?
    private let survey: SurveyOption?
    private let nmea: NMEAOptions?
    private let beaconHistory: BeaconHistoryOptions?
    private var drift = FollowedDrift()
    private let layouts: [BeaconLayout]
    private let recordings: RecordingFolder?
    private let learned: LearnedEdition?
    private let traceID = TraceID()
    /// Counts the readings that the session was too slow for.
    private let lost = LostReadings()

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
        sharing = try SharingOptions(arguments, defaults: settings.resolved.sharing)
        liveMap = try LiveMapOptions(arguments)
        survey = try SurveyOption(
            arguments, if: liveMap != nil && venues.count == 1, requirement: "--http, and one --venue")
        // An adopted map would end the use of the learned edition, and would be judged by it until then.
        if survey != nil, arguments.value("learned") != nil {
            throw UsageError(message: "--survey and --learned can't be combined", command: "serve")
        }
        nmea = try NMEAOptions(arguments)
        beaconHistory = try BeaconHistoryOptions(arguments)
        upload = try UploadOptions(arguments)
        recordings = try RecordingFolder(arguments)
        learned = LearnedEdition(arguments)
        settingsServer = try SettingsServerOption(arguments)
        // A settings server may enable uploads later.
        if upload != nil, settingsServer == nil, !settings.resolved.upload.isOn {
            let message = "--upload-url requires --upload-beacons, --upload-positions, or both"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
    }

    /// The output file, to which each run appends.
    private static func output(_ arguments: ParsedArguments) -> OutputFile? {
        var output = arguments.outputFile("output", isPrivate: true)
        output?.existing = .extended
        return output
    }

    func run() async throws { try await StandardError.$traceID.withValue(traceID) { try await runTraced() } }

    private func runTraced() async throws {
        // An address in use is reported before the session starts.
        let listener = try liveMap?.listener()
        try recordings?.prepare()
        guard venues.isEmpty else {
            var read: [VenuePacket] = []
            for venue in venues {
                let packet = try await server.packet(venue, radioMap: radioMap, isLive: true)
                read.append(learned?.edition(of: packet) ?? packet)
                guard read.dropLast().contains(where: { $0.venue.id == read.last?.venue.id }) else { continue }
                let message = "--venue \(venue): another packet has the same venue id; each venue needs its own id"
                throw UsageError(message: message, command: Self.syntax.name)
            }
            var following = self
            if let beaconHistory {
                for index in read.indices {
                    following.drift.add(try await beaconHistory.follow(&read[index].venue))
                }
            }
            let packets = read.map(\.venue)
            geofences?.warn(of: packets)
            settings.warnOfUselessSettings(in: packets)
            try nmea?.check(packets, gnss)
            var map = listener.map { LiveMapCompanion(listener: $0, venues: packets, plans: VenuePlans(read)) }
            if let survey, let packet = read.first {
                let place = SurveyOption.place(
                    of: packet, isFromServer: server.isGiven, hasRadioMap: radioMap != nil, command: Self.syntax.name)
                let surveyed = try DeviceSurvey(survey, packet, place: place, settings: settings, seed: seed)
                map?.survey = surveyed
                return try await following.run(in: surveyed.device, content: .enough(for: packets), map)
            }
            return try await following.run(in: VenueLibrary(packets), content: .enough(for: packets), map)
        }
        try nmea?.check([], gnss)
        try await server.withLiveRepository { repository in
            // Any venue of the server may have beacons that are known by their address.
            let map = listener.map { LiveMapCompanion(listener: $0, plans: VenuePlans([])) }
            try await run(in: repository, content: .everything, map)
        }
    }

    private func run(in venues: some VenueSource, content: ScanContent, _ map: LiveMapCompanion?) async throws {
        if let replay {
            try await replay.checkStart()
            return try await serve(replay.dutyCycledBySettings().decoding(layouts), in: venues, map)
        }
        let source = try BluetoothScanSource(
            adapter: radio.adapter, route: radio.route, content: layouts.isEmpty ? content : .everything)
        StandardError.line("\(source.choice)", .info)
        // The adapter's earlier state is restored even after an error.
        do { try await listen(to: source.dutyCycledBySettings().decoding(layouts), in: venues, map) } catch {
            await source.released()
            throw error
        }
        await source.released()
    }

    /// Serves with a radio, and with inertial sensors if `--imu` was given.
    private func listen(
        to radio: some ScanSource, in venues: some VenueSource, _ map: LiveMapCompanion?
    ) async throws {
        guard let imu else { return try await serve(radio, in: venues, map) }
        try await radio.combined(with: imu) { try await serve($0, in: venues, map) }
    }

    private func serve(
        _ source: some ScanSource, in venues: some VenueSource, _ map: LiveMapCompanion?
    ) async throws {
        let store = try SessionMemoryStore(folder: folder)
        let upload = try upload?.work(settings.resolved.upload)
        let recording = recordings.map { folder in
            RecordingCompanion { folder.recordings(traceID) { source.wallClock } }
        }
        let device = map?.survey?.device
        guard upload != nil || recording != nil || device != nil else {
            return try await serve(source, in: venues, map, store, nil)
        }
        let tapped = TappedSource(source: source, lost: lost) { reading in
            upload?.receive(reading, by: source.wallClock)
            recording?.receive(reading)
            device?.receive(reading)
        }
        try await serve(tapped, in: venues, map, store, upload, recording)
    }

    private func serve(
        _ source: some ScanSource, in venues: some VenueSource, _ map: LiveMapCompanion?,
        _ store: SessionMemoryStore, _ upload: UploadWork?, _ recording: RecordingCompanion? = nil
    ) async throws {
        let nmea = try nmea?.companion()
        var satellites: (any GNSSSource)? = gnss
        if let nmea, let gnss { satellites = nmea.separated(from: gnss) }
        let localizer = Localizer(
            source: source, gnss: satellites, venues: venues, settings: settings, seed: seed,
            traceIDs: { [traceID] in traceID })
        try await localizer.startMonitoring(geofences?.fences ?? [])
        let history = try beaconHistory?.companion(drift)
        var companions: [any SessionCompanion] = try sharing.map { [try SharingCompanion($0, venues: venues)] } ?? []
        if var map {
            map.metrics = LiveMapCompanion.metrics(lost: lost)
            map.beaconHistory = history?.reports(of: map.venues)
            companions.append(map)
            if let survey = map.survey { companions.append(survey) }
        }
        if let nmea { companions.append(nmea) }
        if let recording { companions.append(recording) }
        if let history { companions.append(history) }
        let inputs = ServiceInputs(settings, remote: settingsServer?.settings(settings.resolved.remote)) {
            ServiceInputs.Content(
                settings: try arguments.settingsOfUpload(), geofences: try arguments.geofences()?.fences ?? [])
        }
        StandardError.line("session started", .info)
        var service = ServiceRun(
            localizer, companions: companions, upload: upload, manager: ServiceManager(), limit: limit,
            endsWithPosition: arguments.has("once"), memory: ServiceMemory(store, every: saveInterval),
            output: try ServiceOutput(output), inputs: inputs, lost: lost)
        try await service.run(saveInterval: saveInterval)
    }
}
