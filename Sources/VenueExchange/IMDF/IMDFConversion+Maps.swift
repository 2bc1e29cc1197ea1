import IndoorVocabulary
import VenueModel
import VenuePackets

extension IMDFConversion {
    /// Returns the map of a level.
    mutating func map(_ plan: Plan) -> VenueMap {
        let level = plan.level
        let walls = self.walls(on: plan)
        checkWork(on: plan)
        if problems.isEmpty {
            addPaths(on: plan, walls)
            checkWork(on: plan)
        }
        noteProperties(of: level, used: ["name", "short_name", "ordinal", "building_ids", "outdoor"])
        return VenueMap(
            id: plan.id, name: mapName(of: level), level: plan.ordinal, width: plan.frame.width,
            height: plan.frame.height, georeference: .center(plan.frame.center, bearing: 0), walls: walls.walls,
            walkable: problems.isEmpty ? walkable(on: plan) : [])
    }

    /// Returns the level's name, preceded by its building's name if the venue has several buildings.
    private mutating func mapName(of level: IMDFFeature) -> String {
        var name = name(of: level) ?? self.name(of: level, key: "short_name")
        if name == nil {
            remark(level, .changed, "it has no name: its ordinal is used as its name")
            name = "Level \(level.integer("ordinal") ?? 0)"
        }
        let ids = Set(level.ids("building_ids"))
        let buildings = contents[.building].filter { ids.contains($0.id) }
        guard contents[.building].count > 1, let building = buildings.first,
            let prefix = labels.choose(building.properties["name"])?.text
        else { return name ?? "" }
        return "\(prefix), \(name ?? "")"
    }

    func space(of unit: IMDFFeature) -> IMDFSpace { IMDFSpace(category: unit.category) }

    /// Returns whether a unit is open to the public.
    private func isPublic(_ unit: IMDFFeature) -> Bool {
        unit.properties["restriction"] == nil && unit.category.prefix { $0 != "." } != "nonpublic"
    }

    /// Returns the rings of a feature's polygons on a plan.
    func rings(of feature: IMDFFeature, on plan: Plan) -> [[[MapPoint]]] {
        (feature.geometry?.polygons ?? []).map { plan.frame.rings(of: $0) }
    }

    private mutating func walls(on plan: Plan) -> IMDFWalls {
        let units = features(.unit, on: plan)
        let openings = features(.opening, on: plan)
        var obstacles: [[[MapPoint]]] = []
        for fixture in features(.fixture, on: plan) {
            if IMDFSpace.isObstacle(fixture: fixture.category) {
                obstacles += rings(of: fixture, on: plan)
                remark(fixture, .changed, "it is an obstacle: only its outline is kept, as walls")
            } else {
                remark(fixture, .leftOut, "its category \(fixture.category) is movable furniture, which is not a wall")
            }
        }
        let walls = IMDFWalls(
            units: units.map {
                IMDFWalls.Unit(
                    id: $0.id, space: space(of: $0), isPublic: isPublic($0), polygons: rings(of: $0, on: plan))
            },
            openings: openings.flatMap { opening in
                (opening.geometry?.lines ?? []).map {
                    IMDFWalls.Opening(id: opening.id, line: plan.frame.points(at: $0))
                }
            },
            obstacles: obstacles, isOutdoor: plan.level.isTrue("outdoor"), work: work)
        note(walls, openings: openings, units: units)
        return walls
    }

    private mutating func note(_ walls: IMDFWalls, openings: [IMDFFeature], units: [IMDFFeature]) {
        let idle = Set(walls.idleOpenings)
        for opening in openings {
            if idle.contains(opening.id) {
                remark(
                    opening, .leftOut, "no wall runs along it within \(IMDFWalls.thickestWall) m, so it opens no wall")
            } else {
                remark(opening, .changed, "it becomes a gap in the walls: its name and material are not kept")
            }
        }
        let opened = Set(walls.openedUnits)
        let closed = Set(walls.closedUnits)
        for unit in units {
            if opened.contains(unit.id) {
                remark(
                    unit, .changed,
                    "no opening lies on its outline, but it is public: it has only the walls of its neighbours")
            } else if closed.contains(unit.id) {
                remark(unit, .changed, "no opening lies on its outline and it is not public: it has walls all around")
            }
        }
    }

    /// Returns the walkable areas: the walkable units without the solid and void ones in them, or the level if there
    /// are none.
    private mutating func walkable(on plan: Plan) -> [[MapPoint]] {
        let units = features(.unit, on: plan)
        let blocked = PolygonPieces.Blocked(
            units.filter { !space(of: $0).isWalkable }.flatMap { rings(of: $0, on: plan) }, work: work)
        let spaces = units.filter { space(of: $0).isWalkable }
        var walkable: [[MapPoint]] = []
        for feature in spaces.isEmpty ? [plan.level] : spaces {
            for rings in rings(of: feature, on: plan) {
                guard let pieces = PolygonPieces.pieces(of: rings, without: blocked) else {
                    remark(
                        feature, .leftOut,
                        "its outline has too many corners to compute its walkable area: simplify it to "
                            + "\(InputLimits.standard.corners) together with the units in it")
                    continue
                }
                walkable += pieces
            }
        }
        return walkable
    }

