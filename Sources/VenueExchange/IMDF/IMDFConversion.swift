import IndoorVocabulary
import TextFormats
import VenueModel
import VenuePackets

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

/// Limits that keep the conversion of a level within reasonable time.
extension IMDFConversion {
    /// Reports levels whose features have too many corners or overlaps.
    ///
    /// Units and fixtures are cut along the ones they overlap, and paths run around the corners of all of them.
    mutating func checkLimits(of plans: [Plan]) {
        for plan in plans {
            let things = features(.unit, on: plan) + features(.fixture, on: plan)
            let outlines = things.flatMap { self.outlines(of: $0, on: plan) }
            let openings = features(.opening, on: plan).flatMap { $0.geometry?.lines ?? [] }
            let corners = openings.reduce(outlines.reduce(0) { $0 + $1.corners }) { $0 + $1.count }
            if corners > IMDFArchive.Limit.corners {
                refuse(
                    plan,
                    "its features have \(corners) corners, more than the limit of \(IMDFArchive.Limit.corners) for a "
                        + "level; simplify them")
            } else if Self.overlapsTooOften(outlines) {
                refuse(
                    plan,
                    "its units and fixtures overlap more than \(IMDFArchive.Limit.pairs) times; draw each place once"
                )
            }
        }
    }

    /// Reports a level during whose conversion the work of the import exceeds its limit.
    mutating func checkWork(on plan: Plan) {
        guard work.isSpent, problems.isEmpty else { return }
        let place = work.last.isEmpty ? "" : ", up to \(work.last)"
        refuse(plan, "its outlines lie too close together to be compared with each other\(place); simplify them")
    }

    /// Returns the content without the outlines of units and fixtures that cross themselves too often.
    ///
    /// Such an outline encloses no meaningful area, and would produce as many walls as crossings.
    static func withoutTangles(_ contents: IMDFContents) -> (contents: IMDFContents, tangled: [IMDFFeature]) {
        var contents = contents
        var tangles = OutlineTangles()
        var tangled: [IMDFFeature] = []
        for type in [IMDFFeatureType.level, .unit, .fixture] {
            contents.features[type] = contents[type].map { feature in
                let rings = (feature.geometry?.polygons ?? []).joined()
                guard rings.contains(where: { tangles.isTangled($0) }) else { return feature }
                tangled.append(feature)
                return feature.withoutGeometry
            }
        }
        return (contents, tangled)
    }

    /// Reports a venue with a radius in metres that no packet can have.
    mutating func checkRadius(_ radius: Double) {
        let limit = NumberRule.length.range.upperBound
        guard radius > limit else { return }
        problems.append(
            IMDFProblem(
                file: IMDFFeatureType.venue.file, path: "$",
                message: "its features are up to \(Int(radius / 1000)) km from its center, more than the limit of "
                    + "\(Int(limit / 1000)) km; \(contents.advice.distant)"))
    }

    private mutating func refuse(_ plan: Plan, _ message: String) {
        problems.append(
            IMDFProblem(
                file: IMDFFeatureType.level.file, path: "$", message: "level \(plan.level.id): \(message)"))
    }

    private typealias Outline = (box: PlanBox, corners: Int)

    private func outlines(of feature: IMDFFeature, on plan: Plan) -> [Outline] {
        let rings = rings(of: feature, on: plan).map { polygon in
            (PlanBox(around: polygon.first ?? []), polygon.reduce(0) { $0 + $1.count })
        }
        return rings + (feature.geometry?.lines ?? []).map { (PlanBox(around: plan.frame.points(at: $0)), $0.count) }
    }

    /// Returns whether boxes overlap more than those of neighbours, which share a wall.
    private static func overlap(_ one: PlanBox, _ other: PlanBox) -> Bool {
        min(one.maxX, other.maxX) - max(one.minX, other.minX) > IMDFWalls.thickestWall
            && min(one.maxY, other.maxY) - max(one.minY, other.minY) > IMDFWalls.thickestWall
    }

    /// Sweeps over the left edges of the boxes, and stops at the limit.
    private static func overlapsTooOften(_ outlines: [Outline]) -> Bool {
        var open: [Outline] = []
        var (pairs, corners) = (0, 0)
        for outline in outlines.sorted(by: { $0.box.minX < $1.box.minX }) {
            open.removeAll { $0.box.maxX < outline.box.minX }
            for other in open where overlap(other.box, outline.box) {
                pairs += 1
                corners += other.corners * outline.corners
                if pairs > IMDFArchive.Limit.pairs || corners > IMDFArchive.Limit.cornerPairs { return true }
            }
            open.append(outline)
        }
        return false
    }
}

/// The common frame of aligned levels: north is up, and the frame contains all their features.
struct IMDFFrame: Sendable {
    let center: Coordinate
    /// The width in metres, in whole decimetres.
    let width: Double
    /// The height in metres, in whole decimetres.
    let height: Double
    private let transform: GeoTransform

    /// The margin around the outermost feature in metres, for people in front of the building.
    static let margin = 5.0
    /// The largest plan in metres: the Earth's curvature moves a point at its edge by 2 cm (`d³/2R²` at 10 km).
    static let longest = 20_000.0

