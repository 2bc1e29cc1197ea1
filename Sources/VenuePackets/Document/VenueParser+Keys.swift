import IndoorVocabulary

/// Detects misspelled keys: unknown keys that are similar to a known key, such as `room` for `rooms`.
///
/// Other unknown keys may belong to a program and are ignored.
extension VenueParser {
    /// The keys of an object and of the objects in its fields and arrays.
    private struct Keys {
        var own: [String]
        var within: [String: Keys] = [:]
        var all: [String] { own + within.keys.sorted() }
    }

    private static let coordinate = Keys(own: ["latitude", "longitude"])
    private static let place = ["id", "name", "mapId", "x", "y"]

    private static let root = Keys(
        own: ["format", "formatVersion", "id", "name", "version", "radius", "settings", "radioMap"],
        within: [
            "coordinate": coordinate, "maps": map,
            "beacons": Keys(own: [
                "uuid", "major", "minor", "namespace", "instance", "altBeaconId", "address", "addressType", "mapId",
                "x", "y", "z", "measuredPower", "pathLossExponent", "role", "id", "aliases",
            ]),
            "anchors": Keys(own: ["id", "mapId", "x", "y", "z"]),
            "rooms": Keys(own: place + ["radius", "polygon"]),
            "pois": Keys(own: place + ["description", "payload"]),
            "events": Keys(own: place + ["radius", "polygon", "timeout", "exitDelay", "exitMargin", "payload"]),
            "interactions": Keys(
                own: ["id", "name", "room", "poi", "event", "trigger", "distance", "genericContent", "payload"],
                within: [
                    "beacon": Keys(own: [
                        "uuid", "major", "minor", "namespace", "instance", "altBeaconId", "address",
                    ]),
                    "contents": Keys(own: ["id", "language", "content", "image", "link", "displayLink"]),
                ]),
            "paths": Keys(
                own: [],
                within: [
                    "nodes": Keys(own: ["id", "mapId", "x", "y"]),
                    "edges": Keys(own: ["from", "to", "weight", "oneWay", "kind", "tags"]),
                ]),
        ])

    private static let map = Keys(
        own: [
            "id", "name", "level", "widthMeters", "heightMeters", "widthPixels", "heightPixels", "elevation", "image",
            "tiles", "walls", "walkable",
        ],
        within: [
            "georeference": Keys(
                own: ["bearing"],
                within: ["center": coordinate, "controlPoints": Keys(own: ["x", "y", "latitude", "longitude"])])
        ])

    /// An unknown key: its first path, and the number of objects of that kind that contain it.
    private struct UnknownKey {
        let key: String
        let path: String
        let meant: String
        var count: Int
    }

    /// Reports a warning for each unknown key that is similar to a known one, once for all objects of a kind.
    mutating func checkKeys(of document: JSONObject) {
        for unknown in Self.unknownKeys(in: [document], Self.root) {
            let others = unknown.count == 1 ? "" : " It occurs in \(unknown.count) places"
            report(
                .warning, unknown.path,
                "\"\(unknown.key)\" is not a known key and has no effect; did you mean \"\(unknown.meant)\"?\(others)")
        }
    }

    private static func unknownKeys(in objects: [JSONObject], _ keys: Keys) -> [UnknownKey] {
        let known = keys.all
        let names = Set(known)
        var found: [String: UnknownKey] = [:]
        var ignored: Set<String> = []
        for object in objects {
            for key in object.fields.keys where !names.contains(key) && !ignored.contains(key) {
                if found[key] != nil {
                    found[key]?.count += 1
                } else if let meant = EditDistance.nearestWord(to: key, among: known) {
                    found[key] = UnknownKey(key: key, path: object.path(of: key), meant: meant, count: 1)
                } else {
                    ignored.insert(key)
                }
            }
        }
        var all = found.values.sorted { $0.key < $1.key }
        for (field, keys) in keys.within.sorted(by: { $0.key < $1.key }) {
            all += unknownKeys(in: objects.flatMap { Self.objects(in: field, of: $0) }, keys)
        }
        return all
    }

    /// Returns the object of a field, or the objects of its array.
    private static func objects(in field: String, of object: JSONObject) -> [JSONObject] {
        let path = object.path(of: field)
        switch object.fields[field] {
        case .object(let fields): return [JSONObject(fields: fields, path: path)]
        case .array(let values):
            return values.enumerated().compactMap { index, value in
                guard case .object(let fields) = value else { return nil }
                return JSONObject(fields: fields, path: "\(path)[\(index)]")
            }
        default: return []
        }
    }
}
