import IndoorLocalization
import NMEASending
import ScanRecording
import VenueExchange
import VenuePackets

/// The files that a replay writes beside its lines: GeoJSON, GPX, KML, CSV and NMEA 0183.
struct WalkOutputs: Sendable {
    /// A format that is written after the replay.
    enum Format: String, CaseIterable, Sendable {
        case geojson, gpx, kml, csv
    }

    static let options = [
        CommandOption(
            name: "geojson", argument: "FILE", help: "also write the track as GeoJSON, for QGIS and web maps"),
        .localFrame,
        CommandOption(name: "gpx", argument: "FILE", help: "also write the positions as GPX, for map programs"),
        CommandOption(
            name: "kml", argument: "FILE", help: "also write the positions as KML, for Google Earth and others"),
        CommandOption(name: "csv", argument: "FILE", help: "also write the positions as CSV, for spreadsheets"),
        CommandOption(
            name: "nmea", argument: "FILE",
            help: "also write the positions as NMEA 0183; 'serve --replay' sends them in real time"),
    ]

    private let files: [(format: Format, file: OutputFile)]
    private let nmea: OutputFile?
    /// Whether GeoJSON is in the frame of the maps.
    private let isLocal: Bool

    init(_ arguments: ParsedArguments) throws(UsageError) {
        files = Format.allCases.compactMap { format in
            arguments.outputFile(format.rawValue, isPrivate: true).map { (format, $0) }
        }
        nmea = try Self.nmeaFile(arguments)
        isLocal = arguments.has("local-frame")
        if isLocal, !arguments.has("geojson") {
            throw UsageError(message: "--local-frame requires --geojson", command: arguments.syntax.name)
        }
        let paths = files.map(\.file.path) + [nmea?.path].compactMap(\.self)
        if let twice = paths.first(where: { path in paths.count { $0 == path } > 1 }) {
            throw UsageError(message: "'\(twice)' is the file of two outputs", command: arguments.syntax.name)
        }
    }

    private static func nmeaFile(_ arguments: ParsedArguments) throws(UsageError) -> OutputFile? {
        guard let text = arguments.value("nmea") else { return nil }
        let command = arguments.syntax.name
        let destination: NMEADestination
        do throws(NMEAError) { destination = try NMEADestination(text) } catch {
            throw UsageError(message: "--nmea: \(error)", command: command)
        }
        guard case .file = destination else {
            let message =
                "--nmea must be a file, as a replay is faster than real time, not '\(text)'; "
                + "'serve --replay' sends positions in real time"
            throw UsageError(message: message, command: command)
        }
        return arguments.outputFile("nmea", isPrivate: true)
    }

    /// Whether a file contains coordinates only.
    private func needsCoordinates(_ format: Format) -> Bool {
        switch format {
        case .geojson: !isLocal
        case .gpx, .kml: true
        case .csv: false
        }
    }

    /// Whether no file is written.
    var isEmpty: Bool { files.isEmpty && nmea == nil }

    /// Checks that the files can be written.
    func check() throws {
        for (_, file) in files { try file.check() }
        try nmea?.check()
    }

    /// Checks before the replay that the positions in a venue have coordinates, if a format needs them.
    ///
    /// - Throws: `GeoJSONError` or `NMEAError` if no map has a valid georeference.
    func check(_ venue: Venue) throws {
        for (format, _) in files where needsCoordinates(format) {
            do throws(GeoJSONError) { try GeoJSONWriter().check(venue) } catch {
                throw CommandError(
                    description: "--\(format.rawValue): \(error.problem(of: format.rawValue.uppercased()))")
            }
        }
        if nmea != nil { try venue.checkCoordinates() }
    }

    /// Begins to collect the outputs of a replay in a venue.
    func collector(in venue: Venue, of recording: String) throws -> WalkCollector {
        WalkCollector(outputs: self, venue: venue, recording: recording, sentences: try nmea?.draft())
    }

