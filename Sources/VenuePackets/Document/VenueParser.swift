import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// Parses a venue's document into the venue and a list of all problems.
///
/// An entry with an invalid field is omitted from the venue and parsing continues, so one pass finds all problems.
package struct VenueParser {
    /// The value of `format`.
    static let format = "indoor-localization-venue"
    /// The highest supported `formatVersion`.
    static let formatVersion = 1

    /// A reference of the document to a file.
    struct FileReference {
        /// The path within the document.
        var path: String
        /// The file's path within the packet.
        var file: String
        /// Whether the packet can't be used without the file.
        var isRequired = true
    }

    /// The first problems, up to `InputLimits.problems`; after that limit, the last entry gives the number of further
    /// problems.
    package var problems: [VenueProblem] {
        guard problemCount > limits.problems else { return foundProblems }
        let more = "has \(problemCount - limits.problems) more problems; correct the others first"
        return foundProblems + [VenueProblem(severity: .error, path: "$", message: more)]
    }
    /// The number of all problems.
    private(set) var problemCount = 0
    private var foundProblems: [VenueProblem] = []
    let limits = InputLimits.standard
    /// The sum of the squared corner counts of all polygons so far.
    var cornerSquares = 0
    /// The files that the document refers to, in its order; their paths don't leave the packet.
    var fileReferences: [FileReference] = []
    /// The path of the radio map; nil if the document has none.
    private(set) var radioMapPath: String?
    /// The numbers of all maps, including invalid maps: a reference to such a map is not a problem.
    var mapIDs: Set<MapID> = []
    /// The valid maps.
    var maps: [MapID: VenueMap] = [:]

    package init() {}

    package mutating func report(_ severity: VenueProblem.Severity, _ path: String, _ message: String) {
        problemCount += 1
        guard problemCount <= limits.problems else { return }
        foundProblems.append(VenueProblem(severity: severity, path: path, message: message))
    }

    /// Returns the venue; nil if a field that every venue needs is invalid.
    package mutating func venue(_ document: JSONTree) -> Venue? {
        guard case .object(let fields) = document else {
            report(.error, "$", "the document is \(document.summary); give an object with the fields of a venue")
            return nil
        }
        let root = JSONObject(fields: fields, path: "$")
        checkFormat(of: root)
        let id = integer("id", of: root, .identifier)
        let name = string("name", of: root, wanted: "the venue's name")
        let version = integer("version", of: root, .edition)
        let coordinate = optionalObject("coordinate", of: root).flatMap { self.coordinate(of: $0) }
        let radius = optionalNumber("radius", of: root, .length)
        let maps = self.maps(of: root)
        let radios = self.radios(of: root)
        let anchors = self.anchors(of: root)
        let rooms = self.rooms(of: root)
        let pointsOfInterest = self.pointsOfInterest(of: root)
        let fences = self.fences(of: root)
        let places = InteractionPlaces(
            beacons: radios.beacons, rooms: rooms, points: pointsOfInterest, fences: fences)
        let interactions = self.interactions(of: root, among: places)
        let paths = self.paths(of: root)
        let settings = self.settings(of: root)
        radioMapPath = file("radioMap", of: root)
        checkKeys(of: root)
        guard let id, let name, let version else { return nil }
        return Venue(
            id: VenueID(rawValue: id), name: name, version: version, coordinate: coordinate, radius: radius,
            maps: maps, beacons: radios.beacons, receivers: radios.receivers, anchors: anchors, rooms: rooms,
            pointsOfInterest: pointsOfInterest, fences: fences, interactions: interactions, paths: paths,
            settings: settings)
    }

    private mutating func checkFormat(of root: JSONObject) {
        let format = string("format", of: root, wanted: "\"\(Self.format)\"")
        if let format, format != Self.format {
            report(.error, "$.format", "is \"\(format)\"; a venue's document has \"\(Self.format)\" here")
        }
        let version = integer("formatVersion", of: root, .edition)
        if let version, version < 1 || version > Self.formatVersion {
            report(
                .error, "$.formatVersion",
                "is \(version), but this reader supports 1 to \(Self.formatVersion); use a newer reader or write "
                    + "version 1")
        }
    }

    /// Returns the coordinate of an object; nil if latitude or longitude is invalid.
    mutating func coordinate(of object: JSONObject) -> Coordinate? {
        let latitude = number("latitude", of: object, .latitude)
        let longitude = number("longitude", of: object, .longitude)
        guard let latitude, let longitude else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude)
    }

    /// Returns the settings as written: dotted, nested or mixed.
    ///
    /// An invalid setting is a warning, because the venue is usable without it; it is kept, so that a session can
    /// report it.
    private mutating func settings(of root: JSONObject) -> [String: JSONValue] {
        guard let tree = optionalObject("settings", of: root) else { return [:] }
        var known: Set<String> = []
        return settings(in: tree, prefix: "", known: &known)
    }

    private mutating func settings(
        in object: JSONObject, prefix: String, known: inout Set<String>
    ) -> [String: JSONValue] {
        var settings: [String: JSONValue] = [:]
        for (key, tree) in object.fields.sorted(by: { $0.key < $1.key }) {
            let path = object.path(of: key)
            let dotted = prefix.isEmpty ? key : prefix + "." + key
            guard known.count < limits.settingCount else {
                report(.warning, path, "has no effect; there are more than \(limits.settingCount) settings")
                return settings
            }
            if case .object(let fields) = tree {
                let inner = JSONObject(fields: fields, path: path)
                settings[key] = .object(self.settings(in: inner, prefix: dotted, known: &known))
            } else if !known.insert(dotted).inserted {
                report(.warning, path, "has no effect; \(dotted) is given twice, dotted and nested: give it once")
            } else if let value = JSONValue(readable: tree) {
                settings[key] = value
                checkSetting(value, key: dotted, path: path)
            } else {
                report(.warning, path, "has no effect; it is \(tree.summary): give a value that can be represented")
            }
        }
        return settings
    }

    private mutating func checkSetting(_ value: JSONValue, key: String, path: String) {
        do {
            let registry = SettingsRegistry.standard
            _ = try registry.accept(SettingsEntry(key: key, value: value, place: path), from: .venue)
            if registry.isExpert(key) { report(.note, path, "\(key) \(SettingStability.expertNote)") }
        } catch {
            report(.warning, path, "has no effect; " + error.message)
        }
    }
}

