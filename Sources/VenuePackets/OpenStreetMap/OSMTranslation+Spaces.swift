import IndoorVocabulary
import TextFormats

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
        case .door, .steps, nil: break
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
                    problem(element, "it exceeds the limit of \(Limit.corners) corners; extract fewer buildings")
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
