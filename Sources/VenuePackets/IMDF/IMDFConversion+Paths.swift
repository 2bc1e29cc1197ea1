import IndoorVocabulary
import VenueModel

/// Creates the path graph: paths on each level, and between levels by vertical units and relationships.
extension IMDFConversion {
    /// The cost of a floor change in metres of walking, because IMDF has no heights: two flights of stairs, the wait
    /// for an elevator, the ride on an escalator.
    private static let costs: [PathGraph.Edge.Kind: Double] = [.stairs: 14, .elevator: 30, .escalator: 10]

    // MARK: On a level

    /// Adds the paths of a level.
    mutating func addPaths(on plan: Plan, _ walls: IMDFWalls) {
        let units = features(.unit, on: plan)
        let idle = Set(walls.idleOpenings)
        let openings = features(.opening, on: plan).filter { !idle.contains($0.id) }
        let obstacles = features(.fixture, on: plan).filter { IMDFSpace.isObstacle(fixture: $0.category) }
        let blocked = PolygonPieces.Blocked(
            (units.filter { !space(of: $0).isWalkable } + obstacles).flatMap { rings(of: $0, on: plan) }, work: work)
        let paths = IMDFPaths(
            units: units.filter { space(of: $0).isWalkable }.flatMap { unit in
                rings(of: unit, on: plan).map { rings in
                    IMDFPaths.Unit(
                        id: unit.id, rings: rings, hasOwnWalls: walls.walledUnits.contains(unit.id),
                        places: places(within: rings, of: unit, on: plan, without: blocked))
                }
            },
            doors: openings.flatMap { opening in
                (opening.geometry?.lines ?? []).map {
                    IMDFWalls.Opening(id: opening.id, line: plan.frame.points(at: $0))
                }
            },
            corners: (units + obstacles).flatMap { Array(rings(of: $0, on: plan).joined()) }, walls: walls.walls,
            work: work)
        let byID = Dictionary((units + openings).map { ($0.id, $0) }) { first, _ in first }
        var parts: [String: Int] = [:]
        let ids = paths.nodes.map { node -> Int in
            let feature = node.id.flatMap { byID[$0] }
            let part = parts[node.id ?? "", default: 0]
            parts[node.id ?? ""] = part + 1
            // Corners have no feature: their numbers are derived from the level.
            guard let feature else { return unlistedNumber(of: "node", for: plan.level, part: part + 1) }
            let id = number(of: "node", for: feature, part: part)
            if feature.type == .unit, part == 0 { unitNodes[feature.id] = id }
            return id
        }
        for (id, node) in zip(ids, paths.nodes) {
            graph.nodes.append(PathGraph.Node(id: id, mapID: plan.id, point: node.point))
        }
        for edge in paths.edges { graph.edges.append(PathGraph.Edge(from: ids[edge.from], to: ids[edge.to])) }
    }

    /// Returns points in a unit: its display point, its middle, and the middles of its parts, the largest part first.
    private func places(
        within rings: [[MapPoint]], of unit: IMDFFeature, on plan: Plan, without blocked: PolygonPieces.Blocked
    ) -> [MapPoint] {
        let pieces = (PolygonPieces.pieces(of: rings, without: blocked) ?? [])
            .map { (middle: Self.middle(of: $0), size: Area.polygon($0).squareMeters) }
            .sorted { ($0.size, $0.middle.x, $0.middle.y) > ($1.size, $1.middle.x, $1.middle.y) }
        let middles = rings.prefix(1).map(Self.middle) + pieces.map(\.middle)
        return ([unit.displayPoint.map(plan.frame.point)].compactMap(\.self) + middles).filter { point in
            PolygonPieces.contains(point, rings) && !blocked.contains(point)
        }
    }

    private static func middle(of corners: [MapPoint]) -> MapPoint {
        let sum = corners.reduce(MapPoint(x: 0, y: 0), +) * (1 / Double(corners.count))
        return MapPoint(x: (sum.x * 1000).rounded() / 1000, y: (sum.y * 1000).rounded() / 1000)
    }

    // MARK: Between levels

    /// Connects the levels: first by relationships, then by vertical units above each other.
    mutating func connect(_ plans: [Plan]) {
        var joined: Set<Set<String>> = []
        for relationship in contents[.relationship] { follow(relationship, &joined) }
        for (kind, category) in [(PathGraph.Edge.Kind.stairs, "stairs"), (.elevator, "elevator")] {
            for (index, lower) in plans.enumerated() {
                for unit in shafts(category, on: lower) {
                    joinUpwards(unit, from: lower, to: Array(plans[(index + 1)...]), kind, category, &joined)
                }
            }
        }
        let connected = Set(joined.joined())
        for unit in contents[.unit] where ["elevator", "escalator", "stairs"].contains(unit.category) {
            guard !connected.contains(unit.id) else { continue }
            let why =
                unit.category == "escalator"
                ? contents.advice.undirected
                : "no unit of its category lies above or below it on the next level of its building"
            remark(unit, .changed, "the path graph does not connect it to another level: \(why)")
        }
    }