    /// Creates the smallest frame; nil if there are no coordinates or if they are farther apart than `longest`.
    init?(around coordinates: [Coordinate]) {
        guard let first = coordinates.first, coordinates.allSatisfy({ first.distance(to: $0) < Self.longest }) else {
            return nil
        }
        // The tangent point moves to the middle, which rotates north slightly; repeated until it is stable.
        var center = first
        for _ in 0..<3 {
            let plane = LocalTangentPlane(origin: center)
            let places = coordinates.map { plane.offset(of: $0) }
            let east = places.reduce((low: 0.0, high: -1.0)) { Self.extended($0, $1.east) }
            let north = places.reduce((low: 0.0, high: -1.0)) { Self.extended($0, $1.north) }
            center = plane.coordinate(east: (east.low + east.high) / 2, north: (north.low + north.high) / 2)
        }
        let plane = LocalTangentPlane(origin: center)
        let places = coordinates.map { plane.offset(of: $0) }
        let reach = places.reduce((east: 0.0, north: 0.0)) {
            (max($0.east, abs($1.east)), max($0.north, abs($1.north)))
        }
        width = ((reach.east + Self.margin) * 20).rounded(.up) / 10
        height = ((reach.north + Self.margin) * 20).rounded(.up) / 10
        guard width <= Self.longest, height <= Self.longest,
            let transform = try? GeoTransform(.center(center, bearing: 0), width: width, height: height)
        else { return nil }
        self.center = center
        self.transform = transform
    }

    private static func extended(_ range: (low: Double, high: Double), _ value: Double) -> (low: Double, high: Double) {
        range.low > range.high ? (value, value) : (min(range.low, value), max(range.high, value))
    }

    /// Returns the point at a coordinate, in whole millimetres, so that a packet is easy to read.
    func point(at coordinate: Coordinate) -> MapPoint {
        let point = transform.point(at: coordinate)
        return MapPoint(x: (point.x * 1000).rounded() / 1000, y: (point.y * 1000).rounded() / 1000)
    }

    func points(at coordinates: [Coordinate]) -> [MapPoint] { coordinates.map(point) }

    /// Returns the rings of a polygon on the plan.
    func rings(of polygon: GeoJSONGeometry.Polygon) -> [[MapPoint]] { polygon.map(points) }
}

extension IMDFConversion {
    /// Returns amenities, occupants, kiosks and the remaining anchors as points of interest, with all their properties
    /// as payload.
    mutating func pointsOfInterest() -> [PointOfInterest] {
        contents[.amenity].flatMap { amenity($0) } + occupantPoints() + kiosks() + looseAnchors()
    }

    // MARK: Amenities

    /// Returns a point for every level of an amenity's units; an elevator, for example, is on several levels.
    private mutating func amenity(_ amenity: IMDFFeature) -> [PointOfInterest] {
        guard let place = amenity.geometry?.point else { return [] }
        var seen: Set<String> = []
        var plans = amenity.ids("unit_ids").compactMap { units[$0]?.ids("level_id").first }
            .filter { seen.insert($0).inserted }.compactMap { self.plans[$0] }
        // A file of OpenStreetMap gives the levels of a point, but not its units.
        if plans.isEmpty { plans = amenity.ids("level_id").compactMap { self.plans[$0] } }
        if plans.isEmpty {
            plans = self.plans.values.filter { isInside(place, $0) }
            guard plans.count == 1 else {
                remark(
                    amenity, .leftOut, "it names no unit, and its position does not determine its level: give unit_ids")
                return []
            }
            remark(amenity, .changed, "it names no unit: it is on the only level at its position")
        }
        if plans.count > 1 {
            let levels =
                amenity.ids("unit_ids").isEmpty ? "it lies on several levels" : "its units lie on several levels"
            remark(amenity, .changed, "\(levels): it becomes a point on each")
        }
        let name = self.name(of: amenity) ?? words(amenity.category)
        return plans.enumerated().map { point(amenity, named: name, at: place, on: $1, part: $0) }
    }

    private func isInside(_ place: Coordinate, _ plan: Plan) -> Bool {
        let point = plan.frame.point(at: place)
        return (plan.level.geometry?.polygons ?? []).contains {
            PolygonPieces.contains(point, plan.frame.rings(of: $0))
        }
    }

    // MARK: Occupants, kiosks and anchors

    private func plan(ofAnchor anchor: IMDFFeature) -> Plan? {
        let unit = anchor.ids("unit_id").first.flatMap { units[$0] }
        return unit?.ids("level_id").first.flatMap { plans[$0] }
    }

    private mutating func occupantPoints() -> [PointOfInterest] {
        contents[.occupant].compactMap { occupant in
            guard let anchor = occupant.ids("anchor_id").first.flatMap({ anchors[$0] }),
                let place = anchor.geometry?.point, let plan = self.plan(ofAnchor: anchor)
            else { return nil }
            let name = self.name(of: occupant) ?? words(occupant.category)
            return point(occupant, named: name, at: place, on: plan, anchor: anchor)
        }
    }

