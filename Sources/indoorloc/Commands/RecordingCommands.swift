import ForeignRecordings
import Foundation
import IndoorLocalization
import LiveMap
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

/// The command `convert`: converts between recordings, Bluetooth captures and the recordings of other programs.
struct ConvertCommand: Command {
    static let syntax = CommandSyntax(
        name: "convert", operands: "INPUT OUTPUT", operandCount: 1...2, standardOutputOperand: 1,
        summary: "convert a recording of another program to a recording, or a recording to a capture",
        details: """
            INPUT is a recording, a btsnoop capture, or a file of another program: a CSV file with a header (csv), a packet
            capture of Bluetooth (pcap or pcapng), devices of Kismet in JSON (kismet), messages of gateways as printed by
            'mosquitto_sub -v' (mqtt), a log of GetSensorData (getsensordata), a trace of the Indoor Location competition
            (indoor-location), JSON objects with the fields of Bleak (bleak), or records of Sensor Logger in JSON
            (sensor-logger). It may be compressed with gzip. It may be a pipe, and - is standard input.

            With --preview, OUTPUT is not needed: prints what was understood of INPUT, its beacons with their counts,
            and its first entries. --profile keeps the options that a table needs.

            The ending of OUTPUT determines its format: .jsonl and .jsonl.gz are recordings, .btsnoop and .snoop are
            captures as written by btmon (Linux monitor), .log and .cfa are captures as written by phones and Wireshark
            (H4). - is a recording on standard output, which is written as INPUT is read. A capture stores advertisements
            only; standard error lists the other data that were left out. Beacon lines without advertising data are written
            as iBeacon advertisements, with a measured power of \(BTSnoopWriter.measuredPower) dBm if it is unknown.

            example: btmon -w walk.btsnoop; indoorloc convert walk.btsnoop walk.jsonl.gz

            example: indoorloc convert --columns time=when,rssi=level walk.csv walk.jsonl.gz

            example: indoorloc convert --preview --time-format us --beacons beacons.csv fingerprints.csv

            example: indoorloc convert sniffer.pcapng - | indoorloc replay --venue office -
            """,
        options: [
            CommandOption(
                name: "adapter", argument: "N",
                help: "read only packets of hciN from a btsnoop capture; write hciN to a capture (default 0)")
        ] + CommandOption.foreign + [
            CommandOption(name: "preview", help: "print what was understood of INPUT, and write nothing"), .overwrite,
            .lenient,
        ])

    private let input: String
    private let output: OutputFile
    private let isPreview: Bool
    private let format: ConvertedFormat
    private let adapter: UInt16?
    private let strictness: RecordingReader.Strictness
    private let foreign: ForeignFormat?
    private let settings: ForeignRecordingSettings
    /// Whether each entry is written immediately.
    private let isStream: Bool

    init(_ arguments: ParsedArguments) throws {
        let arguments = try arguments.withProfile()
        input = arguments.stream(operand: 0)
        isPreview = arguments.has("preview")
        guard arguments.operands.count == 2 || isPreview else {
            throw UsageError(message: "OUTPUT is missing", command: arguments.syntax.name)
        }
        isStream = arguments.operands.count < 2 || arguments.operands[1] == ParsedArguments.standardInput
        var output = arguments.outputFile(operand: arguments.operands.count - 1, isPrivate: true)
        if isStream { output.path = "/dev/stdout" }
        self.output = output
        guard let format = isStream ? .recording : ConvertedFormat(path: output.path) else {
            let message = "'\(output.path)' must end in \(ConvertedFormat.endings)"
            throw UsageError(message: message, command: arguments.syntax.name)
        }
        self.format = format
        adapter = try Self.adapter(arguments)
        strictness = arguments.strictness
        foreign = try arguments.foreignFormat()
        settings = try arguments.foreignSettings(input: input)
    }

