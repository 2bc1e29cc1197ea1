import IndoorVocabulary
import TextFormats
import VenueModel

/// Translates the elements of a file to the features of an indoor map, which an import converts to a venue.
struct OSMTranslation {
    /// A space on a level.
    struct Space: Sendable {
        let id: String
        let level: Int
        let isShaft: Bool
        let polygons: [GeoJSONGeometry.Polygon]
        let box: OSMBox
    }

    /// Limits that keep the work within reasonable time.
    enum Limit {
        /// Spaces and walls, each counted on each of its levels.
        static let things = 50_000
        /// Corners of all spaces.
        static let corners = 500_000
        /// Stairs drawn as lines, and elevators drawn as points on each of their levels; an airport has some 300.
        static let shafts = 1_000
        /// Spaces that are used to select the venue's building.
        static let samples = 100
    }

    let document: OSMDocument
    let shapes: OSMShapes
    let language: String?
    private(set) var problems: [OSMProblem] = []
    private(set) var remarks: [IMDFReport.Remark] = []
    /// The features of the map.
    var contents = IMDFContents()
    var beacons: [OSMBeacon] = []
    var identities: Set<BeaconIdentity> = []
    var spaces: [Space] = []
    /// The outlines and names of levels.
    var levelElements: [Int: [OSMElement]] = [:]
    /// The ways with walls on each level, by their nodes.
    var outlines: [Int64: [OSMOutline]] = [:]
    var buildings: [OSMElement] = []
    /// The levels with a map.
    private(set) var mapLevels: Set<Int> = []
    /// Degrees around the spaces in which points belong to them, for beacons on outer walls: at most 3 m, which is
    /// within the margin of a frame.
    private static let margin = 2.7e-5

    /// The smallest box around all spaces.
    private var bounds = OSMBox(around: [Coordinate]())
    var corners = 0
    var shafts = 0

    init(_ document: OSMDocument, language: String?) {
        self.document = document
        self.language = language
        shapes = OSMShapes(document: document)
        contents.advice = .openStreetMap
    }

    /// Returns the feature of the venue; nil if there is no indoor map.
    mutating func translate() -> IMDFFeature? {
        for element in document.elements where element.kind != .node { addShape(element) }
        guard problems.isEmpty else { return nil }
        guard !spaces.isEmpty else {
            problem(
                nil,
                "it has no indoor=room, indoor=area or indoor=corridor with a level: it has no indoor map in "
                    + "Simple Indoor Tagging")
            return nil
        }
        bounds = OSMBox(around: spaces.lazy.flatMap { $0.polygons.joined().joined() })
        let venue = addVenue()
        let mostMaps = InputLimits.standard.maps
        if mapLevels.count > mostMaps {
            problem(nil, "it has \(mapLevels.count) levels, more than the limit of \(mostMaps); correct the tags level")
            return nil
        }
        for element in document.elements { addPassage(element) }
        for element in document.elements where element.kind == .node { addPoint(element) }
        return venue
    }

    // MARK: Report

    mutating func problem(_ element: OSMElement?, _ message: String) {
        guard problems.count < InputLimits.standard.problems else { return }
        problems.append(OSMProblem(line: element?.line, element: element?.name ?? "", message: message))
    }

    mutating func remark(_ element: OSMElement, _ outcome: IMDFReport.Outcome, _ reason: String) {
        remarks.append(
            IMDFReport.Remark(
                featureType: element.kind.rawValue, id: element.name, outcome: outcome, reason: reason))
    }

    /// Returns whether there is room for another space or wall.
    mutating func hasRoom(for element: OSMElement) -> Bool {
        let count = contents[.unit].count + contents[.fixture].count
        if count == Limit.things {
            problem(element, "it exceeds the limit of \(Limit.things) spaces and walls; extract fewer buildings")
        }
        return count < Limit.things
    }