    /// Writes the files after the replay.
    fileprivate func write(_ collected: WalkCollector) throws {
        let walk = Walk(
            venue: collected.venue, positions: collected.positions, outdoorPositions: collected.outdoorPositions,
            wallClock: collected.wallClock)
        for (format, file) in files {
            switch format {
            case .geojson: try file.write(try geoJSON(collected))
            case .gpx: try file.write(GPXWriter().document(of: walk))
            case .kml: try file.write(KMLWriter().document(of: walk))
            case .csv: try file.write(CSVWriter().document(of: walk))
            }
        }
    }

    private func geoJSON(_ collected: WalkCollector) throws -> [UInt8] {
        let venue = collected.venue
        // A map without a georeference must not prevent the output of the rest of the walk.
        let omitted = isLocal ? [] : Set(venue.maps.filter { (try? $0.geoTransform()) == nil }.map(\.id))
        let positions = collected.positions.filter { !omitted.contains($0.mapID) }
        let truth = collected.truth.filter { !omitted.contains($0.mapID) }
        let writer = GeoJSONWriter(frame: isLocal ? .local : .geographic)
        do {
            return try writer.document(
                of: positions, outdoorPositions: collected.outdoorPositions, truth: truth, in: venue)
        } catch {
            guard case .unknownMap(let map, let thing) = error else { throw error }
            throw TrackElsewhere(map: map, thing: thing, recording: collected.recording, venue: venue.name)
        }
    }

    /// Warnings about positions that a format can't contain.
    fileprivate func warnings(_ collected: WalkCollector) -> [String] {
        var warnings: [String] = []
        let isGeographic =
            nmea != nil || files.contains { needsCoordinates($0.format) }
        let without = collected.positions.count { $0.coordinate == nil }
        if isGeographic, without > 0 {
            let maps = Set(collected.positions.filter { $0.coordinate == nil }.map(\.mapID)).sorted()
            let list = maps.map(\.description).joined(separator: ", ")
            warnings.append(
                "\(without.counting("position")) left out of the files with coordinates: map \(list) has no georeference"
            )
        }
        if isLocal, !collected.outdoorPositions.isEmpty {
            let count = collected.outdoorPositions.count.counting("outdoor position")
            warnings.append("\(count) left out of the GeoJSON file: they have no place in the frame of a map")
        }
        return warnings
    }
}

/// The outputs of a replay on their way to files.
struct WalkCollector {
    fileprivate let outputs: WalkOutputs
    fileprivate let venue: Venue
    fileprivate let recording: String
    /// The file of NMEA sentences; nil for none.
    fileprivate let sentences: OutputDraft?
    fileprivate var positions: [Position] = []
    fileprivate var outdoorPositions: [OutdoorPosition] = []
    fileprivate var truth: [GeoJSONPlace] = []
    fileprivate var wallClock: WallClock?
    private var encoder = NMEAEncoder()

    fileprivate init(outputs: WalkOutputs, venue: Venue, recording: String, sentences: OutputDraft?) {
        self.outputs = outputs
        self.venue = venue
        self.recording = recording
        self.sentences = sentences
    }

    /// Notes the wall clock of the recording, before its first output.
    ///
    /// - Throws: `CommandError` if the recording has none, and the sentences need one.
    mutating func begin(_ clock: WallClock?) throws(CommandError) {
        wallClock = clock
        guard clock == nil, sentences != nil else { return }
        throw CommandError(
            description: "\(recording): NMEA 0183 requires the time in UTC, but the recording has no start time; add "
                + "\"startedAt\" to its header, such as \"2026-05-04T09:30:00Z\"")
    }

    /// Collects a ground truth.
    mutating func collect(_ place: Truth) {
        guard let map = place.mapID, let point = place.point else { return }
        truth.append(GeoJSONPlace(instant: place.instant, mapID: map, point: point))
    }

    /// Collects an output of the session.
    mutating func collect(_ output: SessionOutput) throws {
        guard !outputs.isEmpty else { return }
        if case .position(let position) = output.content { positions.append(position) }
        if case .outdoorPosition(let position) = output.content { outdoorPositions.append(position) }
        guard let sentences, let clock = wallClock else { return }
        let encoded = encoder.sentences(for: output.content, at: clock.unixTime(at: output.instant))
        if !encoded.isEmpty { try sentences.append(encoded.flatMap(\.bytes)) }
    }