    // MARK: Rooms

    mutating func rooms(on plan: Plan) -> [Room] {
        features(.unit, on: plan).flatMap { unit -> [Room] in
            noteProperties(of: unit, used: ["category", "restriction", "name", "level_id"])
            guard space(of: unit).isWalkable else {
                remark(
                    unit, .leftOut,
                    "a unit of category \(unit.category) is not walkable: it is not a room, its outline is a wall")
                return []
            }
            return rooms(of: unit, on: plan)
        }
    }

    private mutating func rooms(of unit: IMDFFeature, on plan: Plan) -> [Room] {
        let name = roomName(of: unit)
        let polygons = rings(of: unit, on: plan)
        if polygons.count > 1 { remark(unit, .changed, "it has several parts: each becomes a room of the same name") }
        return polygons.enumerated().map { part, rings in
            if rings.count > 1 {
                remark(
                    unit, .changed,
                    "it has holes, which a room's shape cannot have: they stay unwalkable, and a room in one "
                        + "has priority")
            }
            let id = number(of: "room", for: unit, part: part)
            return Room(id: id, name: name, mapID: plan.id, area: area(of: rings, of: unit))
        }
    }

    /// Returns the shape of a room or fence; nil if it isn't valid in a packet.
    mutating func area(of rings: [[MapPoint]], of feature: IMDFFeature) -> Area? {
        guard let outline = rings.first else { return nil }
        if outline.count > InputLimits.standard.corners {
            remark(
                feature, .changed, "its outline has more than \(InputLimits.standard.corners) corners: it has no shape")
            return nil
        }
        if PolygonDefect(in: outline) != nil {
            remark(feature, .changed, "its outline crosses or touches itself or has no area: it has no shape")
            return nil
        }
        return .polygon(outline)
    }

    /// Returns the unit's name, or the names of its occupants, or its category in words.
    mutating func roomName(of unit: IMDFFeature) -> String {
        if let name = self.name(of: unit) { return name }
        let names = (occupants[unit.id] ?? []).compactMap { labels.choose($0.properties["name"])?.text }
        if !names.isEmpty {
            remark(unit, .changed, "it has no name: it is named after its occupants")
            return names.joined(separator: ", ")
        }
        remark(unit, .changed, "it has neither name nor occupant: it is named after its category")
        return words(unit.category)
    }

    /// Returns a category for display: "restroom male" for `restroom.male`.
    func words(_ category: String) -> String {
        category.isEmpty ? "unnamed" : category.split(separator: ".").joined(separator: " ")
    }
}

/// Derives the walls of a level from its units and openings, because IMDF has no walls.
///
/// According to the standard, the extent of a unit may be a barrier, a boundary beyond which traversal is not expected,
/// or a legal line, and the archive doesn't distinguish them; an opening models an entrance. A false wall does more
/// harm than a missing one: positions cannot follow a walker through it, while a missing wall only reduces the
/// accuracy. Therefore, in this order:
/// 1. Solid and void units and obstacle fixtures have walls all around.
/// 2. An enclosed unit has walls all around if an opening lies on its outline, because then its other sides are closed.
///    So does a unit that isn't public. Any other unit without an opening has an entrance that the archive doesn't
///    contain, and is treated as open.
/// 3. An open unit has walls only where no unit adjoins its edge, and only on a level that isn't outdoors.
/// 4. Openings are cut out of all walls along them, on both sides of a thick wall.
struct IMDFWalls {
    /// The properties of a unit that determine its walls.
    struct Unit {
        let id: String
        let space: IMDFSpace
        /// Whether the unit is open to the public.
        let isPublic: Bool
        /// The rings of its polygons.
        let polygons: [[[MapPoint]]]
    }

    /// An opening on the plan.
    struct Opening {
        let id: String
        let line: [MapPoint]
    }

    /// The walls as polylines.
    private(set) var walls: [[MapPoint]] = []
    /// Openings without a wall along them.
    private(set) var idleOpenings: [String] = []
    /// Public enclosed units without an opening, which therefore have no walls of their own.
    private(set) var openedUnits: [String] = []
    /// Enclosed units without an opening that aren't public.
    private(set) var closedUnits: [String] = []
    /// All units with walls all around.
    private(set) var walledUnits: Set<String> = []

    /// The largest thickness of a wall in metres; ArcGIS Indoors looks for doors within 2 feet of a unit's edge.
    static let thickestWall = 0.6
    /// Parallel edges within this distance in metres are one edge, drawn twice.
    private static let sameEdge = 0.05
    /// Units within this distance in metres touch.
    private static let touching = 0.2
    /// Openings are drawn as chords of round walls, up to 30° off their direction.
    private static let openingCosine = 0.866
    /// Edges drawn twice differ only by rounding, up to 3°.
    private static let edgeCosine = 0.9986

