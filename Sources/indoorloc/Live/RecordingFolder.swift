import Foundation
import IndoorLocalization
import LiveSurvey
import ScanRecording
import VenuePackets

extension CommandOption {
    /// The option of a folder for recordings.
    ///
    /// - Parameter content: what is recorded, and what has a file.
    static func recordFolder(_ content: String) -> CommandOption {
        CommandOption(name: "record", argument: "DIR", help: "also record \(content)")
    }
    static let recordLimit = CommandOption(
        name: "record-limit", argument: "MB",
        help: "delete the oldest of these files beyond N megabytes (default \(RecordingFolder.standardMegabytes))")
}

/// The folder of the recordings of a service, of a limited total size: the option `--record`.
///
/// A recording has the name of its start, so that the order of the names is that of the times.
struct RecordingFolder: Sendable {
    static let standardMegabytes = 500
    /// The time that a recording contains. `survey --self` uses the first hour of one.
    static let span = Duration.seconds(3600)

    /// A recording in the folder.
    struct File: Hashable {
        var name: String
        var bytes: Int
    }

    let path: String
    /// The size of the recordings in bytes at which the oldest ones are deleted.
    let limit: Int
    /// Whether the names contain the tag.
    let namesTags: Bool

    init(path: String, limit: Int, namesTags: Bool = false) {
        (self.path, self.limit, self.namesTags) = (path, limit, namesTags)
    }

    /// Returns nil without `--record`.
    init?(_ arguments: ParsedArguments, namesTags: Bool = false) throws(UsageError) {
        let megabytes = try arguments.number("record-limit", in: 1...1_000_000, else: Self.standardMegabytes)
        guard let folder = try arguments.folder("record").map(ParsedArguments.path) else {
            guard !arguments.has("record-limit") else {
                throw UsageError(message: "--record-limit requires --record", command: arguments.syntax.name)
            }
            return nil
        }
        self.init(path: folder, limit: megabytes * 1_000_000, namesTags: namesTags)
    }

    /// Creates the folder if it is missing, before the work begins.
    ///
    /// - Throws: `CommandError` if files can't be written in the folder.
    func prepare() throws(CommandError) { try ParsedArguments.createFolder(path, of: "record") }

    // MARK: Names

    /// Returns a free name of a recording, such as `20261129T020000Z.jsonl.gz`, or
    /// `20261129T020000Z-C3-00-00-12-AB-01.jsonl.gz` with a tag.
    ///
    /// - Parameters:
    ///   - microseconds: the start of the recording since 1970 (UTC).
    ///   - open: the names of recordings whose files may not exist yet: the names of two tags can be alike.
    func freeName(at microseconds: Int64, of tag: String? = nil, except open: Set<String> = []) -> String {
        let start = RecordingStart.text(microseconds).prefix(19)
        let stem =
            start.filter { $0 != "-" && $0 != ":" } + "Z" + (tag.map { "-" + SurveyDesk.fileName(of: $0) } ?? "")
        let names = (1...).lazy.map { $0 == 1 ? "\(stem).jsonl.gz" : "\(stem)-\($0).jsonl.gz" }
        return names.first { !open.contains($0) && access(path + "/" + $0, F_OK) != 0 } ?? "\(stem).jsonl.gz"
    }

    /// Returns whether a file has the name of a recording.
    func isRecording(_ name: String) -> Bool {
        namesTags
            ? name.wholeMatch(of: #/\d{8}T\d{6}Z-[A-Za-z0-9._~\-]+\.jsonl\.gz/#) != nil
            : name.wholeMatch(of: #/\d{8}T\d{6}Z(-\d+)?\.jsonl\.gz/#) != nil
    }

    // MARK: Size

    /// Deletes the oldest recordings beyond the limit.
    ///
    /// - Parameter open: the recordings that are being written, which stay; without any, the last one stays.
    /// - Returns: the bytes of those that are being written.
    func prune(keeping open: Set<String>) -> Int {
        let files = DiskFolder.names(in: path).filter(isRecording).map { name in
            var status = stat()
            return File(name: name, bytes: lstat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0)
        }
        let kept = open.isEmpty ? Set(files.suffix(1).map(\.name)) : open
        for name in Self.surplus(of: files, limit: limit, keeping: kept) { unlink(path + "/" + name) }
        return files.reduce(0) { $0 + (open.contains($1.name) ? $1.bytes : 0) }
    }

    /// Returns the recordings to delete, the oldest first.
    ///
    /// - Parameters:
    ///   - files: the recordings, in the order of their names.
    ///   - kept: the recordings that stay.
    static func surplus(of files: [File], limit: Int, keeping kept: Set<String>) -> [String] {
        var rest = files.reduce(0) { $0 + $1.bytes }
        var surplus: [String] = []
        for file in files where !kept.contains(file.name) {
            guard rest > limit else { break }
            rest -= file.bytes
            surplus.append(file.name)
        }
        return surplus
    }
}
