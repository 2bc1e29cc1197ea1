import BeaconScanning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A collector that creates upload records from sightings and positions, at most one in each interval.
///
///     var collector = UploadCollector(settings)
///     for try await reading in radio.readings() {
///         collector.receive(reading, by: radio.wallClock)
///         try await uploader.add(collector.drain())
///     }
///
/// A value type with time as an input: the same calls give the same records. By default, `UploadSettings.beacons` and
/// `positions` are off, and the collector creates no records.
public struct UploadCollector: Sendable {
    private struct Track: Sendable {
        /// The instant of the last record.
        var recorded: Instant
        /// The number of sightings since then.
        var count = 0
    }

    /// The maximum number of records that wait for `drain()`. Beyond it, the oldest are discarded.
    private static let limit = 10_000
    /// After this silence, a beacon is forgotten, and its next sighting creates a record.
    private static let silence = Duration.seconds(600)

    /// The kinds of records that are uploaded, and their intervals.
    package var settings: UploadSettings
    /// The number of records discarded because `drain()` was not called early enough.
    package private(set) var lost = 0

    private var records: [UploadRecord] = []
    private var ranger = Ranger()
    private var tracks: [BeaconIdentity: Track] = [:]
    private var latest = Instant.zero
    private var cleaned = Instant.zero
    /// The instant of the last record of a position, for indoor and for outdoor positions.
    private var latestUpload: (indoors: Instant?, outdoors: Instant?) = (nil, nil)
    private var decoder = ReadingDecoder()

    /// Creates a collector without records.
    public init(_ settings: UploadSettings) { self.settings = settings }

    /// Adds a reading of a source.
    ///
    /// - Parameter clock: the source's wall clock, here and below; nil if it has none.
    public mutating func receive(_ reading: SensorReading, by clock: WallClock?) {
        guard settings.beacons else { return }
        if case .sighting(let sighting) = decoder.decode(reading).content { receive(sighting, by: clock) }
    }

    /// Adds a position of a session.
    public mutating func receive(_ position: Position, by clock: WallClock?) {
        guard settings.positions, isDue(latestUpload.indoors, at: position.instant) else { return }
        latestUpload.indoors = position.instant
        keep(UploadRecord(.position(position), unixTime: clock?.unixTime(at: position.instant)))
    }

    /// Adds an outdoor position.
    public mutating func receive(_ position: OutdoorPosition, by clock: WallClock?) {
        guard settings.positions, isDue(latestUpload.outdoors, at: position.instant) else { return }
        latestUpload.outdoors = position.instant
        keep(UploadRecord(.outdoorPosition(position), unixTime: clock?.unixTime(at: position.instant)))
    }

    /// Returns and removes the records since the last call.
    public mutating func drain() -> [UploadRecord] {
        defer { records.removeAll() }
        return records
    }

    /// Puts records that could not be written back, before the records that were added later.
    package mutating func putBack(_ unwritten: [UploadRecord]) {
        records = unwritten + records
        trim()
    }

    private func isDue(_ last: Instant?, at now: Instant) -> Bool {
        // A time before the last one belongs to another session.
        guard let last, last <= now else { return true }
        return last.duration(to: now) >= settings.positionInterval
    }

    private mutating func receive(_ sighting: Sighting, by clock: WallClock?) {
        let now = sighting.instant
        if now < latest {
            // Another session, with a separate timeline.
            tracks = [:]
            ranger = Ranger()
            cleaned = now
        }
        latest = now
        clean(at: now)
        ranger.observe(sighting)
        let known = tracks[sighting.beacon]
        var track = known ?? Track(recorded: now)
        track.count += 1
        if known == nil || track.recorded.duration(to: now) >= settings.beaconInterval,
            let range = ranger.estimate(of: sighting.beacon, at: now)
        {
            let record = BeaconRecord(sighting: sighting, range: range, unixTime: clock?.unixTime(at: now))
            keep(UploadRecord(.beacon(record, count: track.count)))
            track = Track(recorded: now)
        }
        tracks[sighting.beacon] = track
    }

    private mutating func clean(at now: Instant) {
        guard cleaned.duration(to: now) >= .seconds(10) else { return }
        cleaned = now
        ranger.forgetSilent(at: now)
        tracks = tracks.filter { $0.value.recorded.duration(to: now) < max(Self.silence, settings.beaconInterval) }
    }

    private mutating func keep(_ record: UploadRecord) {
        records.append(record)
        trim()
    }

    private mutating func trim() {
        let excess = max(0, records.count - Self.limit)
        records.removeFirst(excess)
        lost += excess
    }
}
