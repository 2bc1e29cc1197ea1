import IndoorVocabulary
import VenueModel

/// Turns the contents of an archive into a venue, and keeps account of what gets lost on the way.
struct IMDFConversion {
    /// A level that has become a map.
    struct Plan {
        let level: IMDFFeature
        let id: MapID
        let frame: IMDFFrame

        var ordinal: Int { level.integer("ordinal") ?? 0 }
    }

    let contents: IMDFContents
    let labels: IMDFLabels
    var report = IMDFReport()
    /// What only shows when the features are seen together.
    var problems: [IMDFProblem] = []
    /// The maps by the id of their level.
    private(set) var plans: [String: Plan] = [:]

    let units: [String: IMDFFeature]
    let anchors: [String: IMDFFeature]
    let addresses: [String: IMDFFeature]
    /// Who is in a unit, by the unit's id.
    let occupants: [String: [IMDFFeature]]
    /// The features of each type on a level, by the level's id.
    private let onLevel: [IMDFFeatureType: [String: [IMDFFeature]]]
    /// The path graph as far as it is known.
    var ways = PathGraph(nodes: [], edges: [])
    /// The nodes of units, by the id of the unit and its map.
    var unitNodes: [String: Int] = [:]
    private var numbers = IMDFNumbers()

    init(contents: IMDFContents, labels: IMDFLabels) {
        self.contents = contents
        self.labels = labels
        units = contents.byID(.unit)
        anchors = contents.byID(.anchor)
        addresses = contents.byID(.address)
        let anchors = anchors
        occupants = Dictionary(grouping: contents[.occupant]) { occupant in
            occupant.ids("anchor_id").first.flatMap { anchors[$0]?.ids("unit_id").first } ?? ""
        }
        var onLevel: [IMDFFeatureType: [String: [IMDFFeature]]] = [:]
        for type in [IMDFFeatureType.unit, .opening, .fixture, .kiosk] {
            onLevel[type] = Dictionary(grouping: contents[type]) { $0.ids("level_id").first ?? "" }
        }
        self.onLevel = onLevel
    }

    /// The whole venue.
    mutating func venue(_ feature: IMDFFeature, id: VenueID?, version: Int) -> Venue {
        let number = id?.rawValue ?? numbers.number(of: "venue", for: feature.id)
        identify("venue", number, feature)
        makePlans()
        let levels = contents[.level].compactMap { plans[$0.id] }
            .sorted { ($0.ordinal, $0.level.id) < ($1.ordinal, $1.level.id) }
        checkLimits(of: levels)
        guard problems.isEmpty else {
            return Venue(id: VenueID(rawValue: number), name: feature.id, version: version, maps: [])
        }
        let maps = levels.map { self.map($0) }
        connect(levels)
        let rooms = levels.flatMap { self.rooms(on: $0) }
        let points = pointsOfInterest()
        let fences = self.fences(on: levels)
        noteTheRest()
        let title = self.name(of: feature)
        if title == nil { remark(feature, .changed, "it has no name: its id is the name") }
        noteProperties(of: feature, used: ["name", "display_point"])
        let center = feature.displayPoint ?? levels.first?.frame.center
        let reach = outline(of: feature) + contents[.level].flatMap(outline)
        let radius = center.map { center in reach.map { center.distance(to: $0) }.max() ?? 0 }
        return Venue(
            id: VenueID(rawValue: number), name: title ?? feature.id, version: version, coordinate: center,
            radius: radius.map { max(1, $0.rounded(.up)) }, maps: maps, rooms: rooms, pointsOfInterest: points,
            fences: fences, paths: paths())
    }

    /// The features of a type on a level.
    func features(_ type: IMDFFeatureType, on plan: Plan) -> [IMDFFeature] { onLevel[type]?[plan.level.id] ?? [] }

    // MARK: Frames

    /// All corners of a feature.
    private func outline(of feature: IMDFFeature) -> [Coordinate] {
        (feature.geometry?.polygons.joined().joined()).map(Array.init) ?? []
    }

