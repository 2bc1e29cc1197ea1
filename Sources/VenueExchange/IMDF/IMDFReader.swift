import FoundationEssentials
import IndoorVocabulary
import TextFormats
import VenuePackets

/// Reads and checks the files of an archive, and collects all problems.
///
/// Unless it is strict, a feature with a problem is left out, and a reference to no feature is ignored; a feature that
/// needs the reference is left out, too. So is a file that can't be read. The venue and the levels are always needed.
struct IMDFReader {
    private let archive: IMDFArchive
    private let isStrict: Bool
    /// What makes the archive unusable.
    private(set) var problems: [IMDFProblem] = []
    /// What was left out or changed.
    private(set) var remarks: [IMDFReport.Remark] = []
    private var bytesRead = 0
    /// The path of the first feature with each id: an id is unique within the archive.
    private var places: [String: String] = [:]
    /// The ids of each type; in a strict import, including those of features with problems.
    private var ids: [IMDFFeatureType: Set<String>] = [:]
    /// The number of features in each file, including those with problems.
    private var counts: [IMDFFeatureType: Int] = [:]
    /// Types with unreadable ids: references to them cannot be checked.
    private var unclear: Set<IMDFFeatureType> = []
    /// References to check after all features are known.
    private var references: [Reference] = []

    private struct Reference {
        let rule: IMDFReference
        let id: String
        let owner: (type: IMDFFeatureType, id: String)
        let path: String
    }

    init(archive: IMDFArchive, isStrict: Bool) {
        self.archive = archive
        self.isStrict = isStrict
    }

    /// Returns the contents, which are complete only if there are no problems.
    mutating func contents() -> IMDFContents {
        var contents = IMDFContents()
        contents.language = manifestLanguage()
        for type in IMDFFeatureType.allCases {
            guard archive.contains(type.file) else {
                if IMDFFeatureType.required.contains(type) {
                    report(type.file, "$", "is missing; an import requires it")
                    unclear.insert(type)
                }
                continue
            }
            contents.features[type] = features(of: type)
        }
        let removed = checkReferences()
        for (type, ids) in removed { contents.features[type]?.removeAll { ids.contains($0.id) } }
        checkCounts(contents)
        let known = Set(IMDFFeatureType.allCases.map(\.file) + [IMDFArchive.manifestFile])
        contents.unknownFiles = archive.names.filter { !known.contains($0) }
        return contents
    }

    private mutating func report(_ file: String, _ path: String, _ message: String) {
        problems.append(IMDFProblem(file: file, path: path, message: message))
    }

    /// Reports a problem of a whole file, or leaves the file out unless it is needed.
    private mutating func refuse(_ file: String, _ path: String, _ message: String) {
        let needed = IMDFFeatureType.required.map(\.file)
        guard !isStrict, !needed.contains(file) else { return report(file, path, message) }
        let place = path == "$" ? "" : "\(path) "
        remarks.append(
            IMDFReport.Remark(
                featureType: "archive", id: file, outcome: .leftOut, reason: "it can't be read: \(place)\(message)"))
    }

    /// Returns the document of a file as an object; nil if it isn't one.
    private mutating func document(_ file: String) -> JSONObject? {
        do throws(PacketFileError) {
            let bytes = try archive.read(file, used: bytesRead)
            bytesRead += bytes.count
            do throws(JSONDocumentError) {
                let tree = try JSONTree(bytes)
                if case .object(let fields) = tree { return JSONObject(fields: fields, path: "$") }
                refuse(file, "$", "the document is \(tree.summary); give an object")
            } catch {
                refuse(file, "$", error.message)
            }
        } catch {
            refuse(file, "$", error.message)
        }
        return nil
    }

    /// Adds the problems of a parser to those of this archive.
    private mutating func addProblems(of parser: VenueParser, in file: String) {
        for problem in parser.problems { report(file, problem.path, problem.message) }
    }