    private let units: [Unit]
    private let work: ImportWork
    private let openings: [(id: String, line: StraightLine)]
    private let openingGrid: PlanGrid

    /// - Parameter work: counts the work; the walls are incomplete if its limit is reached.
    init(units: [Unit], openings: [Opening], obstacles: [[[MapPoint]]], isOutdoor: Bool, work: ImportWork) {
        self.units = units
        self.work = work
        self.openings = openings.flatMap { opening in
            StraightLine.pieces(of: opening.line).map { (opening.id, $0) }
        }
        openingGrid = PlanGrid(self.openings.map { $0.line.box.grown(by: Self.thickestWall) }, work: work)
        var edges: [StraightLine] = []
        var open: [Int] = []
        for (index, unit) in units.enumerated() {
            work.feature = unit.id
            if hasOwnWalls(unit) {
                edges += unit.polygons.joined().flatMap(StraightLine.edges)
                walledUnits.insert(unit.id)
            } else {
                open.append(index)
            }
        }
        edges += obstacles.joined().flatMap(StraightLine.edges)
        if !isOutdoor { edges += outerEdges(of: open) }
        cut(edges)
    }

    private mutating func hasOwnWalls(_ unit: Unit) -> Bool {
        switch unit.space {
        case .solid, .void: return true
        case .open: return false
        case .enclosed:
            let edges = unit.polygons.joined().flatMap(StraightLine.edges)
            if edges.contains(where: { !work.isSpent && !openings(along: $0).isEmpty }) { return true }
            if unit.isPublic { openedUnits.append(unit.id) } else { closedUnits.append(unit.id) }
            return !unit.isPublic
        }
    }

    /// Returns the parts of an edge along openings, with the index of each opening.
    private func openings(along edge: StraightLine) -> [(index: Int, part: ClosedRange<Double>)] {
        openingGrid.near(edge.box).compactMap { index in
            edge.shadow(
                of: openings[index].line, within: Self.thickestWall, leastCosine: Self.openingCosine
            ).map { (index, $0) }
        }
    }

    /// Returns the parts of the outlines of open units that adjoin no other unit.
    private func outerEdges(of open: [Int]) -> [StraightLine] {
        let polygons = units.map { $0.polygons.map { IndexedPolygon($0, work: work) } }
        let all = Array(polygons.joined())
        let grid = PlanGrid(all.map(\.box), work: work)
        let corners = Array(Set(all.lazy.flatMap { $0.rings.joined() }))
        let cornerGrid = PlanGrid(corners.map { PlanBox($0, $0) }, work: work)
        func isCovered(_ point: MapPoint) -> Bool {
            grid.near(PlanBox(point, point)).contains { all[$0].contains(point) }
        }
        var outer: [StraightLine] = []
        for (unit, polygon) in open.flatMap({ unit in polygons[unit].map { (unit, $0) } }) {
            work.feature = units[unit].id
            for edge in polygon.rings.flatMap(StraightLine.edges) {
                guard !work.isSpent else { return [] }
                // Between two corners of its neighbours, an edge has the same neighbour.
                let stops = cornerGrid.near(edge.box.grown(by: Self.touching)).compactMap { index -> Double? in
                    let offset = edge.offset(of: corners[index])
                    let isStop = abs(offset.beside) <= Self.touching && offset.along > 0 && offset.along < edge.length
                    return isStop ? offset.along : nil
                }.sorted()
                for (low, high) in zip([0] + stops, stops + [edge.length]) {
                    let middle = (low + high) / 2
                    let sides = [Self.touching, -Self.touching].map { edge.point(at: middle, beside: $0) }
                    let inside = sides.map(polygon.contains)
                    guard inside[0] != inside[1], !isCovered(inside[0] ? sides[1] : sides[0]) else { continue }
                    if let piece = StraightLine(from: edge.point(at: low), to: edge.point(at: high)) {
                        outer.append(piece)
                    }
                }
            }
        }
        return outer
    }

    /// Converts edges to walls: removes duplicates and openings, and joins consecutive edges.
    private mutating func cut(_ edges: [StraightLine]) {
        let grid = PlanGrid(edges.map(\.box), work: work)
        work.feature = ""
        var used: Set<String> = []
        for (index, edge) in edges.enumerated() {
            guard !work.isSpent else { return }
            let doors = openings(along: edge)
            used.formUnion(doors.map { openings[$0.index].id })
            let earlier = grid.near(edge.box.grown(by: Self.sameEdge)).filter { $0 < index }
            let covered = earlier.compactMap {
                edge.shadow(of: edges[$0], within: Self.sameEdge, leastCosine: Self.edgeCosine)
            }
            for piece in edge.remainder(without: doors.map(\.part) + covered) {
                if let last = walls.last?.last, last == piece.from {
                    walls[walls.count - 1].append(piece.to)
                } else {
                    walls.append([piece.from, piece.to])
                }
            }
        }
        var seen: Set<String> = []
        idleOpenings = openings.map(\.id).filter { !used.contains($0) && seen.insert($0).inserted }
    }
}
