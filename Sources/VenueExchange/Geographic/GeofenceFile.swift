import FoundationEssentials
import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

/// A file of geofences that cannot be used, with all its problems.
public struct GeofenceFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file, as the caller named it.
    public var file: String
    /// All problems; at least one.
    public var problems: [VenueProblem]

    /// Creates an error.
    package init(file: String, problems: [VenueProblem]) {
        self.file = file
        self.problems = problems
    }

    /// The file, then one problem per line; one line if the only problem is about the whole file.
    public var description: String {
        if problems.count == 1, let problem = problems.first, problem.path == "$" {
            return PrintableText.line("\(file): \(problem.message)")
        }
        return (["\(file) has no usable geofences:"] + problems.map { "  \($0)" }).joined(separator: "\n")
    }
}

/// Reads geofences from GeoJSON (RFC 7946), as written by map editors such as QGIS and geojson.io.
///
///     try await localizer.startMonitoring(GeofenceFile.read("geofences.geojson"))
///
/// The document is a FeatureCollection, or a single Feature. Each feature is a geofence:
///
/// | of a feature | content |
/// | --- | --- |
/// | `geometry` | a Polygon, a MultiPolygon, or a Point with the property `radius` in metres |
/// | `id` | a text or a number, or a property `id`, or the property `name` |
/// | [`name`] | the name for display, or an IMDF object of names by language, whose `en` or else first one counts; without it the `id` |
/// | [`level`], [`mapId`], [`venueId`] | the geofence's floor, map and venue; if absent, it is on every floor, on every map, in every venue |
/// | [`timeout`], [`exitDelay`], [`exitMargin`] | seconds, seconds and metres, as in ``Geofence`` |
/// | [`payload`] | any JSON value |
///
/// A `level` may be a number as text, such as `"3"`. Each further part of a MultiPolygon is a geofence of its own, with
/// the ids `ID/2`, `ID/3`, …. A hole is joined to the outline by a line without width, which a drawing shows.
///
/// In a document of `GeoJSONWriter`, only the fences are read: features of a `kind` other than `fence` and `geofence`
/// are ignored, as are other properties.
public enum GeofenceFile: Sendable {
    /// Reads a file of at most 16 MiB.
    ///
    /// - Throws: `GeofenceFileError` with all problems; then no geofence of the file is returned.
    public static func read(_ path: String) throws(GeofenceFileError) -> [Geofence] {
        let bytes: [UInt8]
        do throws(PacketFileError) {
            bytes = try GivenFile.read(path, limit: InputLimits.standard.venueFile, advice: "give a GeoJSON file")
        } catch {
            throw problem(of: path, error.message)
        }
        return try geofences(of: bytes, named: path)
    }

    /// Parses a document from another origin.
    ///
    /// - Parameter name: the name of the document in errors.
    /// - Throws: as `read(_:)`.
    public static func geofences(of bytes: [UInt8], named name: String) throws(GeofenceFileError) -> [Geofence] {
        let tree: JSONTree
        do throws(JSONDocumentError) { tree = try JSONTree(bytes) } catch { throw problem(of: name, error.message) }
        guard case .object(let fields) = tree else {
            throw problem(of: name, "the document is \(tree.summary); give a FeatureCollection")
        }
        var reader = GeofenceReader()
        let fences = reader.geofences(of: JSONObject(fields: fields, path: "$"))
        guard reader.problems.isEmpty else { throw GeofenceFileError(file: name, problems: reader.problems) }
        return fences
    }

    private static func problem(of file: String, _ message: String) -> GeofenceFileError {
        GeofenceFileError(file: file, problems: [VenueProblem(severity: .error, path: "$", message: message)])
    }
}

/// Parses a document into its geofences and a list of all problems.
private struct GeofenceReader {
    private var parser = VenueParser()
    /// The path of the first feature with each identifier.
    private var places: [String: String] = [:]

    var problems: [VenueProblem] { parser.problems }

    mutating func geofences(of root: JSONObject) -> [Geofence] {
        guard root.fields[GeoJSONWriter.frameMember] == nil else {
            parser.report(
                .error, "$.\(GeoJSONWriter.frameMember)",
                "says that the document is in the frame of a map; give a document with longitudes and latitudes")
            return []
        }
        guard let type = parser.string("type", of: root, wanted: "\"FeatureCollection\"") else { return [] }
        let features: [JSONObject]
        switch type {
        case "FeatureCollection": features = parser.objects("features", of: root, isRequired: true)
        case "Feature": features = [root]
        default:
            parser.report(.error, "$.type", "is \"\(type)\"; give \"FeatureCollection\" or \"Feature\"")
            return []
        }
        let fences = features.flatMap { geofences(feature: $0) }
        if fences.isEmpty, problems.isEmpty {
            parser.report(
                .error, "$",
                "contains no geofence; draw a Polygon, or a Point with the property radius; a property kind "
                    + "must be \"fence\" or \"geofence\"")
        }
        return fences
    }