    private mutating func manifestLanguage() -> String? {
        let file = IMDFArchive.manifestFile
        guard archive.contains(file) else {
            report(file, "$", "is missing; an IMDF archive has it at its root")
            return nil
        }
        guard let manifest = document(file) else { return nil }
        var parser = VenueParser()
        let version = parser.string("version", of: manifest, wanted: "the version of IMDF")
        let language = parser.optionalString("language", of: manifest, wanted: "a BCP 47 tag")
        // Versions before 1.0.0 were drafts; a later 1.x must be readable as 1.0.
        if let version, !version.hasPrefix("1.") {
            parser.report(.error, "$.version", "is \"\(version)\"; this reader supports IMDF 1; export it as 1.0.0")
        }
        addProblems(of: parser, in: file)
        return language
    }

    private mutating func remark(
        _ type: IMDFFeatureType, _ id: String, _ outcome: IMDFReport.Outcome, _ reason: String
    ) {
        remarks.append(
            IMDFReport.Remark(featureType: type.rawValue, id: id, outcome: outcome, reason: reason))
    }

    private mutating func features(of type: IMDFFeatureType) -> [IMDFFeature] {
        // In a lenient import, a feature that needs one of a file that is left out is left out, too.
        let isNeeded = isStrict || IMDFFeatureType.required.contains(type)
        guard let collection = document(type.file) else {
            if isNeeded { unclear.insert(type) }
            return []
        }
        var parser = VenueParser()
        let kind = parser.string("type", of: collection, wanted: "\"FeatureCollection\"")
        if let kind, kind != "FeatureCollection" {
            parser.report(.error, "$.type", "is \"\(kind)\"; give \"FeatureCollection\"")
        }
        let objects = parser.objects("features", of: collection, isRequired: true)
        if !isNeeded, objects.count > IMDFArchive.Limit.features {
            let limit = IMDFArchive.Limit.features
            parser.report(.error, "$.features", "has \(objects.count) features, more than the limit of \(limit)")
        }
        if let problem = parser.problems.first(where: { $0.severity == .error }) {
            guard isNeeded else {
                refuse(type.file, problem.path, problem.message)
                return []
            }
            unclear.insert(type)
        }
        counts[type] = objects.count
        var features: [IMDFFeature] = []
        if objects.count > IMDFArchive.Limit.features {
            let limit = IMDFArchive.Limit.features
            parser.report(.error, "$.features", "has \(objects.count) features, more than the limit of \(limit)")
            unclear.insert(type)
        } else {
            features = objects.compactMap { feature($0, of: type, &parser) }
        }
        addProblems(of: parser, in: type.file)
        return features
    }

    /// Returns a feature; nil if it is left out.
    private mutating func feature(
        _ object: JSONObject, of type: IMDFFeatureType, _ parser: inout VenueParser
    ) -> IMDFFeature? {
        guard !isStrict, type != .venue else {
            let id = id(of: object, &parser)
            if let id { ids[type, default: []].insert(id) } else { unclear.insert(type) }
            return feature(object, of: type, id, &parser)
        }
        var own = VenueParser()
        let firstReference = references.count
        let id = id(of: object, &own)
        let feature = feature(object, of: type, id, &own)
        guard own.problems.isEmpty, let id, let feature else {
            references.removeSubrange(firstReference...)
            let reasons = own.problems.prefix(3).map { problem in
                let isBelow = problem.path.hasPrefix(object.path + ".")
                let path = isBelow ? String(problem.path.dropFirst(object.path.count + 1)) : problem.path
                return "\(path) \(problem.message)"
            }
            remark(type, id ?? "\(type.file) \(object.path)", .leftOut, reasons.joined(separator: "; "))
            return nil
        }
        ids[type, default: []].insert(id)
        return feature
    }

    private func id(of object: JSONObject, _ parser: inout VenueParser) -> String? {
        parser.string("id", of: object, wanted: "the feature's id")?.lowercased()
    }