/// Reads fields of one type each. A missing required field, a wrong type or a number out of range is a problem.
extension VenueParser {
    package mutating func number(_ key: String, of object: JSONObject, _ rule: NumberRule) -> Double? {
        required(key, of: object, wanted: rule.wanted) ? optionalNumber(key, of: object, rule) : nil
    }

    package mutating func optionalNumber(_ key: String, of object: JSONObject, _ rule: NumberRule) -> Double? {
        object[key].flatMap { number($0, at: object.path(of: key), rule) }
    }

    package mutating func number(_ value: JSONTree, at path: String, _ rule: NumberRule) -> Double? {
        guard case .number(let number) = value, rule.accepts(number) else {
            return wrong(value, at: path, wanted: rule.wanted)
        }
        return number
    }

    package mutating func integer(_ key: String, of object: JSONObject, _ rule: IntegerRule) -> Int? {
        required(key, of: object, wanted: rule.wanted) ? optionalInteger(key, of: object, rule) : nil
    }

    package mutating func optionalInteger(_ key: String, of object: JSONObject, _ rule: IntegerRule) -> Int? {
        guard let value = object[key] else { return nil }
        guard case .number(let number) = value, let integer = Int(exactly: number), rule.range.contains(integer) else {
            return wrong(value, at: object.path(of: key), wanted: rule.wanted)
        }
        return integer
    }

    package mutating func string(_ key: String, of object: JSONObject, wanted: String) -> String? {
        required(key, of: object, wanted: wanted) ? optionalString(key, of: object, wanted: wanted) : nil
    }

    package mutating func optionalString(_ key: String, of object: JSONObject, wanted: String) -> String? {
        guard let value = object[key] else { return nil }
        guard case .string(let text) = value else {
            return wrong(value, at: object.path(of: key), wanted: wanted + " as a text")
        }
        return text
    }

    mutating func bool(_ key: String, of object: JSONObject, default standard: Bool) -> Bool {
        guard let value = object[key] else { return standard }
        guard case .bool(let flag) = value else {
            return wrong(value, at: object.path(of: key), wanted: "true or false") ?? standard
        }
        return flag
    }

    package mutating func optionalObject(_ key: String, of object: JSONObject) -> JSONObject? {
        guard let value = object[key] else { return nil }
        let path = object.path(of: key)
        guard case .object(let fields) = value else { return wrong(value, at: path, wanted: "an object") }
        return JSONObject(fields: fields, path: path)
    }

