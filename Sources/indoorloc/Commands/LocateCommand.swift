import BlueZScanning
import GPSDReceiving
import IIOReceiving
import IndoorLocalization
import VenuePackets

/// Tells where this machine is, from what its Bluetooth radio hears.
struct LocateCommand: Command {
    static let syntax = CommandSyntax(
        name: "locate", operands: "", operandCount: 0...0,
        summary: "tell where this machine is, from what its Bluetooth radio hears",
        details: """
            Prints what 'replay' prints, as it happens; "t" is in seconds since the start. --adapter and --route are those
            of 'scan'. What is recorded replays: 'indoorloc replay --venue V FILE'. With --gnss, satellites tell where the
            machine is outdoors, and which venue it is in before a beacon is heard; their positions are recorded, too.
            With --imu, the machine's own motion and air pressure count, too, and are recorded: 50 times a second, or as told.
            With --geofences, fences of a GeoJSON file are watched, too, as by 'replay'. With --share, other devices get the
            positions over an MQTT broker: 'indoorloc share watch' prints them.

            example: indoorloc locate --venue Fixtures/office --record walk.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .adapter, .route, .gnss, .imu,
            .beaconLayout, .record, .append, .overwrite, .seconds,
        ]
            + SharingOptions.options + VenueServerOptions.packetOptions)

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
    }

    func run() async throws { try await StandardError.$traceID.withValue(traceID) { try await runTraced() } }

    private func runTraced() async throws {
        try record?.output.check()
        let packet = try await server.packet(venue, radioMap: radioMap, isLive: true)
        geofences?.warn(of: [packet.venue])
        let source = try BluetoothScanSource(
            adapter: adapter, route: route,
            content: record == nil && layouts.isEmpty ? .enough(for: [packet.venue]) : .everything)
        StandardError.line("a session begins: \(source.choice)")
        // Whatever happens, the adapter is given back as it was found.
        do { try await listen(in: packet.venue, to: source.dutyCycledBySettings().decoding(layouts)) } catch {
            await source.released()
            throw error
        }
        await source.released()
    }

    /// Locates by a radio, and by the inertial sensors that were asked for.
    private func listen(in venue: Venue, to radio: some ScanSource) async throws {
        guard let imu else { return try await locate(in: venue, radio) }
        try await locate(in: venue, radio.combined(with: imu))
    }

    func session(in venue: Venue, _ companions: [any ServiceCompanion] = []) -> LiveSession {
        LiveSession(
            venue: venue, settings: settings, seed: seed, gnss: gnss, geofences: geofences?.fences ?? [],
            traceID: traceID, companions: companions)
    }

    /// Prints what a session tells, until it ends or is interrupted.
    func locate(in venue: Venue, _ source: some ScanSource) async throws {
        var recorder = try record.map { try LiveRecorder($0) { source.wallClock } }
        let companions = try sharing.map { [try SharingCompanion($0, venues: VenueLibrary([venue]))] } ?? []
        let session = session(in: venue, companions)
        let isRecorded = record != nil
        let work = LiveWork<LiveSession.News>(tick: .milliseconds(500), limit: limit) { give in
            try await session.run(source, givesReadings: isRecorded, give)
        }
        var lines = LiveOutput()
        var failure: (any Error)?
        do {
            try await work.follow { occurrence in
                switch occurrence {
                case .element(.told(let output)):
                    try lines.line(output.json)
                    if case .state(.error(let error)) = output.content { failure = error }
                case .element(.heard(let reading)): try recorder?.write(reading)
                case .tick, .ended, .limitReached, .interrupted: try lines.write()
                }
                return lines.isWritten
            }
        } catch { failure = error }
        await work.stop()
        // What was heard before an error is not lost.
        try recorder?.close()
        do { try lines.end() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}