    private mutating func feature(
        _ object: JSONObject, of type: IMDFFeatureType, _ id: String?, _ parser: inout VenueParser
    ) -> IMDFFeature? {
        if let id { checkUnique(id, at: object, of: type, &parser) }
        let written = parser.optionalString("feature_type", of: object, wanted: "\"\(type.rawValue)\"")
        if let written, written != type.rawValue {
            parser.report(
                .error, object.path(of: "feature_type"),
                "is \"\(written)\", but \(type.file) contains features of type \"\(type.rawValue)\" only; move it")
        }
        let geometry = geometry(of: object, type, &parser)
        guard parser.required("properties", of: object, wanted: "an object"),
            let properties = parser.optionalObject("properties", of: object)
        else { return nil }
        checkProperties(properties, of: type, id ?? "", &parser)
        let display = parser.optionalObject("display_point", of: properties).flatMap { parser.geometry(of: $0)?.point }
        guard let id else { return nil }
        return IMDFFeature(type: type, id: id, geometry: geometry, properties: properties, displayPoint: display)
    }

    private mutating func checkUnique(
        _ id: String, at object: JSONObject, of type: IMDFFeatureType, _ parser: inout VenueParser
    ) {
        let place = "\(type.file) \(object.path)"
        if let other = places[id] {
            parser.report(
                .error, object.path(of: "id"), "\(id) is already the id of \(other); give each feature its own UUID")
        } else {
            places[id] = place
        }
    }

    private func geometry(
        of object: JSONObject, _ type: IMDFFeatureType, _ parser: inout VenueParser
    ) -> GeoJSONGeometry? {
        guard object["geometry"] != nil else {
            if type.geometry != .none, type.geometry != .anything {
                parser.report(.error, object.path(of: "geometry"), "is missing; give \(type.geometry.wanted)")
            }
            return nil
        }
        // The geometry of a relationship or of a feature without a location isn't used.
        if type.geometry == .none || type.geometry == .anything { return nil }
        guard let member = parser.optionalObject("geometry", of: object),
            let geometry = parser.geometry(of: member)
        else { return nil }
        guard type.geometry.accepts(geometry) else {
            let found = if case .string(let text)? = member["type"] { text } else { "" }
            parser.report(
                .error, member.path(of: "type"), "is \"\(found)\"; a \(type.rawValue) has \(type.geometry.wanted)")
            return nil
        }
        return geometry
    }

    /// Checks the properties that an import needs, and collects references to other features.
    private mutating func checkProperties(
        _ properties: JSONObject, of type: IMDFFeatureType, _ id: String, _ parser: inout VenueParser
    ) {
        if type == .level { _ = parser.integer("ordinal", of: properties, .level) }
        if type == .unit { _ = parser.string("category", of: properties, wanted: "the unit's category") }
        for reference in type.references {
            if reference.isRequired, !parser.required(reference.key, of: properties, wanted: "an id") { continue }
            guard let value = properties[reference.key] else { continue }
            let path = properties.path(of: reference.key)
            var values = [(value: value, path: path)]
            if reference.isList { values = parser.array(value, at: path) ?? [] }
            for (value, path) in values {
                guard case .string(let target) = value else {
                    parser.report(.error, path, "is \(value.summary); give the id of a \(reference.target.rawValue)")
                    continue
                }
                references.append(
                    Reference(rule: reference, id: target.lowercased(), owner: (type, id), path: path))
            }
        }
    }

