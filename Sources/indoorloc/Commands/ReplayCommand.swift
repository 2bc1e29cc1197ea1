import IndoorLocalization
import ScanRecording
import VenuePackets

/// The command `replay`: plays a recording through a session and prints its outputs.
struct ReplayCommand: Command {
    static let syntax = CommandSyntax(
        name: "replay", operands: "RECORDING", operandCount: 1...1,
        summary: "play a recording through a session and print its states and positions",
        details: """
            RECORDING is a recording or a Bluetooth capture (btsnoop, as written by 'btmon -w'). It may be a pipe, and -
            is standard input.

            Prints JSON Lines, each with "t" (seconds of the recording) and "type": state, position, outdoorPosition,
            event, interaction, downloadedVenue, error or diagnosis. Positions have venueId, mapId, x and y (metres from the plan's
            top left corner, y down), radius (metres; the true position lies within it 68 % of the time), and if known
            label, latitude, longitude, course (degrees clockwise from the plan's top), speed (m/s) and floorCertainty (0
            to 1). Outdoor positions have latitude, longitude, radius, and if known altitude, speed and course (degrees
            clockwise from north). Ground truth in the recording is not used for positions; --geojson writes it beside
            them. --gpx, --kml, --csv and --nmea write the positions for other programs. The page "File formats" of the
            documentation describes all states, events and error codes.

            With --fix, the session begins in the packet's venue, at X, Y (metres) on map MAP, accurate to RADIUS metres;
            no beacon is required. With --motion, also prints lines of type motion: the carrier's activity, the heading,
            and the position by dead reckoning.

            With --geofences, the geofences of a GeoJSON file are monitored in addition to the packet's fences: each
            Polygon, and each Point with the property radius (metres), with an id. Their events are enterGeofence and
            exitGeofence.

            example: indoorloc replay --venue Fixtures/office Fixtures/recordings/one-floor/scan.jsonl.gz

            example: indoorloc replay --venue Fixtures/office --geofences Fixtures/geofences/office.geojson \\
                         Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .beaconLayout, .lenient,
            CommandOption(
                name: "fix", argument: "MAP,X,Y,RADIUS", help: "initial position of the device"),
            CommandOption(name: "motion", help: "also print the motion of the device"),
        ] + WalkOutputs.options + [.overwrite] + VenueServerOptions.packetOptions)

    private let venue: String
    private let server: VenueServerOptions
    private let radioMap: String?
    private let recording: String
    private let strictness: RecordingReader.Strictness
    private let seed: UInt64
    private let settings: SettingsStack
    private let files: WalkOutputs
    private let start: Fix?
    private let tellsMotion: Bool
    private let geofences: GeofenceOption?
    private let layouts: [BeaconLayout]

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.requiredInput("venue")
        server = try VenueServerOptions(arguments, isRequired: false)
        radioMap = try arguments.input("radio-map")
        recording = arguments.stream(operand: 0)
        strictness = arguments.strictness
        seed = try arguments.seed()
        settings = try arguments.settings()
        files = try WalkOutputs(arguments)
        start = try arguments.fix()
        tellsMotion = arguments.has("motion")
        geofences = try arguments.geofences()
        layouts = try arguments.beaconLayouts()
    }

    func run() async throws {
        try files.check()
        try play(in: try await server.packet(venue, radioMap: radioMap).venue)
    }

    private func play(in venue: Venue) throws {
        // Most files require a georeference, which is checked before the replay.
        try files.check(venue)
        let settings = try start == nil ? settings : settings.forcing(venue.id)
        if let start, venue.map(start.mapID) == nil {
            throw UsageError(
                message: "--fix: '\(venue.name)' has no map \(start.mapID)",
                command: Self.syntax.name)
        }
        if let problem = start?.problem(in: venue) {
            throw UsageError(message: "--fix: \(problem)", command: Self.syntax.name)
        }
        geofences?.warn(of: [venue])
        settings.warnOfUselessSettings(in: [venue])
        let session = RecordedSession(
            venues: [venue], settings: settings, seed: seed, strictness: strictness, start: start,
            geofences: geofences?.fences ?? [], layouts: layouts, tellsMotion: tellsMotion)
        let progress = ProgressLine()
        var lines = LineOutput(about: recording)
        var hasFoundVenue = false
        /// Whether the recording has steps or inertial samples.
        var hasMotion = false
        var conclusion: SessionDiagnosis?
        var walk = try files.collector(in: venue, of: recording)
        var hasBegun = false
        do {
            let findings = try session.play(
                recording,
                truth: { place, _ in walk.collect(place) },
                concluding: { conclusion = $0 },
                passing: { reading in
                    progress.show("replay: \(Int(reading.instant.seconds)) s of the recording")
                    switch reading {
                    case .motion, .step: hasMotion = true
                    default: break
                    }
                    return [reading]
                },
                before: { _, replay in
                    if !hasBegun { try walk.begin(replay.wallClock) }
                    hasBegun = true
                }
            ) { output in
                if case .state(.getPacket) = output.content { hasFoundVenue = true }
                try walk.collect(output)
                try lines.line(output.json)
            }
            try lines.flush()
            progress.clear()
            findings.warning(for: recording).map(StandardError.write)
            if !hasFoundVenue, let conclusion {
                StandardError.line("\(recording): \(conclusion.recordingSummary(canFollowMotion: hasMotion))")
            }
        } catch {
            progress.clear()
            // Output from before the error is kept.
            try lines.flush()
            throw error
        }
        for warning in try walk.finish() { StandardError.line("\(recording): \(warning)", .warning) }
    }
}

extension ParsedArguments {
    /// The initial position given by `--fix MAP,X,Y,RADIUS`; nil without the option.
    ///
    /// - Throws: `UsageError` if the value is invalid.
    fileprivate func fix() throws(UsageError) -> Fix? {
        guard let text = value("fix") else { return nil }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().compactMap { Double($0) }.filter(\.isFinite)
        guard parts.count == 4, numbers.count == 3, let map = Int(parts[0]), numbers[2] > 0 else {
            throw UsageError(
                message: "--fix must be MAP,X,Y,RADIUS with a radius above 0, such as 1,3.5,7,1, not '\(text)'",
                command: syntax.name)
        }
        return Fix(
            instant: .zero, mapID: MapID(rawValue: map), point: MapPoint(x: numbers[0], y: numbers[1]),
            radius: numbers[2])
    }
}
