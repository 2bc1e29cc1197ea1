import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

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
    /// What makes the whole file unusable.
    private(set) var problems: [OSMProblem] = []
    /// What makes single elements unusable; the remarks name them, too.
    private(set) var flaws: [OSMProblem] = []
    private(set) var remarks: [IMDFReport.Remark]
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
        remarks = document.remarks
    }

    /// Returns the feature of the venue; nil if there is no indoor map.
    mutating func translate() -> IMDFFeature? {
        for element in document.elements where element.kind != .node { addShape(element) }
        guard problems.isEmpty else { return nil }
        guard !spaces.isEmpty else {
            // The spaces that can't be used say more.
            guard flaws.isEmpty else { return nil }
            refuse(
                nil,
                "it has no indoor=room, indoor=area or indoor=corridor with a level: it has no indoor map in "
                    + "Simple Indoor Tagging")
            return nil
        }
        bounds = OSMBox(around: spaces.lazy.flatMap { $0.polygons.joined().joined() })
        let venue = addVenue()
        let mostMaps = InputLimits.standard.maps
        if mapLevels.count > mostMaps {
            refuse(nil, "it has \(mapLevels.count) levels, more than the limit of \(mostMaps); correct the tags level")
            return nil
        }
        for element in document.elements { addPassage(element) }
        for element in document.elements where element.kind == .node { addPoint(element) }
        return venue
    }

    // MARK: Report

    /// Reports a problem that no import can work around.
    mutating func refuse(_ element: OSMElement?, _ message: String) {
        guard problems.count < InputLimits.standard.problems else { return }
        problems.append(OSMProblem(line: element?.line, element: element?.name ?? "", message: message))
    }

    /// Reports an element that can't be used, or is used in part.
    mutating func problem(_ element: OSMElement, _ message: String, _ outcome: IMDFReport.Outcome = .leftOut) {
        if flaws.count < InputLimits.standard.problems {
            flaws.append(OSMProblem(line: element.line, element: element.name, message: message))
        }
        remark(element, outcome, message)
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
            refuse(element, "it exceeds the limit of \(Limit.things) spaces and walls; extract fewer buildings")
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

/// A line with walls on some levels, on which doors can lie.
struct OSMOutline: Sendable {
    let levels: Set<Int>
    /// The nodes before and after the node of a door; nil at the end of a wall.
    let before: Int64?
    let after: Int64?
}

/// Translates spaces, walls and outlines.
extension OSMTranslation {
    /// Adds a way or a multipolygon of an indoor map.
    mutating func addShape(_ element: OSMElement) {
        switch OSMKind(element) {
        case .space(let category): addSpace(element, category)
        case .solid: addSpace(element, "column")
        case .wall: addWall(element)
        case .level:
            guard !outline(of: element).isEmpty else { return }
            for level in levels(of: element) {
                levelElements[level, default: []].append(element)
            }
        case .building: buildings.append(element)
        case .leftOut(let reason): remark(element, .leftOut, reason)
        case .door, .doorArea, .steps, nil: break
        }
    }

    /// Returns the polygons of an area; none if it isn't one, which is reported.
    private mutating func outline(of element: OSMElement) -> [GeoJSONGeometry.Polygon] {
        do throws(OSMShapes.Problem) {
            return try shapes.polygons(of: element)
        } catch {
            problem(element, error.message)
            return []
        }
    }

    // MARK: Spaces

    private mutating func addSpace(_ element: OSMElement, _ category: String) {
        let levels = self.levels(of: element)
        let polygons = outline(of: element)
        guard !levels.isEmpty, !polygons.isEmpty else { return }
        let box = OSMBox(around: polygons.joined().joined())
        let isShaft = ["elevator", "escalator", "stairs"].contains(category)
        if levels.count > 1, !isShaft, category != "column", element.tags["repeat_on"] == nil {
            remark(element, .changed, "it extends over several levels: it is a space on each of them")
        }
        var fields = properties(
            of: element,
            without: [
                "indoor", "level", "repeat_on", "room", "stairs", "highway", "conveying", "access", "type", "area",
                "ref",
                "level:ref", "building", "category", "level_id", "restriction",
            ])
        fields["category"] = .string(category)
        fields["name"] = spaceName(of: element, category)
        if element.isPrivate { fields["restriction"] = .string("restricted") }
        for level in levels {
            corners += polygons.joined().reduce(0) { $0 + $1.count }
            guard hasRoom(for: element), corners <= Limit.corners else {
                if corners > Limit.corners {
                    refuse(element, "it exceeds the limit of \(Limit.corners) corners; extract fewer buildings")
                }
                return
            }
            let id = "\(element.name)@\(level)"
            fields["level_id"] = .string(Self.id(ofLevel: level))
            add(.unit, id, .polygons(polygons), fields)
            spaces.append(Space(id: id, level: level, isShaft: isShaft, polygons: polygons, box: box))
        }
        addOutlines(of: element, on: Set(levels))
    }

    /// Returns the name of a space: its name, its number, or its purpose in words.
    private mutating func spaceName(of element: OSMElement, _ category: String) -> JSONTree? {
        guard category != "column" else { return nil }
        if let label = element.label {
            if let number = element.tags["ref"] {
                remark(element, .changed, "it has a name: its ref \(number) is not kept")
            }
            return label
        }
        if let number = element.tags["ref"], !number.isEmpty { return .object([language ?? "": .string(number)]) }
        remark(element, .changed, "it has neither name nor ref: it is named after its kind")
        let kinds = ["unenclosedarea": "area", "walkway": "corridor"]
        return .object([language ?? "": .string(element.purpose ?? kinds[category] ?? category)])
    }

    /// Notes the lines that doors can lie on.
    private mutating func addOutlines(of element: OSMElement, on levels: Set<Int>) {
        guard let rings = try? shapes.rings(of: element) else { return }
        for ring in rings.outer + rings.inner {
            for (index, node) in ring.enumerated() where document.nodes[node]?.isDoor == true {
                outlines[node, default: []].append(
                    OSMOutline(
                        levels: levels, before: ring[(index + ring.count - 1) % ring.count],
                        after: ring[(index + 1) % ring.count]))
            }
        }
    }

    // MARK: Walls

    private mutating func addWall(_ element: OSMElement) {
        let levels = self.levels(of: element)
        let line: [Coordinate]
        do throws(OSMShapes.Problem) {
            line = try shapes.coordinates(of: element.nodes)
        } catch {
            return problem(element, error.message)
        }
        guard line.count > 1 else { return problem(element, "it has fewer than two nodes; give a line") }
        // The line forwards and then backwards: a ring that encloses no area.
        let ring = line + line.dropFirst().dropLast().reversed()
        for level in levels {
            corners += ring.count
            guard hasRoom(for: element), corners <= Limit.corners else { return }
            add(
                .fixture, "\(element.name)@\(level)", .polygons([[ring]]),
                ["category": .string("wall"), "level_id": .string(Self.id(ofLevel: level))])
        }
        for (index, node) in element.nodes.enumerated() where document.nodes[node]?.isDoor == true {
            outlines[node, default: []].append(
                OSMOutline(
                    levels: Set(levels), before: index > 0 ? element.nodes[index - 1] : nil,
                    after: index + 1 < element.nodes.count ? element.nodes[index + 1] : nil))
        }
    }
}

/// Translates doors, stairs and elevators.
extension OSMTranslation {
    /// The width of a door in metres without a tag `width`, and the widths that one can have.
    private static let doorWidth = 1.0
    private static let doorWidths = 0.4...20.0
    /// The smallest cosine of the angle between the two sides of a door: up to 30°, they are one straight wall.
    private static let straight = 0.866

    /// Adds a door, stairs drawn as a line, or an elevator drawn as a point.
    mutating func addPassage(_ element: OSMElement) {
        if element.kind == .node {
            if element.isDoor {
                addDoor(element)
            } else if element.has("highway", "elevator") {
                addElevator(element)
            }
            return
        }
        switch OSMKind(element) {
        case .door: addDoorLine(element)
        case .doorArea: addDoorArea(element)
        case .steps: addSteps(element)
        default: break
        }
    }

    // MARK: Doors

    private mutating func addDoor(_ node: OSMElement) {
        let outlines = self.outlines[node.id] ?? []
        guard !outlines.isEmpty else {
            // Doors of buildings that have no indoor map are ignored.
            if node.tags["level"] != nil || node.tags["indoor"] != nil {
                remark(node, .leftOut, "no outline of a space and no wall contains it, so it opens no wall")
            }
            return
        }
        // A door between a room and a corridor that repeats on other levels is on the level of the room.
        let common = outlines.dropFirst().reduce(outlines[0].levels) { $0.intersection($1.levels) }
        var levels = common.isEmpty ? Set(outlines.flatMap(\.levels)) : common
        if node.tags["level"] != nil {
            let own = self.levels(of: node)
            if !own.isEmpty { levels = Set(outlines.flatMap(\.levels)).intersection(own) }
        }
        for level in levels.sorted() {
            guard let outline = outlines.first(where: { $0.levels.contains(level) }),
                let line = line(through: node, outline)
            else { continue }
            addOpening(node, on: level, line)
        }
    }

    private mutating func addOpening(_ element: OSMElement, on level: Int, _ line: [Coordinate]) {
        guard mapLevels.contains(level) else { return }
        add(
            .opening, "\(element.name)@\(level)", .lines([line]),
            ["category": .string("pedestrian"), "level_id": .string(Self.id(ofLevel: level))])
    }

    /// Returns the line of a door along its wall: to both sides in a straight wall, along the longer side at a corner.
    private func line(through node: OSMElement, _ outline: OSMOutline) -> [Coordinate]? {
        guard let place = node.coordinate else { return nil }
        let written = node.tags["width"].flatMap(Double.init) ?? Self.doorWidth
        let width = min(max(written, Self.doorWidths.lowerBound), Self.doorWidths.upperBound)
        let plane = LocalTangentPlane(origin: place)
        let sides = [outline.before, outline.after].compactMap { id -> MapPoint? in
            guard let neighbour = id.flatMap({ document.nodes[$0]?.coordinate }) else { return nil }
            let offset = plane.offset(of: neighbour)
            let side = MapPoint(x: offset.east, y: offset.north)
            return side.distance(to: MapPoint(x: 0, y: 0)) > 0.01 ? side : nil
        }.map { (way: $0, length: $0.distance(to: MapPoint(x: 0, y: 0))) }
        func end(_ side: (way: MapPoint, length: Double), _ metres: Double) -> Coordinate {
            let point = side.way * (min(metres, side.length) / side.length)
            return plane.coordinate(east: point.x, north: point.y)
        }
        guard let longest = sides.max(by: { $0.length < $1.length }) else { return nil }
        if sides.count == 2 {
            let product = sides[0].way.x * sides[1].way.x + sides[0].way.y * sides[1].way.y
            if -product / (sides[0].length * sides[1].length) >= Self.straight {
                return sides.map { end($0, width / 2) }
            }
        }
        return [place, end(longest, width)]
    }

    private mutating func addDoorLine(_ way: OSMElement) {
        guard way.tags["level"] != nil else { return }
        do throws(OSMShapes.Problem) {
            let line = try shapes.coordinates(of: way.nodes)
            guard line.count > 1 else { return problem(way, "it has fewer than two nodes; give a line") }
            for level in levels(of: way) { addOpening(way, on: level, line) }
        } catch {
            problem(way, error.message)
        }
    }

    /// Adds a door that is drawn as an area: its opening is the middle line of the area along its longer side.
    private mutating func addDoorArea(_ element: OSMElement) {
        let levels = self.levels(of: element)
        guard !levels.isEmpty else { return }
        do throws(OSMShapes.Problem) {
            for polygon in try shapes.polygons(of: element) {
                guard let axis = polygon.first.flatMap({ OSMShapes.axis(of: $0) }),
                    axis.length <= Self.doorWidths.upperBound
                else {
                    let most = Int(Self.doorWidths.upperBound)
                    remark(element, .leftOut, "it is a door that has no width, or is wider than \(most) m")
                    continue
                }
                for level in levels { addOpening(element, on: level, axis.line) }
            }
        } catch {
            problem(element, error.message)
        }
    }

    // MARK: Stairs and elevators

    /// Returns the space at a node on a level; a space for people to walk to has precedence over a shaft.
    private func space(at node: Int64, on level: Int) -> String? {
        guard let place = document.nodes[node]?.coordinate else { return nil }
        let found = spaces.filter { space in
            space.level == level && space.box.contains(place)
                && space.polygons.contains { polygon in
                    polygon.first.map { $0.contains(place) || OSMShapes.contains(place, $0) } ?? false
                }
        }
        return (found.first { !$0.isShaft } ?? found.first)?.id
    }

    /// Counts the levels that a shaft needs; false if there are too many.
    private mutating func hasRoom(for element: OSMElement, shafts count: Int) -> Bool {
        shafts += count
        if shafts > Limit.shafts {
            refuse(element, "it exceeds the limit of \(Limit.shafts) stairs and elevators; extract fewer buildings")
        }
        return shafts <= Limit.shafts
    }

    private mutating func join(
        _ element: OSMElement, _ category: String, _ from: (space: String, level: Int),
        _ to: (space: String, level: Int), isOneWay: Bool = false
    ) {
        func end(_ id: String) -> JSONTree { .object(["id": .string(id), "feature_type": .string("unit")]) }
        add(
            .relationship, "\(element.name)@\(from.level)-\(to.level)", nil,
            [
                "category": .string(category), "origin": end(from.space), "destination": end(to.space),
                "direction": .string(isOneWay ? "directed" : "undirected"),
            ])
    }

    /// Joins the spaces at the ends of stairs, drawn as a line.
    private mutating func addSteps(_ way: OSMElement) {
        if way.tags["repeat_on"] != nil {
            remark(way, .changed, "its repeat_on is not kept; draw the stairs of each level")
        }
        guard let text = way.tags["level"], let levels = OSMLevels(text)?.whole else {
            return problem(way, "its level is not a list of levels; give the lower and the upper one, such as 0;1")
        }
        guard let low = levels.first, let high = levels.last, low < high else {
            return remark(way, .leftOut, "it does not lead from one level to another; give both levels, such as 0;1")
        }
        guard hasRoom(for: way, shafts: 1), let first = way.nodes.first, let last = way.nodes.last else { return }
        let isDown = way.has("incline", "down") || (way.tags["incline"]?.hasPrefix("-") ?? false)
        let isUp = !isDown && way.tags["incline"] != nil
        var ends: (low: Int64, high: Int64) = isDown ? (last, first) : (first, last)
        if !isDown, !isUp, space(at: first, on: low) == nil || space(at: last, on: high) == nil { ends = (last, first) }
        guard let lower = space(at: ends.low, on: low), let upper = space(at: ends.high, on: high) else {
            return remark(way, .leftOut, "its ends are not in a space of its lower and one of its upper level")
        }
        let bottom = (space: lower, level: low)
        let top = (space: upper, level: high)
        let isForwards = way.has("conveying", "forward")
        let isOneWay = isForwards || way.has("conveying", "backward")
        let goesUp = !isOneWay || (ends.low == first) == isForwards
        join(
            way, way.isEscalator ? "escalator" : "stairs", goesUp ? bottom : top, goesUp ? top : bottom,
            isOneWay: isOneWay)
    }

    /// Joins the spaces around an elevator, drawn as a point.
    private mutating func addElevator(_ node: OSMElement) {
        let levels = self.levels(of: node)
        guard hasRoom(for: node, shafts: levels.count) else { return }
        let stops = levels.compactMap { level in space(at: node.id, on: level).map { (space: $0, level: level) } }
        guard stops.count > 1 else {
            return remark(node, .leftOut, "it is not in a space on two of its levels")
        }
        for (lower, upper) in zip(stops, stops.dropFirst()) { join(node, "elevator", lower, upper) }
    }
}

/// A beacon of a file with the level of its map.
struct OSMBeacon: Sendable {
    let levelID: String
    let place: Coordinate
    let identity: BeaconIdentity
    let address: DeviceAddress?
    let height: Double?
    let measuredPower: Double?

    func placed(on plan: IMDFConversion.Plan) -> VenueBeacon {
        VenueBeacon(
            identity: identity, address: address, mapID: plan.id, point: plan.frame.point(at: place), z: height,
            measuredPower: measuredPower)
    }
}

/// Translates beacons and points of interest.
extension OSMTranslation {
    /// Adds a node with a level that is a beacon or a point of interest.
    mutating func addPoint(_ node: OSMElement) {
        guard let place = node.coordinate else { return }
        if node.has("indoormark", "beacon") { return addBeacon(node, place) }
        // A node without a level is outdoors.
        guard node.tags["level"] != nil, !node.isDoor, !node.has("highway", "elevator") else { return }
        guard node.label != nil || node.purpose != nil else {
            return remark(node, .leftOut, "it has a level, but neither a name nor a purpose")
        }
        let levels = self.levels(of: node).filter { hasMap($0, at: place) }
        guard !levels.isEmpty else {
            return remark(node, .leftOut, "no space is on its level or around it, so it has no map")
        }
        let purpose = node.purpose ?? "place"
        var fields = node.tags.mapValues { JSONTree.string($0) }
        fields["category"] = .string(purpose)
        fields["name"] = node.label
        fields["level_id"] = .array(levels.map { .string(Self.id(ofLevel: $0)) })
        add(.amenity, node.name, .point(place), fields)
    }

    // MARK: Beacons

    private mutating func addBeacon(_ node: OSMElement, _ place: Coordinate) {
        let type = node.tags["beacon:type"]?.lowercased()
        if let type, !["bluetooth", "ibeacon", "ble"].contains(type) {
            return remark(node, .leftOut, "it is a beacon of the type \(type); a packet has Bluetooth beacons")
        }
        let levels = self.levels(of: node)
        guard !levels.isEmpty else { return }
        guard let level = levels.first(where: { hasMap($0, at: place) }) else {
            return remark(node, .leftOut, "no space is on its level or around it, so it has no map")
        }
        if levels.count > 1 { remark(node, .changed, "it has several levels: it is on the lowest") }
        let missing = ["beacon:uuid", "beacon:major", "beacon:minor"].filter { node.tags[$0] == nil }
        guard missing.isEmpty else {
            return remark(
                node, .leftOut, "it has no \(missing.joined(separator: ", no ")); add the beacon to the packet by hand")
        }
        guard let identity = identity(of: node) else { return }
        var address: DeviceAddress?
        if let text = node.tags["beacon:address"] {
            address = DeviceAddress(text)
            if address == nil {
                problem(
                    node, "its beacon:address is \"\(text)\"; give six hexadecimal pairs with colons", .changed)
            }
        }
        guard identities.insert(identity).inserted else {
            return problem(node, "another beacon has the identity \(identity); give each its own")
        }
        let height = number("height", of: node, .height)
        let power = number("beacon:measured", of: node, .measuredPower)
        beacons.append(
            OSMBeacon(
                levelID: Self.id(ofLevel: level), place: place, identity: identity, address: address, height: height,
                measuredPower: power))
    }

    private mutating func identity(of node: OSMElement) -> BeaconIdentity? {
        let text = node.tags["beacon:uuid"] ?? ""
        let uuid = BeaconUUID(text)
        if uuid == nil {
            problem(node, "its beacon:uuid is \"\(text)\"; give 32 hexadecimal digits as 8-4-4-4-12")
        }
        let numbers = ["beacon:major", "beacon:minor"].map { key -> UInt16? in
            let text = node.tags[key] ?? ""
            let number = UInt16(text)
            if number == nil { problem(node, "its \(key) is \"\(text)\"; give a whole number in [0, 65535]") }
            return number
        }
        guard let uuid, let major = numbers[0], let minor = numbers[1] else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    /// Returns the number of a tag; nil if there is none or if it is invalid, which is reported.
    private mutating func number(_ key: String, of node: OSMElement, _ rule: NumberRule) -> Double? {
        guard let text = node.tags[key] else { return nil }
        guard let number = Double(text), rule.accepts(number) else {
            problem(node, "its \(key) is \"\(text)\"; give \(rule.wanted)", .changed)
            return nil
        }
        return number
    }
}
