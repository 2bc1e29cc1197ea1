import Foundation
import IndoorLocalization

/// The companion that adds the levels of a session's beacons to a history, and reports problems on standard error.
struct BeaconHistoryCompanion: SessionCompanion {
    static let option = CommandOption(
        name: "beacon-history", argument: "FILE",
        help: "add the levels of the venue's beacons to this file, for 'indoorloc beacons'", proposals: .files)

    private let file: BeaconHistoryFile
    /// Returns the present day.
    private let today: @Sendable () -> Int

    init(
        _ file: BeaconHistoryFile,
        today: @escaping @Sendable () -> Int = {
            BeaconHistory.day(of: UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)))
        }
    ) {
        (self.file, self.today) = (file, today)
    }

    func run(beside localizer: Localizer) async {
        let stream = localizer.beaconLevels
        await localizer.collectBeaconLevels()
        var trouble: BeaconHistoryFileError?
        // What could not be written yet.
        var waiting: [(levels: VenueLevels, day: Int)] = []
        for await levels in stream {
            let day = today()
            if let last = waiting.last, last.day == day, last.levels.venueID == levels.venueID,
                last.levels.version == levels.version
            {
                waiting[waiting.count - 1].levels.levels.add(levels.levels)
            } else {
                waiting.append((levels, day))
            }
            do throws(BeaconHistoryFileError) {
                while let next = waiting.first {
                    try await file.add(next.levels, day: next.day)
                    waiting.removeFirst()
                }
                if trouble != nil { StandardError.line("the history of the beacons is written again", .notice) }
                trouble = nil
            } catch {
                if trouble != error { StandardError.line("\(error); the session continues", .warning) }
                trouble = error
            }
        }
    }
}

extension BeaconHistoryFile {
    /// Opens a file for a session, or creates it. A damaged file is renamed to `FILE.unusable`, and a new one begins.
    ///
    /// - Throws: `BeaconHistoryFileError` if the file can't be used.
    static func opened(_ path: String) throws(BeaconHistoryFileError) -> BeaconHistoryFile {
        do throws(BeaconHistoryFileError) { return try BeaconHistoryFile(path: path) } catch {
            guard error.reason == .damaged else { throw error }
            let aside = path + ".unusable"
            for ending in ["", "-wal", "-shm"] { rename(path + ending, aside + ending) }
            StandardError.line("\(error); moved to \(aside), and a new history begins", .warning)
            return try BeaconHistoryFile(path: path)
        }
    }
}