    private mutating func kiosks() -> [PointOfInterest] {
        let occupied = Set(contents[.occupant].flatMap { $0.ids("anchor_id") })
        return contents[.kiosk].compactMap { kiosk in
            guard let plan = kiosk.ids("level_id").first.flatMap({ plans[$0] }) else { return nil }
            let anchor = kiosk.ids("anchor_id").first.flatMap { anchors[$0] }
            if let anchor, occupied.contains(anchor.id) {
                remark(kiosk, .leftOut, "its occupant is already a point of interest, and its outline is not a wall")
                return nil
            }
            guard let place = kiosk.displayPoint ?? anchor?.geometry?.point ?? middle(of: kiosk) else { return nil }
            remark(kiosk, .changed, "it becomes a point without its outline, which is not a wall: kiosks are movable")
            let name = self.name(of: kiosk) ?? "kiosk"
            return point(kiosk, named: name, at: place, on: plan, anchor: anchor)
        }
    }

    /// Returns the anchors without an occupant or a kiosk.
    private mutating func looseAnchors() -> [PointOfInterest] {
        let used = Set((contents[.occupant] + contents[.kiosk]).flatMap { $0.ids("anchor_id") })
        return contents[.anchor].compactMap { anchor in
            guard !used.contains(anchor.id), let place = anchor.geometry?.point, let plan = self.plan(ofAnchor: anchor),
                let unit = anchor.ids("unit_id").first.flatMap({ units[$0] })
            else { return nil }
            remark(anchor, .changed, "it has no occupant: it is named after its unit")
            let name = labels.choose(unit.properties["name"])?.text ?? words(unit.category)
            return point(anchor, named: name, at: place, on: plan)
        }
    }

    /// Returns the mean of the corners, which is accurate enough for a kiosk.
    private func middle(of feature: IMDFFeature) -> Coordinate? {
        guard let ring = feature.geometry?.polygons.first?.first else { return nil }
        let count = Double(ring.count)
        return Coordinate(
            latitude: ring.reduce(0) { $0 + $1.latitude } / count,
            longitude: ring.reduce(0) { $0 + $1.longitude } / count)
    }

    private mutating func point(
        _ feature: IMDFFeature, named name: String, at place: Coordinate, on plan: Plan, part: Int = 0,
        anchor: IMDFFeature? = nil
    ) -> PointOfInterest {
        let id = number(of: "poi", for: feature, part: part)
        if let anchor { identify("poi", id, anchor) }
        return PointOfInterest(
            id: id, name: name, mapID: plan.id,
            point: plan.frame.point(at: place), payload: payload(of: feature, anchor: anchor))
    }

    /// Returns all properties of a feature, so that the packet contains them.
    private func payload(of feature: IMDFFeature, anchor: IMDFFeature? = nil) -> JSONValue {
        var fields: [String: JSONValue] = [
            "featureType": .string(feature.type.rawValue), "id": .string(feature.id),
            "properties": JSONValue(.object(feature.properties.fields.filter { $0.value != .null })),
        ]
        let owner = anchor ?? feature
        if let address = owner.ids("address_id").first.flatMap({ addresses[$0] }) {
            fields["address"] = JSONValue(.object(address.properties.fields.filter { $0.value != .null }))
        }
        if let anchor { fields["unit"] = anchor.ids("unit_id").first.map { .string($0) } }
        return .object(fields)
    }

    // MARK: Geofences

    /// Returns a fence on each level of a geofence, or on each level of its buildings.
    mutating func fences(on levels: [Plan]) -> [Fence] {
        contents[.geofence].flatMap { geofence -> [Fence] in
            let ids = Set(geofence.ids("level_ids"))
            let buildings = Set(geofence.ids("building_ids"))
            let plans = levels.filter { plan in
                ids.isEmpty
                    ? !buildings.isDisjoint(with: plan.level.ids("building_ids")) : ids.contains(plan.level.id)
            }
            if plans.isEmpty {
                remark(geofence, .leftOut, "it names neither a level nor a building with one: give level_ids")
            }
            return fences(of: geofence, on: plans)
        }
    }

    private mutating func fences(of geofence: IMDFFeature, on plans: [Plan]) -> [Fence] {
        let name = self.name(of: geofence) ?? words(geofence.category)
        let polygons = geofence.geometry?.polygons ?? []
        if polygons.contains(where: { $0.count > 1 }) {
            remark(geofence, .changed, "it has holes, which a fence cannot have")
        }
        if plans.count * polygons.count > 1 {
            remark(geofence, .changed, "it has several levels or parts: each becomes a fence of the same name")
        }
        var part = 0
        return plans.flatMap { plan in
            polygons.compactMap { polygon -> Fence? in
                defer { part += 1 }
                guard let area = area(of: plan.frame.rings(of: polygon), of: geofence) else { return nil }
                return Fence(
                    id: number(of: "fence", for: geofence, part: part), name: name, mapID: plan.id, area: area,
                    payload: payload(of: geofence))
            }
        }
    }
}
