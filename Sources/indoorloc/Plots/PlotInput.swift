import Foundation
import IndoorLocalization
import LocalizationFigures
import ScanRecording
import VenuePackets

/// The venue and the recordings of a figure.
struct PlotInput: Sendable {
    /// The name of the data set, of the only recording, or of the venue.
    let name: String
    /// The venue, with the radio map of its packet, of `--radio-map`, or learned from the data set's survey.
    let venue: Venue
    /// The paths of the recordings.
    let recordings: [String]
    /// The data set of the recordings; nil with `--venue`.
    var dataSet: DataSet?
}

/// The operands and options that specify the venue and the recordings of a figure: a data set, or `--venue` and
/// recordings.
struct PlotSource: Sendable {
    static let options: [CommandOption] = [.venue, .radioMap, .lenient]
    /// The explanation in the help.
    static let details = """
        DATASET is a folder as 'indoorloc evaluate' reads it; the radio map is learned from its survey. With --venue, the
        operands are recordings with ground truth instead.
        """

    private let venue: String?
    private let operands: [String]
    let radioMap: String?
    let strictness: RecordingReader.Strictness

    /// - Parameter needsRecordings: whether `--venue` requires recordings.
    /// - Throws: `UsageError` if neither a data set nor `--venue` is given.
    init(_ arguments: ParsedArguments, needsRecordings: Bool) throws {
        let command = arguments.syntax.name
        venue = try arguments.input("venue")
        operands = try arguments.operands.indices.map { try arguments.input(operand: $0) }
        radioMap = try arguments.input("radio-map")
        strictness = arguments.strictness
        guard venue == nil else {
            guard !operands.isEmpty || !needsRecordings else {
                throw UsageError(message: "RECORDING is missing", command: command)
            }
            return
        }
        guard let first = operands.first else {
            throw UsageError(message: "DATASET is missing; or give --venue and recordings", command: command)
        }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: first, isDirectory: &isFolder)
        if exists, !isFolder.boolValue {
            throw UsageError(message: "'\(first)' is not a data set; recordings require --venue", command: command)
        }
        guard operands.count == 1 else {
            throw UsageError(message: "unexpected operand '\(operands[1])'", command: command)
        }
    }

    /// Reads the venue and learns its radio map.
    func read(_ settings: SettingsStack, seed: UInt64, _ progress: ProgressLine) throws -> PlotInput {
        guard let venue else {
            let dataSet = try DataSet(path: operands[0], radioMap: radioMap)
            let model = settings.resolved(in: dataSet.venue).localization.positioning.signal
            let surveyed = try dataSet.surveyed(
                model: model, under: EvaluationConditions(), radioMap: radioMap, seed: seed, strictness: strictness,
                progress)
            return PlotInput(
                name: dataSet.name, venue: surveyed, recordings: dataSet.tracks, dataSet: dataSet)
        }
        let packet = try VenuePacketReader().read(venue, radioMap: radioMap).reportingWarnings(venue)
        let name = operands.count == 1 ? Self.name(ofRecording: operands[0]) : packet.venue.name
        return PlotInput(name: name, venue: packet.venue, recordings: operands)
    }

    /// The name of a recording without its folder and its endings.
    static func name(ofRecording path: String) -> String {
        let file = URL(filePath: path)
        var name = file.lastPathComponent
        for ending in [".gz", ".jsonl"] where name.hasSuffix(ending) { name.removeLast(ending.count) }
        // Recordings of a walk are often called scan.jsonl.gz, in a folder with the walk's name.
        let folder = file.deletingLastPathComponent().lastPathComponent
        return name == "scan" && !folder.isEmpty ? folder : name
    }
}

extension CommandOption {
    /// The beacons of a figure.
    static let beacon = CommandOption(
        name: "beacon", argument: "B",
        help: "beacon as major/minor, UUID/major/minor or its name; may be repeated")
}

extension PlotInput {
    /// The readings of the recordings at their ground truth, or without recordings those of the radio map.
    ///
    /// - Throws: `CommandError` if there is neither a recording nor a radio map.
    func placedReadings(
        strictness: RecordingReader.Strictness, _ progress: ProgressLine
    ) throws -> PlacedReadings {
        if !recordings.isEmpty { return try PlacedReadings(recordings, in: venue, strictness: strictness, progress) }
        guard let map = venue.radioMap else {
            throw CommandError(
                description: "'\(venue.name)' has no radio map; give recordings with ground truth, or --radio-map")
        }
        return PlacedReadings(map)
    }

    /// The reason why there is no reading to draw.
    var reasonForNoReading: String {
        recordings.isEmpty
            ? "the radio map has no reading of these beacons"
            : "no reading of a beacon of the venue at a place with ground truth (mapId, x, y)"
    }
}

extension ParsedArguments {
    /// The map given by `--map`; nil if it was not given.
    func mapOption() throws(UsageError) -> MapID? {
        has("map") ? MapID(rawValue: try number("map", in: 0...Int.max, else: 0)) : nil
    }
}

extension MapID {
    /// Returns the map of a venue with this number.
    ///
    /// - Throws: `UsageError` if the venue has no such map.
    func checked(in venue: Venue, command: String) throws(UsageError) -> VenueMap {
        if let map = venue.map(self) { return map }
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        throw UsageError(message: "--map: '\(venue.name)' has no map \(self), only \(known)", command: command)
    }
}

extension Venue {
    /// The source of the expected RSSI in words.
    var radioMapCaption: String {
        guard let radioMap else { return "Without a survey: expected by the path-loss law and the walls." }
        return "Learned from a survey with \(radioMap.fingerprints.count.counting("survey point")) and "
            + "\(radioMap.beacons.count.counting("beacon"))."
    }
}

/// The destination of a figure: the file of `--output`, or standard output.
struct PlotOutput: Sendable {
    /// The options of all commands that draw a figure.
    static let options: [CommandOption] = [
        CommandOption(name: "output", short: "o", argument: "FILE", help: "output file (default: standard output)"),
        .overwrite,
    ]

    private let file: OutputFile?

    /// - Parameter isPrivate: whether the figure shows locations of a person.
    /// - Throws: if the file name's extension is that of a format other than SVG.
    init(_ arguments: ParsedArguments, isPrivate: Bool) throws(UsageError) {
        file = try Self.file(arguments, isPrivate: isPrivate)
    }

    /// The file of `--output`; nil if the option was not given.
    ///
    /// - Throws: if the file name's extension is that of a format other than SVG.
    static func file(_ arguments: ParsedArguments, isPrivate: Bool) throws(UsageError) -> OutputFile? {
        let sets = arguments.operands.flatMap(DataSet.allRecordings(in:))
        guard let file = arguments.outputFile("output", isPrivate: isPrivate, reading: sets) else { return nil }
        let words = file.path.split(separator: "/").last?.split(separator: ".", omittingEmptySubsequences: false)
        if let ending = words?.dropFirst().last, otherFormats.contains(ending.lowercased()) {
            throw UsageError(
                message: "--output: the figure is an SVG document; name it .svg, not '.\(ending)'",
                command: arguments.syntax.name)
        }
        return file
    }

    private static let otherFormats: Set = [
        "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "pdf", "ps", "eps", "html", "htm", "json", "csv",
    ]

    /// Checks that the file can be written, before the work.
    func check() throws { try file?.check() }

    /// Writes the document.
    func write(_ figure: Figure) throws {
        guard let file else { return try StandardOutput.write(figure.svg) }
        try file.write(Array(figure.svg.utf8))
    }
}