    /// Returns the levels of an element; none if its tags are missing or invalid, which is reported.
    mutating func levels(of element: OSMElement, key: String = "level") -> [Int] {
        guard let text = element.tags[key] else {
            remark(element, .leftOut, "it has no level, so the map that it belongs to is not known")
            return []
        }
        guard var levels = OSMLevels(text) else {
            problem(element, "its \(key) is \"\(text)\"; give levels within ±1000, such as 0, 0;1 or -1-3")
            return []
        }
        if let text = element.tags["repeat_on"] {
            guard let others = OSMLevels(text) else {
                problem(element, "its repeat_on is \"\(text)\"; give levels within ±1000, such as 0, 0;1 or -1-3")
                return []
            }
            levels = levels.union(others)
        }
        if levels.hasFraction {
            remark(
                element, levels.whole.isEmpty ? .leftOut : .changed,
                "a level of it lies between two others; a packet has whole levels")
        }
        return levels.whole
    }

    static func id(ofLevel level: Int) -> String { "level/\(level)" }

    /// Returns the tags of an element as properties.
    func properties(of element: OSMElement, without used: Set<String>) -> [String: JSONTree] {
        element.tags.filter { !used.contains($0.key) && !$0.key.hasPrefix("name") }.mapValues { .string($0) }
    }

    mutating func add(
        _ type: IMDFFeatureType, _ id: String, _ geometry: GeoJSONGeometry?, _ properties: [String: JSONTree]
    ) {
        contents.features[type, default: []].append(
            IMDFFeature(
                type: type, id: id, geometry: geometry, properties: JSONObject(fields: properties, path: "$"),
                displayPoint: nil))
    }

    // MARK: Venue and levels

    /// Adds the levels, and returns the venue: the building with most of the spaces.
    private mutating func addVenue() -> IMDFFeature {
        let samples = spaces.prefix(Limit.samples).compactMap { $0.polygons.first?.first?.first }
        var best: (element: OSMElement, polygons: [GeoJSONGeometry.Polygon], count: Int)?
        for building in buildings {
            // A building that is incomplete at the edge of the file isn't the venue's building.
            guard let polygons = try? shapes.polygons(of: building) else { continue }
            let box = OSMBox(around: polygons.joined().joined())
            let count = samples.count { place in box.contains(place) }
            if count > best?.count ?? 0 { best = (building, polygons, count) }
        }
        addLevels(best?.polygons)
        var fields: [String: JSONTree] = [:]
        fields["name"] = best?.element.label
        return IMDFFeature(
            type: .venue, id: best?.element.name ?? spaces[0].id,
            geometry: best.map { .polygons($0.polygons) }, properties: JSONObject(fields: fields, path: "$"),
            displayPoint: nil)
    }

    /// Adds a level for each level with a space or an outline of its own.
    private mutating func addLevels(_ building: [GeoJSONGeometry.Polygon]?) {
        let byLevel = Dictionary(grouping: spaces) { $0.level }
        for level in Set(byLevel.keys).union(levelElements.keys).sorted() {
            let elements = levelElements[level] ?? []
            let outlines = elements.flatMap { (try? shapes.polygons(of: $0)) ?? [] }
            let places = (byLevel[level] ?? []).flatMap { $0.polygons.joined().joined() }
            let box = places.isEmpty ? [] : [[OSMBox(around: places).ring]]
            let label = elements.compactMap(\.label).first
            let reference = elements.compactMap { $0.tags["level:ref"] ?? $0.tags["ref"] }.first
            var fields: [String: JSONTree] = [
                "ordinal": .number(Double(level)), "building_ids": .array([.string("file")]),
                "short_name": .object([language ?? "": .string(reference ?? "Level \(level)")]),
            ]
            fields["name"] = label
            let polygons = outlines.isEmpty ? building ?? box : outlines
            add(.level, Self.id(ofLevel: level), .polygons(polygons), fields)
            mapLevels.insert(level)
        }
    }

    /// Returns whether a place lies on the map of a level.
    func hasMap(_ level: Int, at place: Coordinate) -> Bool {
        mapLevels.contains(level) && bounds.contains(place, margin: Self.margin)
    }
}