    /// Returns the values of an array with their paths; nil if the field is absent or isn't an array.
    package mutating func optionalArray(
        _ key: String, of object: JSONObject, limit: Int? = nil
    ) -> [(value: JSONTree, path: String)]? {
        object[key].flatMap { array($0, at: object.path(of: key), limit: limit) }
    }

    package mutating func array(
        _ value: JSONTree, at path: String, limit: Int? = nil
    ) -> [(value: JSONTree, path: String)]? {
        guard case .array(let values) = value else { return wrong(value, at: path, wanted: "an array") }
        guard values.count <= limit ?? limits.entries else {
            let limit = limit ?? limits.entries
            report(.error, path, "has \(values.count) entries, more than the limit of \(limit); divide it")
            return nil
        }
        return values.enumerated().map { ($0.element, "\(path)[\($0.offset)]") }
    }

    /// Returns the objects of an array; empty if the field is absent, which is a problem if it is required.
    package mutating func objects(
        _ key: String, of object: JSONObject, isRequired: Bool = false, limit: Int? = nil
    ) -> [JSONObject] {
        if isRequired, !required(key, of: object, wanted: "an array") { return [] }
        var objects: [JSONObject] = []
        for (value, path) in optionalArray(key, of: object, limit: limit) ?? [] {
            if case .object(let fields) = value {
                objects.append(JSONObject(fields: fields, path: path))
            } else {
                report(.error, path, "is \(value.summary); give an object")
            }
        }
        return objects
    }

    /// Returns the path of a file in the packet; nil if it is absent or would leave the packet.
    mutating func file(_ key: String, of object: JSONObject) -> String? {
        guard let file = optionalString(key, of: object, wanted: "a path within the packet") else { return nil }
        let path = object.path(of: key)
        guard PacketPath.isInside(file) else {
            report(
                .error, path,
                "\"\(file)\" is not a path within the packet; give one without \\, leading /, . and .."
            )
            return nil
        }
        fileReferences.append(FileReference(path: path, file: file))
        return file
    }

    /// Returns the payload, which may be any JSON value; nil if the field is absent.
    package mutating func payload(of object: JSONObject) -> JSONValue? {
        object.fields["payload"].flatMap { value($0, at: object.path(of: "payload")) }
    }

    /// Returns any JSON value; nil if a number in it is out of range.
    package mutating func value(_ tree: JSONTree, at path: String) -> JSONValue? {
        switch tree {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let value): return .number(value)
        case .string(let value): return .string(value)
        case .unreadable:
            return wrong(tree, at: path, wanted: "a smaller number")
        case .array(let values):
            return .array(values.enumerated().compactMap { value($0.element, at: "\(path)[\($0.offset)]") })
        case .object(let fields):
            let object = JSONObject(fields: fields, path: path)
            var values: [String: JSONValue] = [:]
            for key in fields.keys.sorted() {
                values[key] = fields[key].flatMap { value($0, at: object.path(of: key)) }
            }
            return .object(values)
        }
    }

    /// Returns whether the field exists; reports a problem if not.
    package mutating func required(_ key: String, of object: JSONObject, wanted: String) -> Bool {
        guard object[key] == nil else { return true }
        report(.error, object.path(of: key), "is missing; give \(wanted)")
        return false
    }

    /// Reports an invalid value; returns nil, so that the caller can return the result.
    package mutating func wrong<Value>(_ value: JSONTree, at path: String, wanted: String) -> Value? {
        report(.error, path, "is \(value.summary); give \(wanted)")
        return nil
    }
}

/// The numbers that a field accepts.
package struct NumberRule: Sendable {
    /// The smallest and the largest number.
    package let range: ClosedRange<Double>
    /// Whether the smallest number is excluded.
    var excludesLowerBound = false
    /// The expected value with its unit, as a message names it.
    package let wanted: String

    package func accepts(_ value: Double) -> Bool {
        range.contains(value) && !(excludesLowerBound && value == range.lowerBound)
    }

    /// Buildings are smaller than 1,000 km, and coordinates of that size are still exact to a millimetre.
    private static let longest = 1e6

    package static let position = NumberRule(range: -longest...longest, wanted: "a number of metres within ±1,000,000")
    package static let length = NumberRule(
        range: 0...longest, excludesLowerBound: true, wanted: "a number of metres above 0 and up to 1,000,000")
    package static let height = NumberRule(range: -12_000...12_000, wanted: "a number of metres within ±12,000")
    package static let latitude = NumberRule(range: -90...90, wanted: "degrees north in [-90, 90]")
    package static let longitude = NumberRule(range: -180...180, wanted: "degrees east in [-180, 180]")
    package static let bearing = NumberRule(range: -360...360, wanted: "degrees clockwise from true north in [0, 360)")
    /// The range of one signed byte of an advertisement; Bluetooth transmitters stay below 20 dBm.
    package static let measuredPower = NumberRule(range: -127...20, wanted: "dBm at 1 m in [-127, 20]")
    package static let pathLossExponent = NumberRule(
        range: 0...20, excludesLowerBound: true, wanted: "a number above 0 and up to 20, 2 in free space")
    package static let weight = NumberRule(range: 0...1e9, wanted: "metres of walking, 0 or more")
    package static let margin = NumberRule(range: 0...longest, wanted: "a number of metres, 0 or more")
    package static let timeout = NumberRule(range: 0...1e9, wanted: "a number of seconds, 0 or more")
}

