import IndoorVocabulary
import VenueModel

extension VenueParser {
    /// Returns the valid anchors of a document.
    mutating func anchors(of root: JSONObject) -> [VenueAnchor] {
        var seen: [String: String] = [:]
        return objects("anchors", of: root, limit: limits.beacons).compactMap { anchor($0, &seen) }
    }

    private mutating func anchor(_ entry: JSONObject, _ seen: inout [String: String]) -> VenueAnchor? {
        let id = anchorID(of: entry, &seen)
        let mapID = mapID(of: entry)
        let point = point(of: entry)
        let z = optionalNumber("z", of: entry, .height)
        guard let id, let mapID, let point else { return nil }
        checkInside(point, of: mapID, at: entry.path, kind: "anchor")
        return VenueAnchor(id: id, mapID: mapID, point: point, z: z)
    }

    private mutating func anchorID(of entry: JSONObject, _ seen: inout [String: String]) -> String? {
        guard let id = string("id", of: entry, wanted: "the anchor's name as its readings have it") else { return nil }
        let path = entry.path(of: "id")
        guard (1...RangeReading.longestName).contains(id.utf8.count) else {
            report(.error, path, "has \(id.utf8.count) bytes; give a name of 1 to \(RangeReading.longestName) bytes")
            return nil
        }
        if let other = seen[id] {
            report(.error, path, "\"\(id)\" is already the id of \(other); give each anchor its own id")
        } else {
            seen[id] = entry.path
        }
        return id
    }
}
