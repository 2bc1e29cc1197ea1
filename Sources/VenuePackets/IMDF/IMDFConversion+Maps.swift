import IndoorVocabulary
import VenueModel

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
