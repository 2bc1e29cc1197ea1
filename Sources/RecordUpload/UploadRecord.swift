import BeaconScanning
import FoundationEssentials
import IndoorVocabulary
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
