import IndoorVocabulary
import TextFormats
import VenueModel

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
            problem(element, "it exceeds the limit of \(Limit.shafts) stairs and elevators; extract fewer buildings")
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