    /// The number of the adapter, with or without the prefix "hci".
    private static func adapter(_ arguments: ParsedArguments) throws(UsageError) -> UInt16? {
        guard let text = arguments.value("adapter") else { return nil }
        guard let number = UInt16(text.trimmingPrefix("hci")), number < UInt16.max else {
            let allowed = "a whole number from 0 to \(UInt16.max - 1), or a name such as hci0"
            throw UsageError(message: "--adapter must be \(allowed), not '\(text)'", command: arguments.syntax.name)
        }
        return number
    }

    func run() throws {
        let progress = ProgressLine()
        defer { progress.clear() }
        if !isPreview { try output.check() }
        let file = try ConvertibleFile(
            path: input, format: foreign, settings: settings, adapter: adapter, strictness: strictness)
        guard !isPreview else { return try preview(file) }
        switch consume file {
        case .foreign(var reader): try convert(&reader, progress)
        case .recorded(let file):
            switch consume file {
            case .capture(var reader): try convert(&reader, progress)
            case .recording(var reader): try convert(&reader, progress)
            }
        }
    }

    private func preview(_ file: consuming ConvertibleFile) throws {
        switch consume file {
        case .recorded:
            try StandardOutput.write("format: a recording or a capture of btsnoop, which needs no option\n")
        case .foreign(var reader): try preview(&reader)
        }
    }

    private func preview(_ reader: inout ForeignRecordingReader) throws {
        var summary = ForeignPreview()
        do {
            while let entry = try reader.next() { summary.add(entry) }
        } catch {
            // What was understood explains the error.
            try StandardOutput.write(summary.text(reader))
            throw error
        }
        try StandardOutput.write(summary.text(reader))
        report([reader.tally.warning(for: input)])
    }

    private func convert(_ reader: inout ForeignRecordingReader, _ progress: ProgressLine) throws {
        let first = try reader.next()
        let start = reader.startMicroseconds.map { $0 - $0 % 1000 }
        let header = RecordingHeader(startedAt: start.map(RecordingStart.text), device: reader.device)
        let notes = try write(
            first, header, start ?? BTSnoopWriter.unknownStart, of: "file", needsReadings: true, progress
        ) { try reader.next() }
        report([reader.tally.warning(for: input)] + notes)
    }

    private func convert(_ reader: inout BTSnoopReader, _ progress: ProgressLine) throws {
        let first = try reader.next().map(RecordingEntry.measurement)
        let start = reader.startMicroseconds ?? BTSnoopWriter.unknownStart
        let header = RecordingHeader(
            startedAt: start == BTSnoopWriter.unknownStart ? nil : RecordingStart.text(start))
        let notes = try write(first, header, start, of: "capture", progress) {
            try reader.next().map(RecordingEntry.measurement)
        }
        report([reader.tally.warning(for: input), reader.adaptersWarning] + notes)
    }

    private func convert(_ reader: inout RecordingReader, _ progress: ProgressLine) throws {
        let first = try reader.next()
        let header = reader.header ?? RecordingHeader()
        let start = header.startedAt.flatMap(RecordingStart.microseconds) ?? BTSnoopWriter.unknownStart
        let notes = try write(first, header, start, of: "recording", progress) { try reader.next() }
        report([reader.tally.warning(for: input)] + notes)
    }

    /// Writes all entries of an input, and returns the notes of the output.
    ///
    /// The first entry has been read before the output is created, so that an unreadable input creates none.
    ///
    /// - Parameter needsReadings: whether ground truth alone is an error, as the readings were not understood.
    private func write(
        _ first: RecordingEntry?, _ header: RecordingHeader, _ startMicroseconds: Int64, of kind: String,
        needsReadings: Bool = false, _ progress: ProgressLine, next: () throws -> RecordingEntry?
    ) throws -> [String] {
        var converted = try ConvertedOutput(
            output, format: format, header: header, startMicroseconds: startMicroseconds, adapter: adapter ?? 0,
            strictness: strictness)
        var entry = first
        while let present = entry {
            progress.show("convert: \(Int(present.instant?.seconds ?? 0)) s of the \(kind)")
            try converted.write(present)
            if isStream { try converted.flush() }
            entry = try next()
        }
        if needsReadings, converted.hasTruthOnly {
            throw CommandError(
                description: "\(input) has ground truth, but no reading; name the columns of the readings with "
                    + "--columns, such as --columns rssi=Level")
        }
        try converted.close()
        progress.clear()
        return converted.notes
    }

