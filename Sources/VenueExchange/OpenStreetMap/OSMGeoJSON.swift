import IndoorVocabulary
import TextFormats
import VenuePackets

/// Reads the elements of OpenStreetMap from GeoJSON.
///
/// JOSM writes the tags of an element as properties of its feature; overpass turbo (osmtogeojson) also writes the id,
/// such as `way/123`, and may write the tags in `properties.tags`. Places with the same coordinates are one node, so that
/// a door on an outline is a node of it. A feature without an id gets the negative number of its place in the file.
struct OSMGeoJSON {
    /// A feature that can't be used.
    struct Flaw {
        let kind: String
        let element: String
        let message: String
    }

    private(set) var problems: [OSMProblem] = []
    private(set) var flaws: [Flaw] = []
    private var elements: [OSMElement] = []
    /// The nodes by their place; a door before others.
    private var nodes: [Coordinate: Int64] = [:]
    /// The ids of the features that are points. A second feature of an id is left out later.
    private var points: Set<Int64> = []
    private var corners: [OSMElement] = []
    private var rings: [OSMElement] = []
    /// The ids of nodes and ways that no feature has.
    private var nextID = Int64.min

    /// Returns whether a document begins as JSON, behind white space and a byte order mark.
    static func begins(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.dropFirst(ByteOrderMark.length(in: bytes)).first { !"\r\n\t ".utf8.contains($0) }
            == UInt8(ascii: "{")
    }

    /// Returns the elements of a document.
    mutating func elements(of bytes: [UInt8]) -> [OSMElement] {
        let tree: JSONTree
        do throws(JSONDocumentError) { tree = try JSONTree(bytes) } catch {
            refuse(error.message)
            return []
        }
        guard case .object(let root) = tree, root["type"] == .string("FeatureCollection"),
            case .array(let features)? = root["features"]
        else {
            refuse("it is JSON, but no GeoJSON FeatureCollection; give an .osm file, or GeoJSON of its elements")
            return []
        }
        var shapes: [(element: OSMElement, geometry: GeoJSONGeometry)] = []
        for (index, feature) in features.enumerated() {
            guard let (element, geometry) = self.feature(feature, at: index) else { continue }
            if let place = geometry.point {
                add(element, at: place)
            } else {
                shapes.append((element, geometry))
            }
        }
        for (element, geometry) in shapes { add(element, geometry) }
        return corners + rings + elements
    }

    private mutating func refuse(_ message: String) {
        problems.append(OSMProblem(line: nil, element: "", message: message))
    }

    // MARK: Features

    private mutating func feature(_ tree: JSONTree, at index: Int) -> (OSMElement, GeoJSONGeometry)? {
        let path = "$.features[\(index)]"
        guard case .object(let fields) = tree else {
            flaws.append(Flaw(kind: "feature", element: path, message: "it is \(tree.summary); give a feature"))
            return nil
        }
        var properties: [String: JSONTree] = [:]
        if case .object(let object)? = fields["properties"] { properties = object }
        let own: [String: JSONTree] = if case .object(let tags)? = properties["tags"] { tags } else { properties }
        var tags = own.filter { !["id", "@id", "tags"].contains($0.key) }.compactMapValues(Self.text)
        var parser = VenueParser()
        let name = Self.name(of: fields, properties)
        guard let member = parser.optionalObject("geometry", of: JSONObject(fields: fields, path: path)),
            let geometry = parser.geometry(of: member)
        else {
            let problem = parser.problems.first.map { "\($0.path) \($0.message)" } ?? "it has no geometry"
            let element = name.map { "\($0.kind.rawValue)/\($0.id)" } ?? path
            flaws.append(Flaw(kind: name?.kind.rawValue ?? "feature", element: element, message: problem))
            return nil
        }
        let kind: OSMElement.Kind =
            switch geometry {
            case .point: .node
            case .lines(let lines): lines.count == 1 ? .way : .relation
            case .polygons(let polygons): polygons.count == 1 && polygons[0].count == 1 ? .way : .relation
            }
        // A relation of one outline has the geometry of a way.
        let isRelation = kind == .way && name?.kind == .relation
        if kind == .relation || isRelation { tags["type"] = "multipolygon" }
        // A feature of another geometry than its element's, such as the centre of a way, has no id of that kind.
        let isOwn = name?.kind == kind || kind == .way && isRelation
        let id = name.flatMap { isOwn ? $0.id : nil } ?? -Int64(index + 1)
        var element = OSMElement(kind: isRelation ? .relation : kind, id: id, line: nil)
        element.tags = tags
        return (element, geometry)
    }

    /// Returns the kind and id of a feature: its `id`, or the property `@id` or `id`, such as `way/123`.
    private static func name(
        of fields: [String: JSONTree], _ properties: [String: JSONTree]
    ) -> (kind: OSMElement.Kind, id: Int64)? {
        for value in [fields["id"], properties["@id"], properties["id"]] {
            guard case .string(let text)? = value else { continue }
            let parts = text.split(separator: "/")
            if parts.count == 2, let kind = OSMElement.Kind(rawValue: String(parts[0])), let id = Int64(parts[1]) {
                return (kind, id)
            }
        }
        if case .string(let type)? = properties["type"], let kind = OSMElement.Kind(rawValue: type),
            let id = properties["id"].flatMap(Self.text).flatMap({ Int64($0) })
        {
            return (kind, id)
        }
        return nil
    }

    /// Returns the text of a tag; a level may be a number.
    private static func text(_ value: JSONTree) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): ShortestNumber.digits(number)
        default: nil
        }
    }

    // MARK: Nodes and ways

    private mutating func add(_ element: OSMElement, at place: Coordinate) {
        var node = element
        node.coordinate = place
        elements.append(node)
        guard points.insert(node.id).inserted else { return }
        if nodes[place] == nil || node.isDoor { nodes[place] = node.id }
    }

    private mutating func add(_ element: OSMElement, _ geometry: GeoJSONGeometry) {
        var element = element
        switch geometry {
        case .point: return
        case .lines(let lines):
            if element.kind == .way { element.nodes = lines.flatMap { nodes(at: $0) } }
            for line in lines where element.kind == .relation { add(line, as: "outer", to: &element) }
        case .polygons(let polygons):
            for polygon in polygons {
                for (index, ring) in polygon.enumerated() {
                    let closed = ring + ring.prefix(1)
                    if element.kind == .way {
                        element.nodes = nodes(at: closed)
                    } else {
                        add(closed, as: index == 0 ? "outer" : "inner", to: &element)
                    }
                }
            }
        }
        elements.append(element)
    }

    private mutating func add(_ line: [Coordinate], as role: String, to relation: inout OSMElement) {
        var way = OSMElement(kind: .way, id: newID(), line: nil)
        way.nodes = nodes(at: line)
        rings.append(way)
        relation.members.append(.init(kind: .way, id: way.id, role: role))
    }

    private mutating func newID() -> Int64 {
        defer { nextID += 1 }
        return nextID
    }

    private mutating func nodes(at places: [Coordinate]) -> [Int64] {
        places.map { place in
            if let id = nodes[place] { return id }
            var node = OSMElement(kind: .node, id: newID(), line: nil)
            node.coordinate = place
            corners.append(node)
            nodes[place] = node.id
            return node.id
        }
    }
}