/// The whole numbers that a field accepts.
package struct IntegerRule: Sendable {
    /// The smallest and the largest number.
    package let range: ClosedRange<Int>
    /// The expected value, as a message names it.
    let wanted: String

    /// The largest whole number that every JSON reader keeps exact: 2^53 - 1.
    private static let exact = 9_007_199_254_740_991

    package static let identifier = IntegerRule(range: -exact...exact, wanted: "a whole number")
    package static let edition = IntegerRule(range: 0...exact, wanted: "a whole number, 0 or more")
    package static let level = IntegerRule(range: -1_000...1_000, wanted: "a whole number, 0 for the ground floor")
    package static let pixels = IntegerRule(range: 1...10_000_000, wanted: "a whole number of pixels, 1 or more")
    package static let beaconNumber = IntegerRule(range: 0...65_535, wanted: "a whole number in [0, 65535]")
}

/// Reads identifiers, points and areas, which many kinds of entries have.
extension VenueParser {
    /// Returns the entry's number; reports a problem if another entry has the same number.
    mutating func uniqueID(of entry: JSONObject, among seen: inout [Int: String]) -> Int? {
        guard let id = integer("id", of: entry, .identifier) else { return nil }
        if let other = seen.updateValue(entry.path, forKey: id) {
            seen[id] = other
            report(.error, entry.path(of: "id"), "\(id) is already the id of \(other); give each its own number")
        }
        return id
    }

    /// Returns the map of an entry; reports a problem if the venue doesn't have that map.
    mutating func mapID(of entry: JSONObject) -> MapID? {
        guard let number = integer("mapId", of: entry, .identifier) else { return nil }
        let id = MapID(rawValue: number)
        guard mapIDs.contains(id) else {
            report(.error, entry.path(of: "mapId"), "there is no map \(number); give the id of one of the maps")
            return nil
        }
        return id
    }

    mutating func point(of entry: JSONObject) -> MapPoint? {
        let x = number("x", of: entry, .position)
        let y = number("y", of: entry, .position)
        guard let x, let y else { return nil }
        return MapPoint(x: x, y: y)
    }

    /// Returns the shape of an entry, a polygon or a circle; nil if it is absent or invalid.
    mutating func area(of entry: JSONObject) -> Area? {
        if let value = entry["polygon"] {
            if entry["x"] != nil || entry["y"] != nil || entry["radius"] != nil {
                report(.warning, entry.path, "has a polygon and a circle; the circle is not used, remove one of them")
            }
            return polygon(value, at: entry.path(of: "polygon")).map { .polygon($0) }
        }
        guard entry["x"] != nil || entry["y"] != nil || entry["radius"] != nil else { return nil }
        let center = point(of: entry)
        let radius = number("radius", of: entry, .length)
        guard let center, let radius else { return nil }
        return .circle(center: center, radius: radius)
    }

    /// Returns the corners of a polygon; reports a problem if it doesn't enclose one simple area.
    mutating func polygon(_ value: JSONTree, at path: String) -> [MapPoint]? {
        guard let corners = points(value, at: path) else { return nil }
        guard corners.count <= InputLimits.standard.corners else {
            report(.error, path, "has \(corners.count) corners; simplify it to \(InputLimits.standard.corners) at most")
            return nil
        }
        cornerSquares += corners.count * corners.count
        guard cornerSquares <= limits.cornerSquares else {
            report(.error, path, "has, with the polygons before it, too many corners to be checked; simplify them")
            return nil
        }
        if let defect = PolygonDefect(in: corners) {
            report(.error, path, "\(defect); give 3 or more corners in order around the area")
            return nil
        }
        return corners
    }

