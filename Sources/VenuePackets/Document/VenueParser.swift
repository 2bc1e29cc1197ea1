import IndoorVocabulary
import LocalizationSession
import TextFormats
import VenueModel

/// Parses a venue's document into the venue and a list of all problems.
///
/// An entry with an invalid field is omitted from the venue and parsing continues, so one pass finds all problems.
struct VenueParser {
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
    }

    /// The first problems, up to `InputLimits.problems`; after that limit, the last entry gives the number of further
    /// problems.
    var problems: [VenueProblem] {
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

    mutating func report(_ severity: VenueProblem.Severity, _ path: String, _ message: String) {
        problemCount += 1
        guard problemCount <= limits.problems else { return }
        foundProblems.append(VenueProblem(severity: severity, path: path, message: message))
    }

    /// Returns the venue; nil if a field that every venue needs is invalid.
    mutating func venue(_ document: JSONTree) -> Venue? {
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
