import IndoorVocabulary
import VenueModel

extension VenueParser {
    mutating func identity(of entry: JSONObject) -> BeaconIdentity? {
        let wanted = "32 hexadecimal digits as 8-4-4-4-12"
        let text = string("uuid", of: entry, wanted: wanted)
        let uuid = text.flatMap { BeaconUUID($0) }
        if let text, uuid == nil { report(.error, entry.path(of: "uuid"), "is \"\(text)\"; give \(wanted)") }
        let major = integer("major", of: entry, .beaconNumber)
        let minor = integer("minor", of: entry, .beaconNumber)
        guard let uuid, let major, let minor else { return nil }
        return BeaconIdentity(
            uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
    }

    mutating func rooms(of root: JSONObject) -> [Room] {
        var seen: [Int: String] = [:]
        return objects("rooms", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the room's name")
            let mapID = mapID(of: entry)
            let area = area(of: entry)
            guard let id, let name, let mapID else { return nil }
            if let area { checkInside(area, of: mapID, at: entry.path, kind: "room") }
            return Room(id: id, name: name, mapID: mapID, area: area)
        }
    }

    mutating func pointsOfInterest(of root: JSONObject) -> [PointOfInterest] {
        var seen: [Int: String] = [:]
        return objects("pois", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the point's name")
            let description = optionalString("description", of: entry, wanted: "a description")
            let mapID = mapID(of: entry)
            let point = point(of: entry)
            let payload = payload(of: entry)
            guard let id, let name, let mapID, let point else { return nil }
            checkInside(point, of: mapID, at: entry.path, kind: "point of interest")
            return PointOfInterest(
                id: id, name: name, description: description, mapID: mapID, point: point, payload: payload)
        }
    }

    mutating func fences(of root: JSONObject) -> [Fence] {
        var seen: [Int: String] = [:]
        return objects("events", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the event's name")
            let mapID = mapID(of: entry)
            let problemsBefore = problemCount
            let area = area(of: entry)
            if area == nil, problemCount == problemsBefore {
                report(.error, entry.path, "has no shape; give a polygon, or x, y and radius")
            }
            let timeout = optionalDuration("timeout", of: entry)
            let exitDelay = optionalDuration("exitDelay", of: entry)
            let exitMargin = optionalNumber("exitMargin", of: entry, .margin)
            let payload = payload(of: entry)
            guard let id, let name, let mapID, let area else { return nil }
            checkInside(area, of: mapID, at: entry.path, kind: "event")
            return Fence(
                id: id, name: name, mapID: mapID, area: area, timeout: timeout, exitDelay: exitDelay,
                exitMargin: exitMargin, payload: payload)
        }
    }

    mutating func optionalDuration(_ name: String, of entry: JSONObject) -> Duration? {
        let seconds = optionalNumber(name, of: entry, .timeout)
        return seconds.map { Duration.nanoseconds(Int64(($0 * 1e9).rounded())) }
    }
}