    private func report(_ notes: [String?]) { notes.compactMap { $0 }.forEach(StandardError.write) }
}

extension BTSnoopReader {
    /// A warning if the capture has several adapters, or nothing from the selected one; otherwise nil.
    fileprivate var adaptersWarning: String? {
        let list = tally.adapters.sorted().map { "hci\($0)" }.joined(separator: ", ")
        if let adapter {
            guard !tally.adapters.contains(adapter) else { return nil }
            return "indoorloc: \(path): hci\(adapter) received no advertisement"
                + (list.isEmpty ? "\n" : ", but \(list) did\n")
        }
        guard tally.adapters.count > 1 else { return nil }
        return "indoorloc: \(path): \(list) received advertisements; select one with --adapter\n"
    }
}

/// The command `view`: shows a recording or a radio map on a page.
struct ViewCommand: Command {
    static let syntax = CommandSyntax(
        name: "view", operands: "FILE", operandCount: 1...1,
        summary: "show a recording or a radio map in a web browser",
        details: """
            FILE is a recording, a Bluetooth capture, or a radio map of 'indoorloc survey'; its content determines which.

            A recording is played through a session, as by 'replay'. The page shows the plan, the particles, the
            position with its 68 % radius, the received beacons, the route to --goal, and the ground truth with the error
            if the recording has it. A time line shows states, floors, events and errors; play, pause and seek work with
            the mouse, by touch and on the keyboard. For a radio map, the page shows the expected RSSI of each beacon and its
            standard deviation, the survey, and the leave-one-out residuals of the survey points.

            Prints the URL of the page, and serves it until the command is interrupted. Only processes of this host
            have access. With --output, the command writes the page with all its content to one HTML file instead, which
            needs no server. The file contains the positions, so only its owner can read it.

            example: indoorloc view --venue Fixtures/office Fixtures/recordings/stairs/scan.jsonl.gz

            example: indoorloc view --venue Fixtures/office --goal Books --output page.html \\
                         Fixtures/recordings/one-floor/scan.jsonl.gz

            example: indoorloc view --venue Fixtures/office map.json.gz
            """,
        options: [
            .venue, .radioMap, .seed, .method, .settings, .set, .geofences, .beaconLayout, .lenient,
            CommandOption(name: "goal", argument: "PLACE", help: "show the route to MAP,X,Y or to a point of interest"),
            .loopbackAddress, .open,
            CommandOption(name: "output", short: "o", argument: "FILE", help: "write one HTML file and end"),
            .overwrite,
        ] + VenueServerOptions.packetOptions)

    private let venue: String
    private let server: VenueServerOptions
    private let radioMap: String?
    private let file: String
    private let name: String
    private let strictness: RecordingReader.Strictness
    private let seed: UInt64
    private let settings: SettingsStack
    private let geofences: GeofenceOption?
    private let layouts: [BeaconLayout]
    private let goal: RouteGoal?
    private let address: LiveMapAddress
    private let opens: Bool
    /// The first of the given options that only a recording uses; nil for none.
    private let optionOfRecordings: String?
    private let output: OutputFile?

