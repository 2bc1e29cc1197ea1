import Foundation
import IndoorLocalization
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
    private let radioMap: String?
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
            return PlotInput(name: dataSet.name, venue: surveyed, recordings: dataSet.tracks)
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