    /// Writes the files.
    ///
    /// - Returns: warnings about positions that aren't in the files.
    func finish() throws -> [String] {
        try outputs.write(self)
        try sentences?.commit()
        return outputs.warnings(self)
    }
}

extension GeoJSONError {
    /// The error in words, for any format with coordinates.
    fileprivate func problem(of format: String) -> String {
        guard case .notGeoreferenced(let maps) = self, format != "GEOJSON" else { return description }
        return "\(format) requires coordinates, but map \(maps.map(\.description).joined(separator: ", ")) has no "
            + "georeference; give a center and bearing, or controlPoints, in venue.json"
    }
}

/// The error of a track on a map that the venue doesn't have.
private struct TrackElsewhere: Error, CustomStringConvertible {
    let map: MapID
    let thing: String
    let recording: String
    let venue: String

    var description: String {
        "\(recording): \(thing) of the recording is on map \(map), which '\(venue)' does not have; "
            + "set --venue to the venue of the recording"
    }
}

/// The output of `convert` and `--record`, with notes about data that it can't store.
struct ConvertedOutput: ~Copyable {
    private let path: String
    private let draft: OutputDraft
    private let strictness: RecordingReader.Strictness
    private var recording: RecordingWriter?
    private var capture: BTSnoopWriter?
    /// The capture's tally after it is closed.
    private var tally: BTSnoopWriter.Tally?
    private var truths = 0
    private var readings = 0
    private var lostFields: [String] = []
    private var refused = 0
    /// The error of the first entry that the format can't represent.
    private var firstRefusal: String?

    private init(
        _ output: OutputFile, _ strictness: RecordingReader.Strictness, _ draft: OutputDraft,
        recording: consuming RecordingWriter? = nil, capture: consuming BTSnoopWriter? = nil
    ) {
        path = output.path
        self.strictness = strictness
        self.draft = draft
        self.recording = recording
        self.capture = capture
    }

    /// Begins the file, which appears at its path when it is closed.
    ///
    /// - Parameter strictness: whether an entry that the format can't represent is an error.
    init(
        _ output: OutputFile, format: ConvertedFormat, header: RecordingHeader, startMicroseconds: Int64,
        adapter: UInt16, strictness: RecordingReader.Strictness
    ) throws {
        let draft = try output.draft()
        switch format {
        case .recording:
            let writer = try RecordingWriter(path: output.path, header: header, descriptor: draft.descriptor)
            self.init(output, strictness, draft, recording: consume writer)
        case .capture(let datalink):
            let writer = try BTSnoopWriter(
                path: output.path, datalink: datalink, startMicroseconds: startMicroseconds, adapter: adapter,
                descriptor: draft.descriptor)
            self.init(output, strictness, draft, capture: consume writer)
            if header.device != nil { lostFields.append("device") }
            if header.venueID != nil { lostFields.append("venueId") }
            if header.name != nil { lostFields.append("name") }
        }
    }

    /// Continues a recording at its end.
    ///
    /// - Parameters:
    ///   - end: the recording's last instant.
    ///   - endsLine: whether the last line ends with a line feed.
    init(continuing output: OutputFile, after end: Instant, endsLine: Bool) throws {
        let draft = try output.draft()
        if !endsLine { try draft.append([10]) }
        let writer = try RecordingWriter(path: output.path, continuing: end, descriptor: draft.descriptor)
        self.init(output, .lenient, draft, recording: consume writer)
    }

    /// Makes the file appear at its path, with its content so far. More may be written afterwards.
    mutating func appear() throws {
        try checkpoint()
        try draft.commit()
    }

