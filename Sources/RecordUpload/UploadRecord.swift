import BeaconScanning
import FoundationEssentials
import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// A record for upload: a beacon that was received, or the position of the device.
///
/// The *File formats* page of the documentation describes its JSON.
public struct UploadRecord: Hashable, Sendable {
    /// The content of a record.
    public enum Content: Hashable, Sendable {
        /// A beacon, with the number of its sightings since its previous record.
        ///
        /// The count includes the sighting of this record.
        case beacon(BeaconRecord, count: Int)
        /// The device's indoor position.
        case position(Position)
        /// The device's outdoor position.
        case outdoorPosition(OutdoorPosition)
    }

    /// The time of the record on the wall clock; nil if the source has none.
    public var unixTime: UnixTime?
    /// The content of the record.
    public var content: Content

    /// Creates a record.
    ///
    /// - Parameter unixTime: the time of the record; if nil, the time of a beacon's record.
    package init(_ content: Content, unixTime: UnixTime? = nil) {
        self.content = content
        self.unixTime = unixTime
        if unixTime == nil, case .beacon(let beacon, _) = content { self.unixTime = beacon.unixTime }
    }

    /// The record as a JSON object on one line.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail: the fields are plain numbers and texts. Numbers that JSON cannot represent are omitted.
        guard let data = try? encoder.encode(Fields(self)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// The members of a record's object; members with nil are omitted.
private struct Fields: Encodable {
    var type: String
    var time: Int64?
    var uuid: String?
    var major: UInt16?
    var minor: UInt16?
    var address: String?
    var rssi: Double?
    var measuredPower: Double?
    var count: Int?
    var distance: Double?
    var proximity: String?
    var venueId: Int?
    var mapId: Int?
    var x: Double?
    var y: Double?
    var radius: Double?
    var label: String?
    var latitude: Double?
    var longitude: Double?
    var course: Double?
    var speed: Double?

    init(_ record: UploadRecord) {
        time = record.unixTime?.milliseconds
        switch record.content {
        case .beacon(let beacon, let count):
            type = "beacon"
            uuid = "\(beacon.beacon.uuid)"
            (major, minor) = (beacon.beacon.major, beacon.beacon.minor)
            address = beacon.sighting.address.map { "\($0)" }
            rssi = rounded(beacon.rssi, 1)
            measuredPower = rounded(beacon.sighting.measuredPower, 1)
            self.count = count
            distance = rounded(beacon.distance?.meters, 2)
            proximity = beacon.proximity?.rawValue
        case .position(let position):
            type = "position"
            (venueId, mapId) = (position.venueID.rawValue, position.mapID.rawValue)
            (x, y, radius) = (rounded(position.x, 3), rounded(position.y, 3), rounded(position.radius, 3))
            label = position.label
            latitude = rounded(position.coordinate?.latitude, 8)
            longitude = rounded(position.coordinate?.longitude, 8)
            (course, speed) = (rounded(position.course, 1), rounded(position.speed, 2))
        case .outdoorPosition(let position):
            type = "outdoorPosition"
            latitude = rounded(position.coordinate.latitude, 8)
            longitude = rounded(position.coordinate.longitude, 8)
            radius = rounded(position.radius, 3)
            (course, speed) = (rounded(position.course, 1), rounded(position.speed, 2))
        }
    }
}

/// Returns the number rounded to the given decimals; nil for one that JSON cannot represent.
private func rounded(_ number: Double?, _ decimals: Int) -> Double? {
    guard let number, number.isFinite else { return nil }
    let scale = [1.0, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8][min(max(decimals, 0), 8)]
    return (number * scale).rounded() / scale
}

/// Records that are sent together, repeatedly until the server confirms them.
package struct UploadBatch: Hashable, Sendable {
    /// The identifier, unique to this batch and the same on each attempt. A server uses it to detect duplicates.
    package var id: String
    /// The number of records.
    package var count: Int
    /// The number of the last record.
    var last: Int64
    /// The JSON document.
    package var body: [UInt8]

    /// Creates a batch and its document.
    ///
    /// - Parameters:
    ///   - range: the numbers of the first and the last record of the batch when it was created.
    ///   - records: the numbers and the JSON of those records that still exist, in order.
    init(
        queue: String, range: ClosedRange<Int64>, device: String, dropped: Int,
        records: [(number: Int64, json: String)]
    ) {
        last = range.upperBound
        id = "\(queue)-\(range.lowerBound)-\(range.upperBound)"
        count = records.count
        let lines: [String] = records.map { #"{"number":\#($0.number),"# + $0.json.dropFirst() }
        let head =
            #"{"format":"indoor-localization-records","version":1,"batch":"\#(id)","device":\#(Self.quoted(device)),"#
            + #""dropped":\#(dropped),"records":["#
        body = Array((head + lines.joined(separator: ",\n") + "]}\n").utf8)
    }

    /// Returns a text as a JSON string.
    private static func quoted(_ text: String) -> String {
        var quoted: [UInt8] = []
        JSONEscapes.append(text, to: &quoted, style: .lowerDigits)
        return String(decoding: quoted, as: UTF8.self)
    }
}

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
