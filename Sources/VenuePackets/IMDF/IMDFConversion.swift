import IndoorVocabulary
import TextFormats
import VenueModel

/// Converts the contents of an archive to a venue and reports what is omitted or changed.
struct IMDFConversion {
    /// A level with its map.
    struct Plan {
        let level: IMDFFeature
        let id: MapID
        let frame: IMDFFrame

        var ordinal: Int { level.integer("ordinal") ?? 0 }
    }

    let contents: IMDFContents
    let labels: IMDFLabels
    /// The work of the whole import.
    let work: ImportWork
    /// The features without their outlines, which cross themselves too often.
    private let tangled: [IMDFFeature]
    var report = IMDFReport()
    /// The problems that involve several features.
    var problems: [IMDFProblem] = []
    /// The maps by the id of their level.
    private(set) var plans: [String: Plan] = [:]

    let units: [String: IMDFFeature]
    let anchors: [String: IMDFFeature]
    let addresses: [String: IMDFFeature]
    /// The occupants of each unit, by the unit's id.
    let occupants: [String: [IMDFFeature]]
    /// The features of each type on a level, by the level's id.
    private let onLevel: [IMDFFeatureType: [String: [IMDFFeature]]]
    /// The path graph so far.
    var graph = PathGraph(nodes: [], edges: [])
    /// The nodes of units, by the id of the unit and its map.
    var unitNodes: [String: Int] = [:]
    private var numbers = IMDFNumbers()

    init(contents: IMDFContents, labels: IMDFLabels, work: ImportWork = ImportWork()) {
        let (contents, tangled) = Self.withoutTangles(contents)
        self.contents = contents
        self.tangled = tangled
        self.labels = labels
        self.work = work
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

    /// Returns the whole venue.
    mutating func venue(_ feature: IMDFFeature, id: VenueID?, version: Int) -> Venue {
        let number = id?.rawValue ?? numbers.number(of: "venue", for: feature.id)
        identify("venue", number, feature)
        for feature in tangled {
            remark(
                feature, .leftOut,
                "its outline crosses itself more than \(OutlineTangles.most) times, so it has no inside: correct it")
        }
        makePlans()
        let levels = contents[.level].compactMap { plans[$0.id] }
            .sorted { ($0.ordinal, $0.level.id) < ($1.ordinal, $1.level.id) }
        checkLimits(of: levels)
        guard problems.isEmpty else {
            return Venue(id: VenueID(rawValue: number), name: feature.id, version: version, maps: [])
        }
        var maps: [VenueMap] = []
        for level in levels where problems.isEmpty { maps.append(map(level)) }
        guard problems.isEmpty else {
            return Venue(id: VenueID(rawValue: number), name: feature.id, version: version, maps: [])
        }
        connect(levels)
        let rooms = levels.flatMap { self.rooms(on: $0) }
        let points = pointsOfInterest()
        let fences = self.fences(on: levels)
        noteTheRest()
        let title = self.name(of: feature)
        if title == nil { remark(feature, .changed, "it has no name: its id is used as its name") }
        noteProperties(of: feature, used: ["name", "display_point"])
        let center = feature.displayPoint ?? levels.first?.frame.center
        let reach = outline(of: feature) + contents[.level].flatMap(outline)
        let radius = center.map { center in reach.map { center.distance(to: $0) }.max() ?? 0 }
        checkRadius(radius ?? 0)
        return Venue(
            id: VenueID(rawValue: number), name: title ?? feature.id, version: version, coordinate: center,
            radius: radius.map { max(1, $0.rounded(.up)) }, maps: maps, rooms: rooms, pointsOfInterest: points,
            fences: fences, paths: paths())
    }

    /// Returns the features of a type on a level.
    func features(_ type: IMDFFeatureType, on plan: Plan) -> [IMDFFeature] { onLevel[type]?[plan.level.id] ?? [] }

    // MARK: Frames

    /// Returns all corners of a feature.
    private func outline(of feature: IMDFFeature) -> [Coordinate] {
        (feature.geometry?.polygons.joined().joined()).map(Array.init) ?? []
    }

    /// Creates the plans. The levels of a building share a frame, so that their plans are aligned.
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
                        message: "the features of level \(levels[0].id) are more than \(kilometres) km apart; "
                            + contents.advice.distant))
                continue
            }
            for level in levels {
                let id = MapID(rawValue: numbers.number(of: "map", for: level.id))
                identify("map", id.rawValue, level)
                plans[level.id] = Plan(level: level, id: id, frame: frame)
            }
        }
    }

    // MARK: Report

    mutating func remark(_ feature: IMDFFeature, _ outcome: IMDFReport.Outcome, _ reason: String) {
        report.remarks.append(
            IMDFReport.Remark(featureType: feature.type.rawValue, id: feature.id, outcome: outcome, reason: reason))
    }

    /// Returns a number for an object and records it in the report.
    mutating func number(of kind: String, for feature: IMDFFeature, part: Int) -> Int {
        let number = numbers.number(of: kind, for: feature.id, part: part)
        identify(kind, number, feature)
        return number
    }

    /// Returns a number for an object that isn't in the report because it has no feature in the archive.
    mutating func unlistedNumber(of kind: String, for feature: IMDFFeature, part: Int) -> Int {
        numbers.number(of: kind, for: feature.id, part: part)
    }

    /// Records the feature that an object of the packet comes from.
    mutating func identify(_ kind: String, _ number: Int, _ feature: IMDFFeature) {
        report.identities.append(
            IMDFReport.Identity(kind: kind, number: number, featureType: feature.type.rawValue, id: feature.id))
    }

    /// Reports nonempty properties that a packet cannot contain.
    mutating func noteProperties(of feature: IMDFFeature, used: Set<String>) {
        for key in feature.properties.fields.keys.sorted() where !used.contains(key) {
            guard let value = feature.properties[key], value != .array([]), value != .object([:]) else { continue }
            remark(feature, .leftOut, "a packet cannot contain its property \(key)")
        }
    }

    /// Returns the name of a feature in the best language; nil if it has none.
    mutating func name(of feature: IMDFFeature, key: String = "name") -> String? {
        guard let choice = labels.choose(feature.properties[key]) else { return nil }
        if !choice.isRequested, let language = labels.language {
            remark(feature, .changed, "it has no \(key) in the language \(language): another language is used")
        }
        return choice.text
    }

    /// Reports the features that a packet cannot contain.
    private mutating func noteTheRest() {
        let building = "a packet has no buildings: if there are several, its name precedes those of its maps"
        let reasons: [(IMDFFeatureType, String)] = [
            (.building, building),
            (.footprint, "a packet has no outlines of buildings: its maps contain the levels"),
            (.detail, "it is a drawn line, not a wall, and a packet has no drawings"),
            (.section, "it is a part of a level without a boundary, which a packet cannot contain"),
        ]
        for (type, reason) in reasons { for feature in contents[type] { remark(feature, .leftOut, reason) } }
        let used = Set((contents[.amenity] + contents[.anchor]).flatMap { $0.ids("address_id") })
        for address in contents[.address] where !used.contains(address.id) {
            remark(address, .leftOut, "a packet has no address of a venue, a building or a section")
        }
        for file in contents.unknownFiles {
            report.remarks.append(
                IMDFReport.Remark(
                    featureType: "archive", id: file, outcome: .leftOut, reason: "a file that IMDF 1.0 does not define")
            )
        }
    }
}