    /// Makes all written entries readable in the file, also if the program is killed later.
    ///
    /// - Parameter entries: further entries of a recording, which the file has until the next entry is written. They
    ///   can still change.
    mutating func checkpoint(followedBy entries: [RecordingEntry] = []) throws {
        try draft.endProvisionalPart()
        try recording?.checkpoint()
        try capture?.checkpoint()
        if recording != nil, let first = entries.first?.instant, draft.beginProvisionalPart() {
            var rest = try RecordingWriter(path: path, continuing: first, descriptor: draft.descriptor)
            for entry in entries {
                // One that is refused counts when it is written for good.
                do throws(RecordingError) { try rest.write(entry) } catch { try check(error) }
            }
            try rest.close()
        }
        try draft.truncate()
    }

    /// Writes an entry, or counts it if the file can't store it. The header is written when the file is created.
    mutating func write(_ entry: RecordingEntry) throws {
        if case .header = entry { return }
        if case .truth = entry { truths += 1 } else { readings += 1 }
        try draft.endProvisionalPart()
        do throws(RecordingError) { try recording?.write(entry) } catch {
            try check(error)
            refuse(error.finding)
        }
        guard capture != nil else { return }
        switch entry {
        case .header, .truth: return
        case .measurement(let reading):
            do throws(BTSnoopError) { try capture?.write(reading) } catch {
                if strictness == .strict { throw error }
                if case .unwritable = error.problem { throw error }
                refuse("\(error)")
            }
        }
    }

    /// Throws an error of the disk, and one of the entry if the output is strict.
    private func check(_ error: RecordingError) throws(RecordingError) {
        if strictness == .strict { throw error }
        if case .unwritable = error.problem { throw error }
    }

    private mutating func refuse(_ error: String) {
        refused += 1
        firstRefusal = firstRefusal ?? error
    }

    /// Passes what a recording has so far to the system.
    mutating func flush() throws {
        try draft.endProvisionalPart()
        try recording?.flush()
    }

    /// Completes the file; then `notes` are available.
    mutating func close() throws {
        try draft.endProvisionalPart()
        try recording?.close()
        try capture?.close()
        try draft.truncate()
        try draft.commit()
        tally = capture?.tally
    }

    /// Whether ground truth was written, but no reading.
    var hasTruthOnly: Bool { truths > 0 && readings == 0 }

    /// Notes about data that was left out or changed, one per line.
    var notes: [String] {
        var notes: [String] = []
        if let tally { notes = differences(tally) }
        if let firstRefusal {
            let count = refused == 1 ? "1 reading rejected" : "\(refused) readings rejected, the first"
            notes.append("\(count): \(firstRefusal)")
        }
        return notes.map { "indoorloc: \(path): \($0)\n" }
    }

    /// The differences between what was written and a capture, in words.
    private func differences(_ tally: BTSnoopWriter.Tally) -> [String] {
        var notes: [String] = []
        var leftOut = tally.leftOut
        if truths > 0 { leftOut["truth"] = truths }
        let lines = leftOut.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        let parts = lines + lostFields.map { "the header's \($0)" }
        if !parts.isEmpty {
            notes.append("left out, as a capture stores advertisements only: \(parts.joined(separator: ", "))")
        }
        if tally.encodedSightings > 0 {
            let lines = tally.encodedSightings == 1 ? "1 beacon line" : "\(tally.encodedSightings) beacon lines"
            notes.append("\(lines) without bytes written as iBeacon advertisements")
        }
        if tally.assumedPowers > 0 {
            notes.append(
                "\(tally.assumedPowers) of them with \(BTSnoopWriter.measuredPower) dBm as the unknown measured power")
        }
        return notes
    }
}

/// The format of an output, from the ending of its name.
enum ConvertedFormat {
    case recording
    case capture(BTSnoopDatalink)

    /// The supported endings in words.
    static let endings = ".jsonl, .jsonl.gz, .btsnoop, .snoop, .log or .cfa"

    /// Returns the format of a path; nil for an unknown ending.
    init?(path: String) {
        let name = path.lowercased()
        if name.hasSuffix(".jsonl") || name.hasSuffix(".jsonl.gz") {
            self = .recording
        } else if name.hasSuffix(".btsnoop") || name.hasSuffix(".snoop") {
            self = .capture(.monitor)
        } else if name.hasSuffix(".log") || name.hasSuffix(".cfa") {
            self = .capture(.uart)
        } else {
            return nil
        }
    }
}
