import Foundation
import IndoorLocalization
import LiveMap
import VenuePackets

/// The companion that adds the levels of a session's beacons to a history, and reports problems on standard error.
struct BeaconHistoryCompanion: SessionCompanion {
    private let file: BeaconHistoryFile
    /// The corrections of the venues that the session uses.
    private let drift: FollowedDrift
    /// Returns the present day.
    private let today: @Sendable () -> Int

    init(
        _ file: BeaconHistoryFile, drift: FollowedDrift = FollowedDrift(),
        today: @escaping @Sendable () -> Int = { BeaconHistory.today }
    ) {
        (self.file, self.drift, self.today) = (file, drift, today)
    }

    /// Returns the histories of venues for a live map; nil without venues.
    func reports(of venues: [Venue]) -> LiveMapRoutes.BeaconHistory? {
        guard !venues.isEmpty else { return nil }
        return { [file, today] id in
            guard let venue = venues.first(where: { $0.id.rawValue == id }),
                let history = try? await file.history(of: venue.id, version: venue.version, until: today()),
                let following = try? await file.following(of: venue.id, version: venue.version)
            else { return nil }
            return BeaconReport(history, venue: venue, following: following).json.text
        }
    }

    func run(beside localizer: Localizer) async {
        let positioning = await localizer.settings.resolved.localization.positioning
        if positioning.method != .particle || positioning.testedBeacons == .none {
            StandardError.line(
                "--beacon-history: the session measures no levels; set positioning.method to particle and "
                    + "positioning.testedBeacons to surveyed or all", .warning)
        }
        let stream = localizer.beaconLevels
        await localizer.collectBeaconLevels()
        var trouble: BeaconHistoryFileError?
        // What could not be written yet.
        var waiting: [(levels: VenueLevels, day: Int)] = []
        for await collected in stream {
            let day = today()
            let levels = drift.uncorrected(collected)
            if let last = waiting.last, last.day == day, last.levels.venueID == levels.venueID,
                last.levels.version == levels.version
            {
                waiting[waiting.count - 1].levels.levels.add(levels.levels)
            } else {
                waiting.append((levels, day))
            }
            // Three months without a disk.
            if waiting.count > BeaconHistory.mostDays { waiting.removeFirst() }
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

extension BeaconHistory {
    /// The present day by the machine's clock.
    static var today: Int { day(of: UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))) }
}

extension BeaconHistoryFile {
    /// Opens a file for a session, or creates it. A damaged file is renamed to `FILE.unusable`, or to `FILE.unusable-2` and so
    /// on if there is one, and a new one begins.
    ///
    /// - Throws: `BeaconHistoryFileError` if the file can't be used.
    static func opened(_ path: String) throws(BeaconHistoryFileError) -> BeaconHistoryFile {
        do throws(BeaconHistoryFileError) { return try BeaconHistoryFile(path: path) } catch {
            guard error.reason == .damaged else { throw error }
            var (aside, count) = (path + ".unusable", 1)
            while access(aside, F_OK) == 0 {
                count += 1
                aside = "\(path).unusable-\(count)"
            }
            do throws(FileSystemError) { try DiskFolder.place(database: path, at: aside) } catch let failure {
                StandardError.line("\(path) can't be renamed: \(failure)", .warning)
                throw error
            }
            StandardError.line("\(error); moved to \(aside), and a new history begins", .warning)
            return try BeaconHistoryFile(path: path)
        }
    }
}
