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
        surveys = Self.recordings(in: path + "/survey")
        tracks = Self.recordings(in: path + "/tracks")
        guard !tracks.isEmpty else {
            throw CommandError(description: "\(path)/tracks has no recording (.jsonl or .jsonl.gz) to score")
        }
    }

    /// The path of a recording, or the recordings in a folder, sorted by name.
    static func recordings(at path: String) -> [String] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [path]
        }
        return recordings(in: path)
    }

    private static func recordings(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".jsonl.gz") }.sorted().map { folder + "/" + $0 }
    }
}