    /// Checks all references, even after other problems, so that one pass reports all of them.
    ///
    /// - Returns: the features that are left out because a feature that they need isn't there.
    private mutating func checkReferences() -> [IMDFFeatureType: Set<String>] {
        var removed: [IMDFFeatureType: Set<String>] = [:]
        var rest = references
        var isDone = false
        // A feature that is left out may be needed by others: at most a level, its unit, an anchor and an occupant.
        while !isDone {
            isDone = true
            var valid: [Reference] = []
            for reference in rest {
                let (rule, owner) = (reference.rule, reference.owner)
                if removed[owner.type]?.contains(owner.id) == true { continue }
                guard !unclear.contains(rule.target), ids[rule.target]?.contains(reference.id) != true else {
                    valid.append(reference)
                    continue
                }
                let message = "there is no \(rule.target.rawValue) \(reference.id)"
                if isStrict || owner.type == .venue {
                    report(owner.type.file, reference.path, "\(message); give the id of one in \(rule.target.file)")
                } else if rule.isRequired {
                    remark(owner.type, owner.id, .leftOut, "its \(rule.key) is wrong: \(message)")
                    removed[owner.type, default: []].insert(owner.id)
                    ids[owner.type]?.remove(owner.id)
                    isDone = false
                } else {
                    remark(owner.type, owner.id, .changed, "its \(rule.key) is not kept: \(message)")
                }
            }
            rest = valid
        }
        return removed
    }

    private mutating func checkCounts(_ contents: IMDFContents) {
        let venues = counts[.venue, default: 0]
        if !unclear.contains(.venue), venues != 1 {
            report(IMDFFeatureType.venue.file, "$.features", "has \(venues) venues; give one")
        }
        if !unclear.contains(.level), counts[.level, default: 0] == 0 {
            report(IMDFFeatureType.level.file, "$.features", "is empty; give at least one level")
        } else if !isStrict, problems.isEmpty, contents[.level].isEmpty {
            for remark in remarks where remark.featureType == IMDFFeatureType.level.rawValue {
                report(IMDFFeatureType.level.file, "$.features", "level \(remark.id): \(remark.reason)")
            }
        }
    }
}

/// The files of an archive: a zip or a folder with `manifest.json` and one GeoJSON file per feature type.
struct IMDFArchive {
    static let manifestFile = "manifest.json"

    /// The size limits of an archive, which protect the machine from malicious files.
    enum Limit {
        /// The size of one file in bytes: airports have about 10 MB of units.
        static let file = 32 << 20
        /// The total size of all files that are read, in bytes.
        static let total = 64 << 20
        /// The sum of the products of corner counts over all pairs of units and fixtures of a level whose boxes
        /// overlap, because each of them is cut along the other. An airport's level has 2,000,000.
        static let cornerPairs = 10_000_000
        /// Pairs of units and fixtures of a level whose boxes overlap: an airport's level has about 5,000.
        static let pairs = 20_000
        /// Corners of the units, fixtures and openings of a level: each is compared with the nodes of the paths.
        static let corners = 50_000
        /// Features of one file: the walls of a level are compared with each other.
        static let features = 50_000
    }

    private let files: any PacketFiles
    /// All files of the archive, in alphabetical order.
    let names: [String]

    /// Opens a folder or a zip.
    init(path: String) throws(PacketFileError) {
        let absolute = LocalPath.absolute(path)
        var isFolder = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            throw PacketFileError(message: "there is no \(absolute); give an IMDF archive: its zip or its folder")
        }
        if isFolder {
            files = PacketFolder(path: absolute)
            names = try Self.list(absolute)
        } else {
            let archive = try PacketArchive(path: absolute, marker: Self.manifestFile)
            files = archive
            // Files that desktop archivers add don't belong to the archive.
            names = archive.files.filter { !$0.hasPrefix("__MACOSX/") && !$0.hasSuffix(".DS_Store") }.sorted()
        }
    }

    /// Creates an archive from its files, whose names are in alphabetical order.
    init(_ files: any PacketFiles, names: [String]) { (self.files, self.names) = (files, names) }

    private static func list(_ folder: String) throws(PacketFileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            throw PacketFileError(message: "\(folder) cannot be listed: \(error.systemReason)")
        }
    }

    func contains(_ file: String) -> Bool { files.contains(file) }

    /// Returns the bytes of a file.
    ///
    /// - Parameter used: the number of bytes that were already read from this archive.
    func read(_ file: String, used: Int) throws(PacketFileError) -> [UInt8] {
        try files.read(file, limit: min(Limit.file, Limit.total - used))
    }
}