    init(_ arguments: ParsedArguments) throws {
        guard arguments.has("venue") else {
            throw UsageError(message: "--venue is missing; it has the floor plan", command: Self.syntax.name)
        }
        venue = try arguments.requiredInput("venue")
        server = try VenueServerOptions(arguments, isRequired: false)
        radioMap = try arguments.input("radio-map")
        file = try arguments.input(operand: 0)
        name = arguments.operands[0]
        strictness = arguments.strictness
        seed = try arguments.seed()
        settings = try arguments.settings()
        geofences = try arguments.geofences()
        layouts = try arguments.beaconLayouts()
        goal = arguments.value("goal").map(RouteGoal.init)
        address = try arguments.loopbackAddress(
            remedy: "and 'view' has no token; use 127.0.0.1, or write a file with --output")
        opens = arguments.has("open")
        optionOfRecordings = ["radio-map", "seed", "method", "geofences", "beacon-layout", "goal"]
            .first(where: arguments.has)
        output = arguments.outputFile("output", isPrivate: true)
        if output != nil, let other = ["http", "open"].first(where: arguments.has) {
            throw UsageError(message: "--output and --\(other) can't be combined", command: Self.syntax.name)
        }
    }

    func run() async throws {
        try output?.check()
        // An address in use is reported before the recording is played.
        let listener = output == nil ? try LiveMapListener(address) : nil
        let content = try await content()
        if let output { return try output.write(try LiveMapPage.document(await content.document())) }
        guard let listener else { return }
        let server = try LiveMapServer(content: content, listener: listener)
        defer { server.stop() }
        let interruption = PageInterruption()
        try StandardOutput.write(server.url + "\n")
        if opens { LocalPage.open(server.url) }
        await interruption.wait()
    }

    /// Reads the file and plays it if it is a recording.
    private func content() async throws -> LiveMapRecording {
        if try ViewedFile.isRadioMap(file, strictness) {
            if let optionOfRecordings {
                throw UsageError(
                    message: "--\(optionOfRecordings) requires a recording; \(name) is a radio map",
                    command: Self.syntax.name)
            }
            let packet = try await server.packet(venue, radioMap: file)
            return LiveMapRecording(
                mode: .radioMap, title: title, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)),
                radioMap: LiveMapRadioMap(
                    venue: packet.venue, model: settings.resolved(in: packet.venue).localization.positioning.signal))
        }
        let packet = try await server.packet(venue, radioMap: radioMap)
        let route = try goal.map { try RemainingRoute(to: $0.place(in: packet.venue), in: packet.venue) }
        geofences?.warn(of: [packet.venue])
        let session = RecordedSession(
            venues: [packet.venue], settings: settings, seed: seed, strictness: strictness,
            geofences: geofences?.fences ?? [], layouts: layouts)
        let recorder = try ViewedRecording(path: file, session: session, route: route).play()
        return recorder.recording(
            title: title, venues: [packet.venue], plans: PacketPlans(PlanFiles(packet)))
    }

    /// The last two parts of the path, as many recordings have the same file name.
    private var title: String {
        guard name != ParsedArguments.standardInput else { return "standard input" }
        return name.split(separator: "/").suffix(2).joined(separator: "/")
    }
}

/// The kind of a file that `view` shows.
enum ViewedFile {
    /// Returns whether a file is a radio map rather than a recording.
    ///
    /// Reads the first entry, and the whole file only if the entry isn't one of a recording.
    ///
    /// - Throws: `CommandError` with the errors of both readers if neither can read the file.
    static func isRadioMap(_ path: String, _ strictness: RecordingReader.Strictness) throws -> Bool {
        do {
            _ = try RecordedReadings(path: path, strictness: .strict).next(truth: { _ in })
            return false
        } catch let recordingError {
            do throws(RadioMapFileError) {
                _ = try RadioMapFile.read(path)
                return true
            } catch let radioMapError {
                guard FileManager.default.isReadableFile(atPath: path) else { throw recordingError }
                // Broken lines of a recording that is read leniently are skipped.
                guard strictness == .strict else { return false }
                throw CommandError(
                    description: "\(path) is neither a recording (\(recordingError)) nor a radio map "
                        + "(\(radioMapError))")
            }
        }
    }
}
