import IndoorLocalization
import ScanRecording
import VenuePackets

/// Plays a recording through a session and prints what it tells.
struct ReplayCommand: Command {
    static let syntax = CommandSyntax(
        name: "replay", operands: "RECORDING", operandCount: 1...1,
        summary: "play a recording through a session and print its states and positions",
        details: """
            RECORDING may be a Bluetooth capture, too (btsnoop, as 'btmon -w' writes it), and a pipe, which is read as it
            fills; - is standard input.

            Prints JSON Lines, each with "t" (seconds of the recording) and "type": state, position, outdoorPosition,
            event, interaction, downloadedVenue or error. Positions have venueId, mapId, x and y (metres from the plan's
            top left corner, y down), radius (metres; the truth lies within it 68 times of 100), and where known label,
            latitude, longitude, course (degrees clockwise from the plan's top), speed (m/s) and floorCertainty (0 to
            1). Outdoor positions have latitude, longitude, radius, and where known altitude, speed and course (degrees
            clockwise from north). Truth in the recording is not used, but --geojson writes it beside the positions. Every state,
            event and error code is described in the documentation, in "File formats".

            With --fix the venue is the one of the packet, and the walk begins at X, Y (metres) of map MAP, to within RADIUS
            metres: no beacon needs to be heard. With --motion there are lines of type motion, too: what its carrier does,
            where the device points, and where steps have led it.

            With --geofences, the fences in a GeoJSON file are watched beside those of the packet: each Polygon, and each
            Point with the property radius (metres), with an id. Events enterGeofence and exitGeofence tell of them.

            example: indoorloc replay --venue Fixtures/office Fixtures/recordings/one-floor/scan.jsonl.gz

            example: indoorloc replay --venue Fixtures/office --geofences Fixtures/geofences/office.geojson \\
                         Fixtures/recordings/one-floor/scan.jsonl.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .beaconLayout, .lenient,
            CommandOption(
                name: "fix", argument: "MAP,X,Y,RADIUS", help: "where the device is at first, without any beacon"),
            CommandOption(name: "motion", help: "also print how the device moves"),
            CommandOption(
                name: "geojson", argument: "FILE", help: "write the track there, too, for QGIS and web maps"),
            .overwrite,
        ] + VenueServerOptions.packetOptions)

    private let venue: String
    private let server: VenueServerOptions
    private let radioMap: String?
    private let recording: String
    private let strictness: RecordingReader.Strictness
    private let seed: UInt64
    private let settings: SettingsStack
    private let track: OutputFile?
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
        track = arguments.outputFile("geojson", isPrivate: true)
        start = try arguments.fix()
        tellsMotion = arguments.has("motion")
        geofences = try arguments.geofences()
        layouts = try arguments.beaconLayouts()
    }

    func run() async throws {
        try track?.check()
        let packet = try await server.packet(venue, radioMap: radioMap)
        // The track needs a place on Earth; that there is none must not come out after the replay.
        if track != nil { try GeoJSONWriter().check(packet.venue) }
        let settings = try start == nil ? settings : settings.forcing(packet.venue.id)
        if let start, packet.venue.map(start.mapID) == nil {
            throw UsageError(
                message: "--fix names map \(start.mapID), which '\(packet.venue.name)' does not have",
                command: Self.syntax.name)
        }
        if let problem = start?.problem(in: packet.venue) {
            throw UsageError(message: "--fix: \(problem)", command: Self.syntax.name)
        }
        geofences?.warn(of: [packet.venue])
        let session = RecordedSession(
            venues: [packet.venue], settings: settings, seed: seed, strictness: strictness, start: start,
            geofences: geofences?.fences ?? [], layouts: layouts, tellsMotion: tellsMotion)
        let progress = ProgressLine()
        var lines = LineOutput()
        var hasFoundVenue = false
        var heard = HeardBeacons(of: packet.venue)
        var positions: [Position] = []
        var outdoorPositions: [OutdoorPosition] = []
        var truth: [GeoJSONPlace] = []
        do {
            let tally = try session.play(
                recording,
                truth: { place, _ in
                    guard track != nil, let map = place.mapID, let point = place.point else { return }
                    truth.append(GeoJSONPlace(instant: place.instant, mapID: map, point: point))
                },
                passing: { reading in
                    progress.show("replay: \(Int(reading.instant.seconds)) s of the recording")
                    if !hasFoundVenue { heard.note(reading) }
                    return reading
                }
            ) { output in
                if case .state(.getPacket) = output.content { hasFoundVenue = true }
                if track != nil {
                    if case .position(let position) = output.content { positions.append(position) }
                    if case .outdoorPosition(let position) = output.content { outdoorPositions.append(position) }
                }
                try lines.line(output.json)
            }
            try lines.flush()
            progress.clear()
            tally.warning(for: recording).map(StandardError.write)
            if !hasFoundVenue {
                let reason = heard.reasonForNoPosition(with: settings.resolved.localization)
                StandardError.line("\(recording): no position, as \(reason)")
            }
        } catch {
            progress.clear()
            // What was right before the error is not lost.
            try lines.flush()
            throw error
        }
        if let track { try write(positions, outdoorPositions, truth, in: packet.venue, to: track) }
    }

    private func write(
        _ positions: [Position], _ outdoorPositions: [OutdoorPosition], _ truth: [GeoJSONPlace], in venue: Venue,
        to track: OutputFile
    ) throws {
        let document: [UInt8]
        do throws(GeoJSONError) {
            document = try GeoJSONWriter().document(
                of: positions, outdoorPositions: outdoorPositions, truth: truth, in: venue)
        } catch .unknownMap(let map, let thing) {
            throw TrackElsewhere(map: map, thing: thing, recording: recording, venue: venue.name)
        }
        try track.write(document)
    }
}

/// A recording that was made in another venue than that whose coordinates its track needs.
private struct TrackElsewhere: Error, CustomStringConvertible {
    let map: MapID
    let thing: String
    let recording: String
    let venue: String

    var description: String {
        "\(recording): \(thing) of the recording is on map \(map), which '\(venue)' does not have; "
            + "give --venue the venue that it was recorded in"
    }
}