    /// Returns the graph without isolated nodes; nil if it has no edge. Units without a path are reported.
    mutating func paths() -> PathGraph? {
        let used = Set(graph.edges.flatMap { [$0.from, $0.to] })
        report.identities.removeAll { $0.kind == "node" && !used.contains($0.number) }
        graph.nodes.removeAll { !used.contains($0.id) }
        let reached = Set(report.identities.filter { $0.kind == "node" }.map(\.id))
        for unit in contents[.unit] where space(of: unit).isWalkable && !reached.contains(unit.id) {
            remark(
                unit, .changed,
                "no path of the path graph leads to it: \(contents.advice.pathless)")
        }
        return graph.edges.isEmpty ? nil : graph
    }

    private func shafts(_ category: String, on plan: Plan) -> [IMDFFeature] {
        features(.unit, on: plan).filter { $0.category == category }
    }

    /// Connects a unit with the unit of its category above it: stairs lead to the next level, elevators may skip
    /// levels.
    private mutating func joinUpwards(
        _ unit: IMDFFeature, from lower: Plan, to plans: [Plan], _ kind: PathGraph.Edge.Kind, _ category: String,
        _ joined: inout Set<Set<String>>
    ) {
        for upper in plans where upper.ordinal > lower.ordinal && lower.sharesFrame(with: upper) {
            if kind == .stairs, upper.ordinal > lower.ordinal + 1 { return }
            guard let other = shafts(category, on: upper).first(where: { overlap(unit, $0, on: lower) }) else {
                continue
            }
            add(kind, from: unit, to: other, isOneWay: false, &joined)
            return
        }
    }

    private func overlap(_ unit: IMDFFeature, _ other: IMDFFeature, on plan: Plan) -> Bool {
        let (one, two) = (rings(of: unit, on: plan), rings(of: other, on: plan))
        func holds(_ polygons: [[[MapPoint]]], _ places: [[[MapPoint]]]) -> Bool {
            places.compactMap(\.first).contains { outline in
                polygons.contains { PolygonPieces.contains(Self.middle(of: outline), $0) }
            }
        }
        return holds(one, two) || holds(two, one)
    }

    private mutating func add(
        _ kind: PathGraph.Edge.Kind, from unit: IMDFFeature, to other: IMDFFeature, isOneWay: Bool,
        _ joined: inout Set<Set<String>>
    ) {
        guard let from = unitNodes[unit.id], let to = unitNodes[other.id],
            joined.insert([unit.id, other.id]).inserted
        else { return }
        graph.edges.append(
            PathGraph.Edge(from: from, to: to, weight: Self.costs[kind], kind: kind, isOneWay: isOneWay))
    }

    /// Converts a relationship between two units on different levels to an edge.
    private mutating func follow(_ relationship: IMDFFeature, _ joined: inout Set<Set<String>>) {
        let kinds: [String: PathGraph.Edge.Kind] = [
            "elevator": .elevator, "escalator": .escalator, "stairs": .stairs, "ramp": .walk, "movingwalkway": .walk,
        ]
        guard let kind = kinds[relationship.category] else {
            remark(relationship, .leftOut, "paths on a level are derived from its walls and openings")
            return
        }
        guard let from = end("origin", of: relationship), let to = end("destination", of: relationship),
            from.ids("level_id") != to.ids("level_id"), unitNodes[from.id] != nil, unitNodes[to.id] != nil
        else {
            remark(relationship, .leftOut, "its ends are not two units on different levels")
            return
        }
        let isOneWay = relationship.text("direction") == "directed"
        add(kind, from: from, to: to, isOneWay: isOneWay, &joined)
        remark(
            relationship, .changed, "it becomes an edge of the path graph: its hours and intermediaries are not kept")
    }

    private func end(_ key: String, of relationship: IMDFFeature) -> IMDFFeature? {
        guard case .object(let reference)? = relationship.properties[key], case .string(let id)? = reference["id"]
        else { return nil }
        return units[id.lowercased()]
    }
}

extension IMDFConversion.Plan {
    /// Returns whether the plans have the same frame.
    fileprivate func sharesFrame(with other: IMDFConversion.Plan) -> Bool {
        frame.center == other.frame.center && frame.width == other.frame.width && frame.height == other.frame.height
    }
}
