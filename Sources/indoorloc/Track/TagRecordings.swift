import IndoorLocalization
import ScanRecording
import TagTracking

/// The recordings of what receivers hear of tags: a file for each tag and hour, in which each receiver that hears the tag is a
/// beacon.
///
/// A disk that can't be written is reported once and ends all recordings, and they begin again within an hour. The number of open
/// files and the memory are limited.
final class TagRecordings {
    /// The recording of a tag.
    private final class Recording {
        let name: String
        let start: Instant
        var recorder: LiveRecorder
        /// The sightings that wait for earlier ones of other receivers, in the order of their instants.
        private var waiting: [Sighting] = []
        /// The instants of the latest sighting, and of the latest one in the file.
        private(set) var latest: Instant
        private var written = Instant(nanoseconds: .min)

        init(name: String, _ recorder: consuming LiveRecorder, at start: Instant) {
            (self.name, self.start, latest) = (name, start, start)
            self.recorder = recorder
        }

        /// Adds a sighting, and writes those that are old enough. A sighting that is later than all that waits isn't recorded: at
        /// another instant, it would teach that the receiver hears the tag where it doesn't.
        func add(_ sighting: Sighting) throws {
            guard sighting.instant >= written else { return }
            let place = waiting.lastIndex { $0.instant <= sighting.instant }.map { $0 + 1 } ?? 0
            waiting.insert(sighting, at: place)
            latest = max(latest, sighting.instant)
            let limit = latest.advanced(by: .zero - TagRecordings.patience)
            try write(waiting.count > TagRecordings.mostWaiting ? 1 : waiting.prefix { $0.instant <= limit }.count)
        }

        func close() throws {
            try write(waiting.count)
            try recorder.close()
        }

        private func write(_ count: Int) throws {
            for sighting in waiting.prefix(count) {
                try recorder.write(.sighting(sighting))
                written = sighting.instant
            }
            waiting.removeFirst(count)
        }
    }

    /// The time for which a sighting waits for earlier ones, and the maximum number of those that wait. Many gateways send what
    /// they have heard every five seconds.
    private static let (patience, mostWaiting) = (Duration.seconds(6), 4_000)
    /// The time after which a recording ends in any case: an end of its hour can be lost while the disk is slow.
    private static let longest = RecordingFolder.span + .seconds(60)
    /// The longest loss if the program is killed, without `patience`. Shorter parts would need more space on the disk.
    private static let checkpointInterval = Duration.seconds(10)
    /// The time between two checks of the size.
    private static let checkInterval = Duration.seconds(60)
    /// The time for which nothing is recorded after an error of the disk.
    private static let pause = Duration.seconds(3600)

    private let folder: RecordingFolder
    private let mostOpen: Int
    private let report: (String) -> Void
    private var recordings: [TagKey: Recording] = [:]
    /// The time of the latest sighting.
    private var now = Instant(nanoseconds: .min)
    private var nextCheck: Instant?
    private var pausedUntil: Instant?
    private var nextWarning: Instant?

    /// Creates recordings in an existing folder.
    ///
    /// - Parameters:
    ///   - mostOpen: the maximum number of open recordings; beyond it, that of the tag that was heard least recently ends.
    ///   - report: receives problems in words.
    init(
        folder: RecordingFolder, mostOpen: Int = RecordedTags.Limits().recorded,
        report: @escaping (String) -> Void = { StandardError.line($0, .warning) }
    ) {
        (self.folder, self.mostOpen, self.report) = (folder, mostOpen, report)
    }

    /// The number of open recordings.
    var openCount: Int { recordings.count }

    /// Writes that a receiver has heard a tag, at an instant since the Unix epoch. The first one begins a recording.
    func write(_ sighting: Sighting, of tag: TagKey) {
        now = max(now, sighting.instant)
        guard pausedUntil.map({ now >= $0 }) ?? true else { return }
        if let start = recordings[tag]?.start, start.duration(to: sighting.instant) >= Self.longest { end(tag) }
        do {
            try (recordings[tag] ?? begin(tag, at: sighting.instant)).add(sighting)
        } catch { return giveUp(error) }
        if nextCheck.map({ now >= $0 }) ?? true { prune() }
    }

    /// Completes the recording of a tag.
    func end(_ tag: TagKey) {
        guard let recording = recordings.removeValue(forKey: tag) else { return }
        do { try recording.close() } catch { giveUp(error) }
    }

    /// Completes all recordings.
    func finish() { for tag in recordings.keys.sorted() { end(tag) } }

    private func begin(_ tag: TagKey, at start: Instant) throws -> Recording {
        while recordings.count >= max(1, mostOpen),
            let oldest = recordings.min(by: { ($0.value.latest, $0.key) < ($1.value.latest, $1.key) })?.key
        { end(oldest) }
        let name = folder.freeName(
            at: start.nanoseconds / 1000, of: tag.description, except: Set(recordings.values.map(\.name)))
        var target = RecordTarget(
            output: OutputFile(path: folder.path + "/" + name, isPrivate: true), format: .recording)
        target.device = tag.description
        let recorder = try LiveRecorder(target, checkpointInterval: Self.checkpointInterval) {
            WallClock(timeOfZero: .zero)
        }
        let recording = Recording(name: name, recorder, at: start)
        recordings[tag] = recording
        return recording
    }

    /// Ends all recordings after an error. What they contain stays readable.
    private func giveUp(_ error: any Error) {
        let open = recordings
        recordings = [:]
        // Those that can still be written contain what was heard until now.
        for recording in open.values { try? recording.close() }
        pausedUntil = now.advanced(by: Self.pause)
        report("\(error); tags are located all the same, and the next recordings begin within an hour")
    }

    /// Deletes the oldest recordings, and ends those of tags that aren't heard any more, and all if they exceed the limit.
    private func prune() {
        nextCheck = now.advanced(by: Self.checkInterval)
        for (tag, recording) in recordings where recording.latest.duration(to: now) >= RecordedTags.Limits().rest {
            end(tag)
        }
        guard folder.prune(keeping: Set(recordings.values.map(\.name))) > folder.limit else { return }
        finish()
        guard nextWarning.map({ now >= $0 }) ?? true else { return }
        nextWarning = now.advanced(by: Self.pause)
        report("the recordings of one hour exceed --record-limit: they are shorter than an hour")
    }
}
