import IndoorVocabulary

/// Which records of a geofence log are wanted; whatever is nil does not matter.
public struct GeofenceQuery: Hashable, Sendable {
    /// When they were told, in seconds since 1970 (UTC), the upper bound excluded.
    public var times: Range<Double>?
    /// The venue in which they happened.
    public var venueID: VenueID?
    /// What was entered or left.
    public var kind: GeofenceRecord.Kind?
    /// The area that was entered or left.
    public var areaID: String?
    /// Whether the device came in, or went out.
    public var isEntry: Bool?
    /// So many at most, the newest of them; nil for all.
    public var limit: Int?

    /// Creates a query.
    public init(
        times: Range<Double>? = nil, venueID: VenueID? = nil, kind: GeofenceRecord.Kind? = nil, areaID: String? = nil,
        isEntry: Bool? = nil, limit: Int? = nil
    ) {
        self.times = times
        self.venueID = venueID
        self.kind = kind
        self.areaID = areaID
        self.isEntry = isEntry
        self.limit = limit
    }

    /// What comes and goes at a fence of a venue's packet.
    public static func fence(_ id: Int, of venue: VenueID, in times: Range<Double>? = nil) -> GeofenceQuery {
        GeofenceQuery(times: times, venueID: venue, kind: .fence, areaID: "\(id)")
    }

    /// The conditions in SQL, and the values that stand for their question marks.
    var conditions: (sql: String, values: [SQLiteDatabase.Value]) {
        var parts: [(String, SQLiteDatabase.Value)] = []
        if let venueID { parts.append(("venue = ?", .integer(Int64(venueID.rawValue)))) }
        if let kind { parts.append(("kind = ?", .text(kind.rawValue))) }
        if let areaID { parts.append(("area = ?", .text(areaID))) }
        if let times { parts += [("time >= ?", .real(times.lowerBound)), ("time < ?", .real(times.upperBound))] }
        if let isEntry { parts.append(("is_entry = ?", .integer(isEntry ? 1 : 0))) }
        let sql = parts.isEmpty ? "" : " WHERE " + parts.map(\.0).joined(separator: " AND ")
        return (sql, parts.map(\.1))
    }
}
