import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// A folder with a venue packet, survey recordings and tracks to score.
struct DataSet {
    /// The folder's name.
    let name: String
    /// The packet.
    let venue: Venue
    /// The paths of the survey's recordings, sorted by name; may be empty.
    let surveys: [String]
    /// The paths of the tracks, sorted by name; never empty.
    let tracks: [String]

    /// Reads the packet and lists the recordings.
    ///
    /// - Parameter radioMap: the path of a radio map that replaces the packet's own.
    /// - Throws: `VenuePacketError`, or `CommandError` if there is no track.
    init(path: String, radioMap: String?) throws {
        venue = try VenuePacketReader().read(path, radioMap: radioMap).reportingWarnings(path).venue
        name = URL(filePath: path).standardizedFileURL.lastPathComponent
        surveys = Self.surveys(in: path)
        tracks = Self.recordings(in: path + "/tracks")
        guard !tracks.isEmpty else {
            throw CommandError(description: "\(path)/tracks has no recording (.jsonl or .jsonl.gz) to score")
        }
    }

    /// Returns the venue with the radio map learned from the survey.
    ///
    /// - Parameter radioMap: the path of a radio map that replaces the packet's own; nothing is learned then.
    func surveyed(
        model: SignalModel, under conditions: EvaluationConditions, radioMap: String?, seed: UInt64,
        strictness: RecordingReader.Strictness, _ progress: ProgressLine
    ) throws -> Venue {
        var venue = conditions.adapted(venue)
        let surveys = conditions.kept(surveys, seed: seed)
        guard radioMap == nil, !surveys.isEmpty else { return venue }
        var learning = SurveyLearning(venue: venue, model: model)
        if conditions.surveyDeafness > 0 {
            progress.show("survey: levels of \(surveys.count) recordings")
            let levels = try EvaluationConditions.levels(in: surveys, of: venue, strictness: strictness)
            learning.weakestKept = EvaluationConditions.weakestKept(of: levels, deafness: conditions.surveyDeafness)
        }
        try learning.add(surveys, strictness: strictness, progress: progress)
        venue.radioMap = learning.learner.finish() ?? venue.radioMap
        return venue
    }

    /// The path of a recording, or the recordings in a folder, sorted by name.
    static func recordings(at path: String) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        return recordings(in: path)
    }

    /// The survey's recordings in a data set, sorted by name; empty if there is none.
    static func surveys(in folder: String) -> [String] { recordings(in: folder + "/survey") }

    private static func recordings(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".jsonl.gz") }.sorted().map { folder + "/" + $0 }
    }
}
