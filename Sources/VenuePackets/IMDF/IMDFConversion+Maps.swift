import IndoorVocabulary
import VenueModel

extension IMDFConversion {
    /// The map of a level.
    mutating func map(_ plan: Plan) -> VenueMap {
        let level = plan.level
        let walls = self.walls(on: plan)
        addWays(on: plan, walls)
        noteProperties(of: level, used: ["name", "short_name", "ordinal", "building_ids", "outdoor"])
        return VenueMap(
            id: plan.id, name: mapName(of: level), level: plan.ordinal, width: plan.frame.width,
            height: plan.frame.height, georeference: .center(plan.frame.center, bearing: 0), walls: walls.walls,
            walkable: walkable(on: plan))
    }

    /// The level's name, after that of its building where the venue has several.
    private mutating func mapName(of level: IMDFFeature) -> String {
        var name = name(of: level) ?? self.name(of: level, key: "short_name")
        if name == nil {
            remark(level, .changed, "it has no name: its ordinal is the name")
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

    /// Whether anybody may enter a unit.
    private func isPublic(_ unit: IMDFFeature) -> Bool {
        unit.properties["restriction"] == nil && unit.category.prefix { $0 != "." } != "nonpublic"
    }

    /// The rings of a feature's polygons on a plan.
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
                remark(fixture, .leftOut, "its category \(fixture.category) is furniture, which moves and is no wall")
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
            obstacles: obstacles, isOutdoor: plan.level.isTrue("outdoor"))
        note(walls, openings: openings, units: units)
        return walls
    }

    private mutating func note(_ walls: IMDFWalls, openings: [IMDFFeature], units: [IMDFFeature]) {
        let idle = Set(walls.idleOpenings)
        for opening in openings {
            if idle.contains(opening.id) {
                remark(opening, .leftOut, "no wall runs along it within \(IMDFWalls.thickestWall) m: it opens nothing")
            } else {
                remark(opening, .changed, "it is a gap in the walls: what it is called and made of is not kept")
            }
        }
        let opened = Set(walls.openedUnits)
        let closed = Set(walls.closedUnits)
        for unit in units {
            if opened.contains(unit.id) {
                remark(
                    unit, .changed,
                    "no opening lies on its outline, but people get in: it has no walls but those of its neighbours")
            } else if closed.contains(unit.id) {
                remark(unit, .changed, "no opening lies on its outline and it is not public: it is walled all around")
            }
        }
    }

    /// Where people walk: the spaces, without what is solid or void in them. Without any, the level itself.
    private mutating func walkable(on plan: Plan) -> [[MapPoint]] {
        let units = features(.unit, on: plan)
        let blocked = units.filter { !space(of: $0).isWalkable }.flatMap { rings(of: $0, on: plan) }
        let spaces = units.filter { space(of: $0).isWalkable }
        var walkable: [[MapPoint]] = []
        for feature in spaces.isEmpty ? [plan.level] : spaces {
            for rings in rings(of: feature, on: plan) {
                guard let pieces = PolygonPieces.pieces(of: rings, without: blocked) else {
                    remark(
                        feature, .leftOut,
                        "its outline has too many corners to tell where one walks in it: simplify it to "
                            + "\(InputLimits.standard.corners) together with what lies in it")
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
                    "nobody is in a unit of category \(unit.category): it is no room, its outline is a wall")
                return []
            }
            return rooms(of: unit, on: plan)
        }
    }

    private mutating func rooms(of unit: IMDFFeature, on plan: Plan) -> [Room] {
        let name = roomName(of: unit)
        let polygons = rings(of: unit, on: plan)
        if polygons.count > 1 { remark(unit, .changed, "it has several parts: each is a room of the same name") }
        return polygons.enumerated().map { part, rings in
            if rings.count > 1 {
                remark(
                    unit, .changed,
                    "it has holes: the room's shape has none, but nobody walks in them, and a smaller room in one wins")
            }
            let id = number(of: "room", for: unit, part: part)
            return Room(id: id, name: name, mapID: plan.id, area: area(of: rings, of: unit))
        }
    }

    /// The shape of a room or fence; nil if the packet's rules refuse it.
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

    /// The unit's name, else those of its occupants, else its category in words.
    mutating func roomName(of unit: IMDFFeature) -> String {
        if let name = self.name(of: unit) { return name }
        let names = (occupants[unit.id] ?? []).compactMap { labels.choose($0.properties["name"])?.text }
        if !names.isEmpty {
            remark(unit, .changed, "it has no name: it is called by its occupants")
            return names.joined(separator: ", ")
        }
        remark(unit, .changed, "it has neither name nor occupant: it is called by its category")
        return words(unit.category)
    }

    /// A category for people: `restroom.male` as "restroom male".
    func words(_ category: String) -> String {
        category.isEmpty ? "unnamed" : category.split(separator: ".").joined(separator: " ")
    }
}