/// A feature of an archive with checked geometry and references.
struct IMDFFeature: Sendable {
    let type: IMDFFeatureType
    /// The id in lower case, for comparison.
    let id: String
    /// The geometry; nil for a feature without a location.
    let geometry: GeoJSONGeometry?
    let properties: JSONObject
    /// The point that represents the feature; nil if there is none.
    let displayPoint: Coordinate?

    /// The `category`; empty if there is none.
    var category: String { text("category") ?? "" }

    /// A copy of the feature without its geometry.
    var withoutGeometry: IMDFFeature {
        IMDFFeature(type: type, id: id, geometry: nil, properties: properties, displayPoint: displayPoint)
    }

    /// Returns a string property; nil if it is absent or of another type.
    func text(_ key: String) -> String? {
        if case .string(let text)? = properties[key] { text } else { nil }
    }

    /// Returns an integer property.
    func integer(_ key: String) -> Int? {
        if case .number(let number)? = properties[key] { Int(exactly: number) } else { nil }
    }

    /// Returns whether a property is true.
    func isTrue(_ key: String) -> Bool { properties[key] == .bool(true) }

    /// Returns the ids in a property in lower case; empty if it is absent or null.
    func ids(_ key: String) -> [String] {
        switch properties[key] {
        case .string(let id)?: [id.lowercased()]
        case .array(let values)?:
            values.compactMap { value in if case .string(let id) = value { id.lowercased() } else { nil } }
        default: []
        }
    }
}

/// Advice for the author of a map about problems, in the terms of the map's format.
struct IMDFAdvice: Sendable {
    /// For a space that no path reaches.
    let pathless: String
    /// For an escalator without a known direction.
    let undirected: String
    /// For coordinates that are too far apart.
    let distant: String

    static let imdf = IMDFAdvice(
        pathless: "draw an opening on its outline, or give a relationship to a unit of another level",
        undirected: "the archive does not contain its direction: give a directed relationship",
        distant: "correct the coordinates: longitude comes first")
    static let openStreetMap = IMDFAdvice(
        pathless: "add a node with a door to its outline, or draw stairs to another level",
        undirected: "an area has no direction: draw it as a line with highway=steps and conveying=forward",
        distant: "extract one venue, or correct the coordinates")
}

/// The content of an archive.
struct IMDFContents: Sendable {
    /// The manifest's language; nil if it has none.
    var language: String?
    /// The features by type, in the order of their file.
    var features: [IMDFFeatureType: [IMDFFeature]] = [:]
    /// Advice for the author about problems.
    var advice = IMDFAdvice.imdf
    /// The files of the archive that the standard doesn't define.
    var unknownFiles: [String] = []

    subscript(type: IMDFFeatureType) -> [IMDFFeature] { features[type] ?? [] }

    /// Returns the features of a type by their id.
    func byID(_ type: IMDFFeatureType) -> [String: IMDFFeature] {
        Dictionary(self[type].map { ($0.id, $0) }) { first, _ in first }
    }
}

/// The feature types of the Indoor Mapping Data Format 1.0 (OGC 20-094), each with its own file.
enum IMDFFeatureType: String, CaseIterable, Hashable, Sendable {
    case address, amenity, anchor, building, detail, fixture, footprint, geofence, kiosk, level, occupant, opening
    case relationship, section, unit, venue

    /// The file within the archive.
    var file: String { rawValue + ".geojson" }

    /// The types that an import requires.
    static let required: [IMDFFeatureType] = [.venue, .level]

    /// The geometry that the standard requires.
    var geometry: IMDFGeometryRule {
        switch self {
        case .address, .building, .occupant: .none
        case .amenity, .anchor: .point
        case .detail, .opening: .line
        case .relationship: .anything
        case .fixture, .footprint, .geofence, .kiosk, .level, .section, .unit, .venue: .polygon
        }
    }