/// Selects the text of a label in several languages.
///
/// The order is: the requested language, a related one (`en` for `en-GB` and vice versa), the archive's own language, a
/// related one, the first language in alphabetical order.
struct IMDFLabels: Hashable, Sendable {
    /// The requested language as a BCP 47 tag; nil for the archive's own.
    let language: String?
    /// The language of the manifest; nil if it has none.
    let archiveLanguage: String?

    /// A text, and whether it is in the requested language.
    struct Choice: Hashable, Sendable {
        var text: String
        var isRequested: Bool
    }

    /// Returns the best text of a label; nil if it has none.
    func choose(_ label: JSONTree?) -> Choice? {
        guard case .object(let fields)? = label else { return nil }
        let texts = fields.compactMap { tag, value -> (tag: String, text: String)? in
            guard case .string(let text) = value, text.contains(where: { !$0.isWhitespace }) else { return nil }
            return (tag.lowercased(), text)
        }.sorted { $0.tag < $1.tag }
        let requested = language ?? archiveLanguage
        for tag in [requested, archiveLanguage].compactMap({ $0?.lowercased() }) {
            let match =
                texts.first { $0.tag == tag }
                ?? texts.first { Self.primary($0.tag) == Self.primary(tag) }
            if let match { return Choice(text: match.text, isRequested: tag == requested?.lowercased()) }
        }
        return texts.first.map { Choice(text: $0.text, isRequested: requested == nil) }
    }

    private static func primary(_ tag: String) -> Substring { tag.prefix { $0 != "-" && $0 != "_" } }
}

/// Assigns numbers to features, which IMDF identifies by UUIDs.
///
/// The number is a hash of the id, so that the next edition of an archive gets the same numbers: recordings, fixes and
/// links with the number of a room stay valid.
struct IMDFNumbers {
    private var used: [String: Set<Int>] = [:]

    /// Returns a number from 1 to 2³¹ - 1 that is unique among the objects of this kind.
    ///
    /// Hash collisions are rare (1 in 40 for 10,000 objects of a kind). After a collision, the second id gets the next
    /// free number; then the numbers depend on the order of the features.
    ///
    /// - Parameters:
    ///   - kind: the kind of object in the packet; each kind has its own numbers.
    ///   - part: the index of the object among those of the same kind from one feature.
    mutating func number(of kind: String, for id: String, part: Int = 0) -> Int {
        let range = 0x7FFF_FFFF
        let name = part == 0 ? id : "\(id)#\(part)"
        var number = Int(FNVHash.hash(of: name.utf8) % UInt64(range)) + 1
        while !used[kind, default: []].insert(number).inserted { number = number % range + 1 }
        return number
    }
}
