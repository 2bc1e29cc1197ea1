import Foundation
import IndoorLocalization
import ScanRecording
import VenuePackets

/// What is wrong with the folder of a data set.
struct DataSetError: Error, CustomStringConvertible {
    let description: String
}

/// A folder with a venue packet, its survey and recordings to score on.
struct DataSet {
    /// The folder's name.
    let name: String
    /// The packet.
    let venue: Venue
    /// Paths of the survey's recordings, in order of their names; may be empty.
    let surveys: [String]
    /// Paths of the recordings to score on, in order of their names; never empty.
    let tracks: [String]

    /// Looks into the folder.
    ///
    /// - Parameter radioMap: path of a radio map in place of the packet's own.
    /// - Throws: `VenuePacketError`, or `DataSetError` if there is nothing to score on.
    init(path: String, radioMap: String?) throws {
        venue = try VenuePacketReader().read(path, radioMap: radioMap).tellingOfWarnings(path).venue
        name = URL(filePath: path).standardizedFileURL.lastPathComponent
        surveys = Self.recordings(in: path + "/survey")
        tracks = Self.recordings(in: path + "/tracks")
        guard !tracks.isEmpty else {
            throw DataSetError(description: "\(path)/tracks holds no recording (.jsonl or .jsonl.gz) to score on")
        }
    }

    /// A recording itself, or those in a folder, in order of their names.
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
