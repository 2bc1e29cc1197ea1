import BeaconScanning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// Makes records of what is heard and found: of each beacon, and of positions, one at an interval.
///
///     var collector = UploadCollector(settings)
///     for try await reading in radio.readings() {
///         collector.take(reading, by: radio.wallClock)
///         try await uploader.add(collector.drain())
///     }
///
/// A value with time as an input: equal calls give equal records. With `UploadSettings.beacons` and `positions` off, their
/// default, it makes none.
public struct UploadCollector: Sendable {
    private struct Track: Sendable {
        /// When a record was made last.
        var told: Instant
        /// Sightings since then.
        var count = 0
    }

    /// So many records wait at most to be taken; beyond, the oldest are lost, as the queue takes none.
    private static let limit = 10_000
    /// A beacon that was silent for this long is forgotten, and its next sighting makes a record.
    private static let silence = Duration.seconds(600)

    /// What is uploaded, and how often.
    public var settings: UploadSettings
    /// How many records were dropped because nobody took them in time.
    public private(set) var lost = 0

    private var records: [UploadRecord] = []
    private var ranger = Ranger()
    private var tracks: [BeaconIdentity: Track] = [:]
    private var latest = Instant.zero
    private var cleaned = Instant.zero
    /// When a record of a position was made last, of those indoors and of those outdoors.
    private var told: (indoors: Instant?, outdoors: Instant?) = (nil, nil)
    /// What the last advertisement was decoded to: a sighting of the same behind it is the same news.
    private var decoded: Sighting?

    /// Creates a collector without records.
    public init(_ settings: UploadSettings) { self.settings = settings }

    /// Takes in what a source delivers.
    ///
    /// - Parameter clock: tells the time of its instants, here and below; nil if the source has no wall clock.
    public mutating func take(_ reading: SensorReading, by clock: WallClock?) {
        guard settings.beacons else { return }
        switch reading {
        case .sighting(let sighting):
            if sighting != decoded { take(sighting, by: clock) }
            decoded = nil
        case .advertisement(let advertisement):
            decoded = (try? advertisement.sighting()) ?? nil
            if let decoded { take(decoded, by: clock) }
        case .motion, .step, .pressure, .gnss, .fix, .radio: break
        }
    }

    /// Takes in a position of a session.
    public mutating func take(_ position: Position, by clock: WallClock?) {
        guard settings.positions, isDue(told.indoors, at: position.instant) else { return }
        told.indoors = position.instant
        keep(UploadRecord(.position(position), unixTime: clock?.unixTime(at: position.instant)))
    }

    /// Takes in a position outdoors.
    public mutating func take(_ position: OutdoorPosition, by clock: WallClock?) {
        guard settings.positions, isDue(told.outdoors, at: position.instant) else { return }
        told.outdoors = position.instant
        keep(UploadRecord(.outdoorPosition(position), unixTime: clock?.unixTime(at: position.instant)))
    }

    /// The records since the last call.
    public mutating func drain() -> [UploadRecord] {
        defer { records.removeAll() }
        return records
    }

    /// Puts records back that could not be written, before those that came since.
    public mutating func putBack(_ unwritten: [UploadRecord]) {
        records = unwritten + records
        trim()
    }

    private func isDue(_ last: Instant?, at now: Instant) -> Bool {
        // Time that runs backwards is that of another session.
        guard let last, last <= now else { return true }
        return last.duration(to: now) >= settings.positionInterval
    }

    private mutating func take(_ sighting: Sighting, by clock: WallClock?) {
        guard Sighting.isMeasurement(rssi: sighting.rssi) else { return }
        let now = sighting.instant
        if now < latest {
            // Another session, with a time of its own.
            tracks = [:]
            ranger = Ranger()
            cleaned = now
        }
        latest = now
        clean(at: now)
        ranger.observe(sighting)
        let known = tracks[sighting.beacon]
        var track = known ?? Track(told: now)
        track.count += 1
        if known == nil || track.told.duration(to: now) >= settings.beaconInterval,
            let range = ranger.estimate(of: sighting.beacon, at: now)
        {
            let record = BeaconRecord(sighting: sighting, range: range, unixTime: clock?.unixTime(at: now))
            keep(UploadRecord(.beacon(record, count: track.count)))
            track = Track(told: now)
        }
        tracks[sighting.beacon] = track
    }

    private mutating func clean(at now: Instant) {
        guard cleaned.duration(to: now) >= .seconds(10) else { return }
        cleaned = now
        ranger.forgetSilent(at: now)
        tracks = tracks.filter { $0.value.told.duration(to: now) < max(Self.silence, settings.beaconInterval) }
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
