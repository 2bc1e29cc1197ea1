import IndoorVocabulary

/// Keys that nobody reads but that are much like one that is read: who wrote `room` meant `rooms`.
///
/// Other keys may be a program's own, and are passed over.
extension VenueParser {
    /// The keys of an object, and those of the objects within: in fields, and in arrays of fields.
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
                "uuid", "major", "minor", "address", "mapId", "x", "y", "z", "measuredPower", "pathLossExponent",
            ]),
            "rooms": Keys(own: place + ["radius", "polygon"]),
            "pois": Keys(own: place + ["description", "payload"]),
            "events": Keys(own: place + ["radius", "polygon", "timeout", "exitDelay", "exitMargin", "payload"]),
            "interactions": Keys(
                own: ["id", "name", "room", "poi", "event", "trigger", "distance", "genericContent", "payload"],
                within: [
                    "beacon": Keys(own: ["uuid", "major", "minor"]),
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

    /// Where a key that is not known stands first, and how often it stands in objects of that kind.
    private struct Stranger {
        let key: String
        let path: String
        let meant: String
        var count: Int
    }

    /// Warns of keys that are much like one that is known, of each once for all objects of a kind.
    mutating func checkKeys(of document: JSONObject) {
        for stranger in Self.strangers(in: [document], Self.root) {
            let others = stranger.count == 1 ? "" : " It stands in \(stranger.count) places"
            report(
                .warning, stranger.path,
                "\"\(stranger.key)\" is not known and of no effect; did you mean \"\(stranger.meant)\"?\(others)")
        }
    }

    private static func strangers(in objects: [JSONObject], _ keys: Keys) -> [Stranger] {
        let known = keys.all
        let names = Set(known)
        var found: [String: Stranger] = [:]
        var harmless: Set<String> = []
        for object in objects {
            for key in object.fields.keys where !names.contains(key) && !harmless.contains(key) {
                if found[key] != nil {
                    found[key]?.count += 1
                } else if let meant = EditDistance.nearestWord(to: key, among: known) {
                    found[key] = Stranger(key: key, path: object.path(of: key), meant: meant, count: 1)
                } else {
                    harmless.insert(key)
                }
            }
        }
        var all = found.values.sorted { $0.key < $1.key }
        for (field, keys) in keys.within.sorted(by: { $0.key < $1.key }) {
            all += strangers(in: objects.flatMap { Self.objects(in: field, of: $0) }, keys)
        }
        return all
    }

    /// The object of a field, or those of its array.
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