    /// The properties that refer to other features, with their types.
    var references: [IMDFReference] {
        let address = IMDFReference("address_id", to: .address)
        let level = IMDFReference("level_id", to: .level, isRequired: true)
        let anchor = IMDFReference("anchor_id", to: .anchor)
        switch self {
        case .address, .relationship: return []
        case .amenity: return [IMDFReference("unit_ids", to: .unit, isList: true), address]
        case .anchor: return [IMDFReference("unit_id", to: .unit, isRequired: true), address]
        case .building, .venue: return [address]
        case .detail, .opening, .unit: return [level]
        case .fixture, .kiosk: return [level, anchor]
        case .footprint: return [IMDFReference("building_ids", to: .building, isList: true)]
        case .geofence:
            return [
                IMDFReference("level_ids", to: .level, isList: true),
                IMDFReference("building_ids", to: .building, isList: true),
                IMDFReference("parents", to: .geofence, isList: true),
            ]
        case .level: return [IMDFReference("building_ids", to: .building, isList: true), address]
        case .occupant: return [IMDFReference("anchor_id", to: .anchor, isRequired: true)]
        case .section:
            return [level, address, IMDFReference("parents", to: .section, isList: true)]
        }
    }
}

/// A property that contains the id of another feature.
struct IMDFReference: Hashable, Sendable {
    let key: String
    let target: IMDFFeatureType
    let isRequired: Bool
    /// Whether it contains a list of ids.
    let isList: Bool

    init(_ key: String, to target: IMDFFeatureType, isRequired: Bool = false, isList: Bool = false) {
        self.key = key
        self.target = target
        self.isRequired = isRequired
        self.isList = isList
    }
}

/// The geometries that a feature type allows.
enum IMDFGeometryRule: Hashable, Sendable {
    /// Null only.
    case none
    /// A Point.
    case point
    /// A LineString or a MultiLineString.
    case line
    /// A Polygon or a MultiPolygon.
    case polygon
    /// Any geometry or null.
    case anything

    /// The expected geometry, as a message names it.
    var wanted: String {
        switch self {
        case .none: "null"
        case .point: "a Point"
        case .line: "a LineString"
        case .polygon: "a Polygon or a MultiPolygon"
        case .anything: "a geometry or null"
        }
    }

    /// Returns whether the rule allows a geometry.
    func accepts(_ geometry: GeoJSONGeometry) -> Bool {
        switch (geometry, self) {
        case (.point, .point), (.lines, .line), (.polygons, .polygon), (_, .anything): true
        default: false
        }
    }
}

/// The boundary and walkability of a unit, derived from its category.
enum IMDFSpace: Hashable, Sendable {
    /// A separate space, such as a room, a shop or a stairwell, which people enter through openings.
    case enclosed
    /// A part of a larger space, such as a walkway: its boundary with similar units is only a line on the plan.
    case open
    /// Solid matter, which is not walkable.
    case solid
    /// A space without a walkable floor.
    case void

    /// Whether people can walk there.
    var isWalkable: Bool { self == .enclosed || self == .open }

    /// Creates the space of a UNIT-CATEGORY; an unknown category is enclosed, as most categories are.
    init(category: String) {
        // A category may have a suffix after a dot: "walkway.island".
        switch category.prefix(while: { $0 != "." }) {
        case "brick", "column", "concrete", "drywall", "glass", "structure", "wood": self = .solid
        case "opentobelow", "vegetation": self = .void
        case "fieldofplay", "footbridge", "lobby", "movingwalkway", "parking", "platform", "ramp", "road", "steps",
            "terrace", "unenclosedarea", "unspecified", "walkway":
            self = .open
        default: self = .enclosed
        }
    }

    /// Returns whether people cannot walk through a fixture of this category; other fixtures are movable furniture.
    static func isObstacle(fixture category: String) -> Bool {
        ["obstruction", "vegetation", "wall", "water"].contains(category)
    }
}
