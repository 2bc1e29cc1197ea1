import BlueZScanning
import GPSDReceiving
import IIOReceiving
import IndoorLocalization
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
            my place') stores ground truth in the recording. With --nmea, which may be repeated, gpsd, GeoClue and map programs
            receive the positions as those of a satellite receiver; the venue needs a georeference.

            example: indoorloc locate --venue Fixtures/office --record walk.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .adapter, .route, .gnss, .imu,
            .beaconLayout, .record, .append, .overwrite, .seconds,
        ] + CommandOption.log + LiveMapOptions.options + NMEAOptions.options + SharingOptions.options
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
    private let nmea: NMEAOptions?

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
        sharing = try SharingOptions(arguments)
        liveMap = try LiveMapOptions(arguments)
        nmea = try NMEAOptions(arguments)
    }

    func run() async throws { try await StandardError.$traceID.withValue(traceID) { try await runTraced() } }

    private func runTraced() async throws {
        try record?.output.check()
        // An address in use is reported before the radio starts.
        let listener = try liveMap?.listener()
        let packet = try await server.packet(venue, radioMap: radioMap, isLive: true)
        geofences?.warn(of: [packet.venue])
        settings.warnOfUselessSettings(in: [packet.venue])
        try nmea?.check([packet.venue], gnss)
        let source = try BluetoothScanSource(
            adapter: adapter, route: route,
            content: record == nil && layouts.isEmpty ? .enough(for: [packet.venue]) : .everything)
        StandardError.line("session started: \(source.choice)", .info)
        let marks = listener != nil && record?.acceptsMarks == true ? LiveMarks(venue: packet.venue) : nil
        let map = listener.map { listener in
            LiveMapCompanion(
                listener: listener, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)),
                marks: marks.map { marks in { @Sendable place in marks.mark(MarkedPlace(place)) } })
        }
        // The adapter's earlier state is restored even after an error.
        do { try await listen(in: packet.venue, to: source.dutyCycledBySettings().decoding(layouts), map, marks) } catch
        {
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
        try await locate(in: venue, radio.combined(with: imu), map, marks: marks)
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
        var companions: [any SessionCompanion] = []
        if let sharing { companions.append(try SharingCompanion(sharing, venues: VenueLibrary([venue]))) }
        if var map {
            map.metrics = LiveMapCompanion.metrics(lost: lost)
            companions.append(map)
        }
        let nmea = try nmea?.companion()
        if let nmea { companions.append(nmea) }
        var session = session(in: venue, companions, lost: lost)
        if let nmea, let gnss { session.gnss = nmea.separated(from: gnss) }
        let isRecorded = record != nil
        let work = LiveWork<LiveSession.Update>(tick: .milliseconds(500), limit: limit) { [session] give in
            try await session.run(source, givesReadings: isRecorded, give)
        }
        var (lines, log) = (LiveOutput(), SessionLog())
        var failure: (any Error)?
        do {
            try await work.follow { occurrence in
                switch occurrence {
                case .element(.output(let output)):
                    try lines.line(output.json)
                    log.write(output.content)
                    if case .state(.error(let error)) = output.content { failure = error }
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
        } catch { failure = error }
        await work.stop()
        session.lost.report()
        // Readings from before an error are kept.
        try recorder?.close()
        do { try lines.end() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}
