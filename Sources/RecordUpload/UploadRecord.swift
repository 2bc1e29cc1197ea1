import BeaconScanning
import FoundationEssentials
import IndoorVocabulary
import VenueModel

/// One thing that is uploaded: a beacon that was heard, or where the device was.
///
/// The page *File formats* of the documentation describes its JSON.
public struct UploadRecord: Hashable, Sendable {
    /// What it is about.
    public enum Content: Hashable, Sendable {
        /// A beacon was heard; how often since the record before of the same beacon, this time included.
        case beacon(BeaconRecord, count: Int)
        /// The device was at a place indoors.
        case position(Position)
        /// The device was at a place outdoors.
        case outdoorPosition(OutdoorPosition)
    }

    /// When it was, on the wall clock; nil if the source has none.
    public var unixTime: UnixTime?
    /// What it is about.
    public var content: Content

    /// Creates a record.
    ///
    /// - Parameter unixTime: nil for that of the beacon's record, if it is of one.
    public init(_ content: Content, unixTime: UnixTime? = nil) {
        self.content = content
        self.unixTime = unixTime
        if unixTime == nil, case .beacon(let beacon, _) = content { self.unixTime = beacon.unixTime }
    }

    /// The record as a JSON object on one line.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Of plain numbers and texts, which can always be encoded: numbers that JSON does not have are left out.
        guard let data = try? encoder.encode(Fields(self)) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// The members of a record's object; those that are nil are left out.
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

/// The number with so many decimals; nil for one that JSON does not have.
private func rounded(_ number: Double?, _ decimals: Int) -> Double? {
    guard let number, number.isFinite else { return nil }
    let scale = [1.0, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8][min(max(decimals, 0), 8)]
    return (number * scale).rounded() / scale
}
