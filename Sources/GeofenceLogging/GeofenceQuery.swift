import IndoorVocabulary

/// A query for records of a geofence log. A condition that is nil matches all records.
public struct GeofenceQuery: Hashable, Sendable {
    /// The times of the records, in seconds since 1970 (UTC); the upper bound is excluded.
    package var times: Range<Double>?
    /// The venue of the records.
    package var venueID: VenueID?
    /// The kind of area that the device entered or left.
    package var kind: GeofenceRecord.Kind?
    /// The identifier of the area that the device entered or left.
    package var areaID: String?
    /// Whether the device entered the area; false if it left.
    package var isEntry: Bool?
    /// The maximum number of records; the newest ones are returned. Nil for all.
    package var limit: Int?

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

    /// Returns a query for the events of a geofence of a venue packet.
    public static func fence(_ id: Int, of venue: VenueID, in times: Range<Double>? = nil) -> GeofenceQuery {
        GeofenceQuery(times: times, venueID: venue, kind: .fence, areaID: "\(id)")
    }

    /// The conditions in SQL, and the values of their parameters.
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