    /// Levels that share a building share a frame, so that their plans lie over each other.
    private mutating func makePlans() {
        var groups: [(buildings: Set<String>, levels: [IMDFFeature])] = []
        for level in contents[.level] {
            let buildings = Set(level.ids("building_ids"))
            var merged = (buildings: buildings, levels: [level])
            groups.removeAll { group in
                guard !group.buildings.isDisjoint(with: buildings) else { return false }
                merged = (merged.buildings.union(group.buildings), group.levels + merged.levels)
                return true
            }
            groups.append(merged)
        }
        for (_, levels) in groups {
            let things = levels.flatMap { level in
                [level] + [IMDFFeatureType.unit, .fixture, .kiosk].flatMap { onLevel[$0]?[level.id] ?? [] }
            }
            guard let frame = IMDFFrame(around: things.flatMap(outline)) else {
                let kilometres = Int(IMDFFrame.longest / 1000)
                problems.append(
                    IMDFProblem(
                        file: IMDFFeatureType.level.file, path: "$",
                        message: "what is on level \(levels[0].id) lies more than \(kilometres) km apart; "
                            + "correct the coordinates: longitude comes first"))
                continue
            }
            for level in levels {
                let id = MapID(rawValue: numbers.number(of: "map", for: level.id))
                identify("map", id.rawValue, level)
                plans[level.id] = Plan(level: level, id: id, frame: frame)
            }
        }
    }

    // MARK: Account

    mutating func remark(_ feature: IMDFFeature, _ outcome: IMDFReport.Outcome, _ reason: String) {
        report.remarks.append(
            IMDFReport.Remark(featureType: feature.type.rawValue, id: feature.id, outcome: outcome, reason: reason))
    }

    /// A number for a thing, noted in the report.
    mutating func number(of kind: String, for feature: IMDFFeature, part: Int) -> Int {
        let number = numbers.number(of: kind, for: feature.id, part: part)
        identify(kind, number, feature)
        return number
    }

    /// A number for a thing that the report does not list, as nothing in the archive stands for it.
    mutating func unlistedNumber(of kind: String, for feature: IMDFFeature, part: Int) -> Int {
        numbers.number(of: kind, for: feature.id, part: part)
    }

    /// Notes which thing of the packet came from a feature.
    mutating func identify(_ kind: String, _ number: Int, _ feature: IMDFFeature) {
        report.identities.append(
            IMDFReport.Identity(kind: kind, number: number, featureType: feature.type.rawValue, id: feature.id))
    }

    /// Notes the properties that say something and have no place in a packet.
    mutating func noteProperties(of feature: IMDFFeature, used: Set<String>) {
        for key in feature.properties.fields.keys.sorted() where !used.contains(key) {
            guard let value = feature.properties[key], value != .array([]), value != .object([:]) else { continue }
            remark(feature, .leftOut, "its property \(key) has no place in a packet")
        }
    }

    /// The name of a feature in the best language; nil if it has none.
    mutating func name(of feature: IMDFFeature, key: String = "name") -> String? {
        guard let choice = labels.choose(feature.properties[key]) else { return nil }
        if !choice.isWished, let language = labels.language {
            remark(feature, .changed, "it has no \(key) in the language \(language): the one in another is taken")
        }
        return choice.text
    }

    /// Features that nothing in a packet stands for.
    private mutating func noteTheRest() {
        let building = "a packet has no buildings: where there are several, its name stands before those of its maps"
        let reasons: [(IMDFFeatureType, String)] = [
            (.building, building),
            (.footprint, "a packet has no outlines of buildings: its maps hold the levels"),
            (.detail, "it is a line to draw, not a wall, and a packet has no drawing"),
            (.section, "it is a part of a level without a boundary, and a packet has none"),
        ]
        for (type, reason) in reasons { for feature in contents[type] { remark(feature, .leftOut, reason) } }
        let used = Set((contents[.amenity] + contents[.anchor]).flatMap { $0.ids("address_id") })
        for address in contents[.address] where !used.contains(address.id) {
            remark(address, .leftOut, "a packet has no address of a venue, a building or a section")
        }
        for file in contents.unknownFiles {
            report.remarks.append(
                IMDFReport.Remark(
                    featureType: "archive", id: file, outcome: .leftOut, reason: "a file that IMDF 1.0 does not know"))
        }
    }
}