    /// Returns the points of an array of `[x, y]`; nil if one is invalid.
    mutating func points(_ value: JSONTree, at path: String) -> [MapPoint]? {
        guard let entries = array(value, at: path) else { return nil }
        var points: [MapPoint] = []
        points.reserveCapacity(entries.count)
        for (entry, path) in entries {
            guard case .array(let numbers) = entry, numbers.count == 2 else {
                let found = if case .array(let numbers) = entry { "\(numbers.count) values" } else { entry.summary }
                report(.error, path, "is \(found); give [x, y] in metres")
                continue
            }
            let x = number(numbers[0], at: "\(path)[0]", .position)
            let y = number(numbers[1], at: "\(path)[1]", .position)
            if let x, let y { points.append(MapPoint(x: x, y: y)) }
        }
        return points.count == entries.count ? points : nil
    }

    /// Warns of a point outside its map. Real buildings have some, but most are in the wrong frame or unit.
    mutating func checkInside(_ point: MapPoint, of map: MapID, at path: String, kind: String) {
        guard let map = maps[map], !map.contains(point) else { return }
        report(
            .warning, path,
            "the \(kind) at x \(point.x), y \(point.y) lies outside its map of \(map.width) × \(map.height) m; "
                + "check that x and y are metres from the plan's top-left corner")
    }

    /// Warns of an area whose centre, or whose corners all lie outside its map.
    mutating func checkInside(_ area: Area, of map: MapID, at path: String, kind: String) {
        switch area {
        case .circle(let center, _):
            checkInside(center, of: map, at: path, kind: kind)
        case .polygon(let corners):
            guard let size = maps[map], let first = corners.first else { return }
            let touchesPlan = corners.contains {
                (0...size.width).contains($0.x) && (0...size.height).contains($0.y)
            }
            if !touchesPlan, !area.contains(MapPoint(x: size.width / 2, y: size.height / 2)) {
                checkInside(first, of: map, at: path, kind: kind)
            }
        }
    }
}

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

/// A problem in a venue packet or in a file of geofences, with its location and remedy.
public struct VenueProblem: Hashable, Sendable, CustomStringConvertible {
    /// The effect of a problem on the packet.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The packet or file cannot be used.
        case error
        /// The packet or file can be used, but something is probably wrong.
        case warning
        /// The packet or file can be used. A later release may read this part in another way.
        case note
    }

    /// The effect of the problem on the packet or file.
    public var severity: Severity
    /// The path within `venue.json` or the file, such as `$.beacons[3].mapId`; `$` is the whole document.
    public var path: String
    /// The problem and its remedy.
    public var message: String

    /// Creates a problem.
    package init(severity: Severity, path: String, message: String) {
        self.severity = severity
        self.path = path
        self.message = message
    }

    /// The problem in one line; control characters in names and keys are escaped, so that one problem cannot look like
    /// two.
    public var description: String { PrintableText.line("\(severity.rawValue): \(path): \(message)") }
}

extension [VenueProblem] {
    /// The kind of error that a session reports for a packet or catalogue with these problems.
    var kind: LocalizationError.Kind {
        contains { $0.severity == .error && $0.path == "$.formatVersion" } ? .versionMismatch : .badResponse
    }
}

/// An error for a venue packet that cannot be used, with all its problems.
public struct VenuePacketError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder or file that was read or written.
    public var file: String
    /// All problems, including warnings and notes; at least one is an error.
    public var problems: [VenueProblem]

    /// Creates an error.
    package init(file: String, problems: [VenueProblem]) {
        self.file = file
        self.problems = problems
    }

    /// Creates an error about the whole packet.
    init(file: String, message: String) {
        self.init(file: file, problems: [VenueProblem(severity: .error, path: "$", message: message)])
    }

    /// The file, then one problem per line; one line if the only problem is about the whole packet.
    public var description: String {
        if problems.count == 1, let problem = problems.first, problem.path == "$" {
            return PrintableText.line("\(file): \(problem.message)")
        }
        let errors = problems.filter { $0.severity == .error }
        // The error may be in a radio map that was given in place of the packet's own.
        let isOfRadioMap = !errors.isEmpty && errors.allSatisfy { $0.path == "$.radioMap" }
        let headline =
            isOfRadioMap ? "\(file) cannot be used with this radio map:" : "\(file) is not a usable venue packet:"
        return ([headline] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

extension VenuePacketError: ClassifiedError {
    public var kind: LocalizationError.Kind { problems.kind }
}