    /// Returns the geofences of a feature: one for each part of its geometry.
    private mutating func geofences(feature: JSONObject) -> [Geofence] {
        if let type = parser.string("type", of: feature, wanted: "\"Feature\""), type != "Feature" {
            parser.report(.error, feature.path(of: "type"), "is \"\(type)\"; give \"Feature\"")
            return []
        }
        let properties =
            parser.optionalObject("properties", of: feature)
            ?? JSONObject(fields: [:], path: feature.path(of: "properties"))
        if let kind = parser.optionalString("kind", of: properties, wanted: "\"geofence\""),
            !["fence", "geofence"].contains(kind)
        {
            return []
        }
        let name = name(of: properties)
        let id = identifier(of: feature, properties, name)
        let shapes = shapes(of: feature, properties)
        let fence = Geofence(
            id: id ?? "", name: name, shape: shapes.first ?? .polygon([]),
            venueID: parser.optionalInteger("venueId", of: properties, .identifier).map { VenueID(rawValue: $0) },
            mapID: parser.optionalInteger("mapId", of: properties, .identifier).map { MapID(rawValue: $0) },
            level: level(of: properties),
            timeout: parser.optionalDuration("timeout", of: properties),
            exitDelay: parser.optionalDuration("exitDelay", of: properties),
            exitMargin: parser.optionalNumber("exitMargin", of: properties, .margin) ?? 0,
            payload: parser.payload(of: properties))
        guard let id else { return [] }
        return shapes.enumerated().map { index, shape in
            var part = fence
            part.shape = shape
            if index > 0 { part.id = unique("\(id)/\(index + 1)", at: feature.path) }
            if let problem = part.problem { parser.report(.error, feature.path, "\(problem)") }
            return part
        }
    }

    /// Returns the name; of an IMDF object of names by language, the English one, or else the first.
    private mutating func name(of properties: JSONObject) -> String? {
        if case .object(let names)? = properties["name"] {
            let texts = names.compactMapValues { if case .string(let text) = $0, !text.isEmpty { text } else { nil } }
            if let name = texts["en"] ?? texts.min(by: { $0.key < $1.key })?.value { return name }
        }
        return parser.optionalString("name", of: properties, wanted: "the geofence's name")
    }

    /// Returns the level, a number or its text.
    private mutating func level(of properties: JSONObject) -> Int? {
        if case .string(let text)? = properties["level"], let level = Int(text), IntegerRule.level.range.contains(level)
        {
            return level
        }
        return parser.optionalInteger("level", of: properties, .level)
    }

    /// Notes an identifier; reports a problem if another feature has it.
    private mutating func unique(_ id: String, at path: String) -> String {
        if let other = places.updateValue(path, forKey: id) {
            parser.report(.error, path, "\"\(id)\" is already the id of \(other); give each its own")
        }
        return id
    }

    /// Returns the feature's `id`, or the property `id`, or its name; reports a problem if another feature has the
    /// same.
    private mutating func identifier(of feature: JSONObject, _ properties: JSONObject, _ name: String?) -> String? {
        let (path, value) =
            if let value = feature["id"] {
                (feature.path(of: "id"), value)
            } else if let value = properties["id"] {
                (properties.path(of: "id"), value)
            } else {
                (properties.path(of: "name"), name.map(JSONTree.string) ?? .null)
            }
        let id: String
        switch value {
        case .string(let text) where !text.isEmpty: id = text
        case .number(let number): id = ShortestNumber.digits(number)
        case .null:
            parser.report(
                .error, feature.path(of: "id"), "is missing; give an id or a property name")
            return nil
        default: return parser.wrong(value, at: path, wanted: "a text or a number")
        }
        if let other = places[id] {
            parser.report(.error, path, "\"\(id)\" is already the id of \(other); give each its own")
        } else {
            places[id] = feature.path
        }
        return id
    }

    private mutating func shapes(of feature: JSONObject, _ properties: JSONObject) -> [Geofence.Shape] {
        let wanted = "a Polygon, a MultiPolygon, or a Point with the property radius"
        guard parser.required("geometry", of: feature, wanted: wanted),
            let object = parser.optionalObject("geometry", of: feature), let geometry = parser.geometry(of: object)
        else { return [] }
        switch geometry {
        case .point(let center):
            return parser.number("radius", of: properties, .length).map { [.circle(center: center, radius: $0)] } ?? []
        case .polygons(let polygons):
            let corners = polygons.joined().reduce(0) { $0 + $1.count }
            // The corners of an outline and its holes are compared with each other.
            guard corners <= Self.mostCorners || polygons.allSatisfy({ $0.count == 1 }) else {
                parser.report(
                    .error, object.path(of: "coordinates"),
                    "has holes and \(corners) corners, more than the limit of \(Self.mostCorners); simplify it")
                return []
            }
            return polygons.map { .polygon(Self.outline(around: $0)) }
        case .lines:
            parser.report(.error, object.path(of: "type"), "is a line, which encloses no area; give \(wanted)")
            return []
        }
    }

    /// The most corners of a shape with holes.
    private static let mostCorners = 2_000

    /// Returns one outline of a polygon with holes: from its nearest corner, a line there and back joins each hole.
    ///
    /// Such a line encloses no area, and by the even-odd rule a place in a hole is outside.
    private static func outline(around polygon: GeoJSONGeometry.Polygon) -> [Coordinate] {
        guard var outline = polygon.first else { return [] }
        for hole in polygon.dropFirst() {
            var best: (distance: Double, corner: Int, start: Int)?
            for (corner, place) in outline.enumerated() {
                for (start, other) in hole.enumerated() {
                    // Any line is valid; in degrees, a short one is found fast.
                    let (x, y) = (place.longitude - other.longitude, place.latitude - other.latitude)
                    let distance = x * x + y * y
                    if distance < best?.distance ?? .infinity { best = (distance, corner, start) }
                }
            }
            guard let best else { continue }
            let ring = hole[best.start...] + hole[..<best.start] + [hole[best.start]]
            outline.insert(contentsOf: ring + [outline[best.corner]], at: best.corner + 1)
        }
        return outline
    }
}
