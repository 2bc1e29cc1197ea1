import IndoorVocabulary
import VenueModel

extension VenueParser {
    mutating func maps(of root: JSONObject) -> [VenueMap] {
        let entries = objects("maps", of: root, isRequired: true, limit: limits.maps)
        if case .array([])? = root["maps"] {
            report(.error, "$.maps", "is empty; give at least one map, because positions are on a map")
        }
        var seen: [Int: String] = [:]
        var floors: [Floor] = []
        let found: [VenueMap] = entries.compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            if let id { mapIDs.insert(MapID(rawValue: id)) }
            guard let map = map(entry, id: id) else { return nil }
            if maps[map.id] == nil { maps[map.id] = map }
            if let elevation = map.elevation {
                floors.append(Floor(level: map.level, elevation: elevation, path: entry.path(of: "elevation")))
            }
            return map
        }
        checkOrder(of: floors)
        return found
    }

    /// A map with a known elevation.
    private struct Floor {
        var level: Int
        /// Metres above the ground floor.
        var elevation: Double
        /// The path of the elevation.
        var path: String
    }

    /// The largest plausible height between two levels in metres, that of a deep railway station. A storey in
    /// centimetres is larger.
    private static let highestStorey = 50.0

    /// Warns of a floor whose elevation contradicts those of the next level, or is implausibly far from them. Of two
    /// levels, the one farther from the ground floor is reported.
    ///
    /// Several buildings on a slope have several elevations for one level. A floor is wrong only if it has no plausible
    /// height above or below any of them.
    private mutating func checkOrder(of floors: [Floor]) {
        let levels = Dictionary(grouping: floors, by: \.level).sorted { $0.key < $1.key }
        for (lower, upper) in zip(levels, levels.dropFirst()) {
            let (outer, inner, sign) = upper.key > 0 ? (upper, lower, 1.0) : (lower, upper, -1.0)
            let (right, wrong) = upper.key > 0 ? ("above", "below") : ("below", "above")
            let highest = Self.highestStorey * Double(upper.key - lower.key)
            for floor in outer.value {
                let heights = inner.value.map { sign * (floor.elevation - $0.elevation) }
                guard !heights.contains(where: { $0 > 0 && $0 <= highest }),
                    let height = heights.min(by: { abs($0) < abs($1) })
                else { continue }
                let place =
                    if height > 0 {
                        "\(Int(height.rounded())) m \(right) level \(inner.key), more than \(Int(highest)) m"
                    } else {
                        "\(height < 0 ? wrong : "as high as") level \(inner.key)"
                    }
                report(.warning, floor.path, "level \(outer.key) is \(place); give metres above the ground floor")
            }
        }
    }

    private mutating func map(_ entry: JSONObject, id: Int?) -> VenueMap? {
        let name = string("name", of: entry, wanted: "the map's name")
        let level = integer("level", of: entry, .level)
        let width = number("widthMeters", of: entry, .length)
        let height = number("heightMeters", of: entry, .length)
        let pixels = pixelSize(of: entry)
        let elevation = optionalNumber("elevation", of: entry, .height)
        let image = file("image", of: entry)
        let tiles = file("tiles", of: entry)
        let georeference = georeference(of: entry, width: width, height: height)
        let walls = walls(of: entry)
        let walkable = walkable(of: entry)
        guard let id, let name, let level, let width, let height else { return nil }
        return VenueMap(
            id: MapID(rawValue: id), name: name, level: level, width: width, height: height,
            widthPixels: pixels?.width, heightPixels: pixels?.height, elevation: elevation, imagePath: image,
            tilesPath: tiles, georeference: georeference, walls: walls, walkable: walkable)
    }

    private mutating func pixelSize(of entry: JSONObject) -> (width: Int, height: Int)? {
        guard entry["widthPixels"] != nil || entry["heightPixels"] != nil else { return nil }
        let width = integer("widthPixels", of: entry, .pixels)
        let height = integer("heightPixels", of: entry, .pixels)
        guard let width, let height else { return nil }
        return (width, height)
    }

    private mutating func walls(of entry: JSONObject) -> [[MapPoint]] {
        var walls: [[MapPoint]] = []
        for (value, path) in optionalArray("walls", of: entry) ?? [] {
            guard let line = points(value, at: path) else { continue }
            if line.count < 2 { report(.warning, path, "has fewer than 2 points; give a line or remove it") }
            walls.append(line)
        }
        return walls
    }

    private mutating func walkable(of entry: JSONObject) -> [[MapPoint]] {
        var polygons: [[MapPoint]] = []
        for (value, path) in optionalArray("walkable", of: entry) ?? [] {
            if let polygon = polygon(value, at: path) { polygons.append(polygon) }
        }
        return polygons
    }

    private mutating func georeference(of entry: JSONObject, width: Double?, height: Double?) -> Georeference? {
        guard let object = optionalObject("georeference", of: entry) else { return nil }
        let georeference: Georeference?
        let path: String
        if object["controlPoints"] != nil {
            if object["center"] != nil {
                report(.warning, object.path(of: "center"), "is not used beside controlPoints; remove one of them")
            }
            path = object.path(of: "controlPoints")
            georeference = controlPoints(of: object).map { .controlPoints($0) }
        } else {
            path = object.path
            georeference = center(of: object)
        }
        guard let georeference, let width, let height else { return nil }
        do {
            let transform = try GeoTransform(georeference, width: width, height: height)
            checkFit(transform, at: path)
            return georeference
        } catch {
            report(.error, path, "\(error)")
            return nil
        }
    }

    private mutating func center(of object: JSONObject) -> Georeference? {
        guard required("center", of: object, wanted: "{latitude, longitude} and a bearing, or controlPoints") else {
            return nil
        }
        let coordinate = optionalObject("center", of: object).flatMap { self.coordinate(of: $0) }
        let bearing = number("bearing", of: object, .bearing)
        guard let coordinate, let bearing else { return nil }
        if !(0..<360).contains(bearing) {
            report(.warning, object.path(of: "bearing"), "is \(bearing); write it in [0, 360)")
        }
        return .center(coordinate, bearing: bearing)
    }

    /// Returns all control points; nil if one is invalid, because the others would give a different fit.
    private mutating func controlPoints(of object: JSONObject) -> [Georeference.ControlPoint]? {
        var points: [Georeference.ControlPoint] = []
        let problemsBefore = problemCount
        for entry in objects("controlPoints", of: object) {
            let point = point(of: entry)
            let coordinate = coordinate(of: entry)
            if let point, let coordinate {
                points.append(Georeference.ControlPoint(point: point, coordinate: coordinate))
            }
        }
        return problemCount == problemsBefore ? points : nil
    }

    private mutating func checkFit(_ transform: GeoTransform, at path: String) {
        // The scale in metres per metre: surveyed plans agree within some percent, pixels differ by a factor of 10 or
        // more.
        if !(0.8...1.25).contains(transform.scale) {
            report(
                .warning, path,
                "a metre on the plan is \(transform.scale) m on Earth; give x and y in metres, not pixels")
        }
        // Twice the 68 % error of a good GNSS fix: a larger residual means that a point is wrong.
        if transform.residual > 10 {
            report(
                .warning, path, "the points deviate from their fit by \(transform.residual) m (RMS); check each of them"
            )
        }
    }
}

extension VenueParser {
    mutating func identity(of entry: JSONObject) -> BeaconIdentity? {
        let wanted = "32 hexadecimal digits as 8-4-4-4-12"
        let text = string("uuid", of: entry, wanted: wanted)
        let uuid = text.flatMap { BeaconUUID($0) }
        if let text, uuid == nil { report(.error, entry.path(of: "uuid"), "is \"\(text)\"; give \(wanted)") }
        let major = integer("major", of: entry, .beaconNumber)
        let minor = integer("minor", of: entry, .beaconNumber)
        guard let uuid, let major, let minor else { return nil }
        return BeaconIdentity(
            uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
    }

    mutating func rooms(of root: JSONObject) -> [Room] {
        var seen: [Int: String] = [:]
        return objects("rooms", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the room's name")
            let mapID = mapID(of: entry)
            let area = area(of: entry)
            guard let id, let name, let mapID else { return nil }
            if let area { checkInside(area, of: mapID, at: entry.path, kind: "room") }
            return Room(id: id, name: name, mapID: mapID, area: area)
        }
    }

    mutating func pointsOfInterest(of root: JSONObject) -> [PointOfInterest] {
        var seen: [Int: String] = [:]
        return objects("pois", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the point's name")
            let description = optionalString("description", of: entry, wanted: "a description")
            let mapID = mapID(of: entry)
            let point = point(of: entry)
            let payload = payload(of: entry)
            guard let id, let name, let mapID, let point else { return nil }
            checkInside(point, of: mapID, at: entry.path, kind: "point of interest")
            return PointOfInterest(
                id: id, name: name, description: description, mapID: mapID, point: point, payload: payload)
        }
    }

    mutating func fences(of root: JSONObject) -> [Fence] {
        var seen: [Int: String] = [:]
        return objects("events", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the event's name")
            let mapID = mapID(of: entry)
            let problemsBefore = problemCount
            let area = area(of: entry)
            if area == nil, problemCount == problemsBefore {
                report(.error, entry.path, "has no shape; give a polygon, or x, y and radius")
            }
            let timeout = optionalDuration("timeout", of: entry)
            let exitDelay = optionalDuration("exitDelay", of: entry)
            let exitMargin = optionalNumber("exitMargin", of: entry, .margin)
            let payload = payload(of: entry)
            guard let id, let name, let mapID, let area else { return nil }
            checkInside(area, of: mapID, at: entry.path, kind: "event")
            return Fence(
                id: id, name: name, mapID: mapID, area: area, timeout: timeout, exitDelay: exitDelay,
                exitMargin: exitMargin, payload: payload)
        }
    }

    package mutating func optionalDuration(_ name: String, of entry: JSONObject) -> Duration? {
        let seconds = optionalNumber(name, of: entry, .timeout)
        return seconds.map { Duration.nanoseconds(Int64(($0 * 1e9).rounded())) }
    }
}

extension VenueParser {
    mutating func paths(of root: JSONObject) -> PathGraph? {
        guard let object = optionalObject("paths", of: root) else { return nil }
        var seen: [Int: String] = [:]
        let nodes = objects("nodes", of: object, isRequired: true, limit: limits.ways).compactMap { entry in
            node(entry, among: &seen)
        }
        let edges = objects("edges", of: object, isRequired: true, limit: limits.ways).compactMap { entry in
            edge(entry, nodes: seen)
        }
        return PathGraph(nodes: nodes, edges: edges)
    }

    private mutating func node(_ entry: JSONObject, among seen: inout [Int: String]) -> PathGraph.Node? {
        let id = uniqueID(of: entry, among: &seen)
        let mapID = mapID(of: entry)
        let point = point(of: entry)
        guard let id, let mapID, let point else { return nil }
        checkInside(point, of: mapID, at: entry.path, kind: "node")
        return PathGraph.Node(id: id, mapID: mapID, point: point)
    }

    private mutating func edge(_ entry: JSONObject, nodes: [Int: String]) -> PathGraph.Edge? {
        let from = node("from", of: entry, among: nodes)
        let to = node("to", of: entry, among: nodes)
        let weight = optionalNumber("weight", of: entry, .weight)
        let kind = kind(of: entry)
        let isOneWay = bool("oneWay", of: entry, default: false)
        let tags = tags(of: entry)
        guard let from, let to, let kind else { return nil }
        if from == to { report(.warning, entry.path, "leads from node \(from) to itself; remove it") }
        return PathGraph.Edge(from: from, to: to, weight: weight, kind: kind, isOneWay: isOneWay, tags: tags)
    }

    private mutating func tags(of entry: JSONObject) -> Set<String> {
        guard let value = entry["tags"] else { return [] }
        guard case .array(let values) = value else {
            return wrong(value, at: entry.path(of: "tags"), wanted: "an array of texts") ?? []
        }
        var tags: Set<String> = []
        for (index, value) in values.enumerated() {
            guard case .string(let tag) = value else {
                let none: Set<String>? = wrong(value, at: "\(entry.path(of: "tags"))[\(index)]", wanted: "a text")
                return none ?? []
            }
            tags.insert(tag)
        }
        return tags
    }

    private mutating func node(_ key: String, of entry: JSONObject, among nodes: [Int: String]) -> Int? {
        guard let id = integer(key, of: entry, .identifier) else { return nil }
        guard nodes[id] != nil else {
            report(.error, entry.path(of: key), "there is no node \(id); give the id of one of the nodes")
            return nil
        }
        return id
    }

    private mutating func kind(of entry: JSONObject) -> PathGraph.Edge.Kind? {
        let wanted = PathGraph.Edge.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        guard entry["kind"] != nil else { return .walk }
        guard let text = optionalString("kind", of: entry, wanted: "one of \(wanted)") else { return nil }
        guard let kind = PathGraph.Edge.Kind(rawValue: text) else {
            report(.error, entry.path(of: "kind"), "is \"\(text)\"; give one of \(wanted)")
            return nil
        }
        return kind
    }
}

extension VenueParser {
    /// Returns the interactions, whose targets must be in the venue.
    mutating func interactions(of root: JSONObject, among venue: InteractionPlaces) -> [Interaction] {
        var seen: [Int: String] = [:]
        return objects("interactions", of: root, limit: limits.places).compactMap { entry in
            let id = uniqueID(of: entry, among: &seen)
            let name = string("name", of: entry, wanted: "the interaction's name")
            let target = target(of: entry, among: venue)
            let trigger = trigger(of: entry)
            let distance = optionalNumber("distance", of: entry, .length)
            let genericContent = optionalString("genericContent", of: entry, wanted: "a text for display")
            let contents = contents(of: entry)
            let payload = payload(of: entry)
            guard let id, let name, let target, let trigger else { return nil }
            switch target {
            case .beacon, .pointOfInterest: break
            case .room, .fence:
                guard distance != nil else { break }
                report(
                    .warning, entry.path(of: "distance"),
                    "has no effect, because a room and an event have an outline; give it for a beacon or a poi")
            }
            return Interaction(
                id: id, name: name, target: target, trigger: trigger, distance: distance,
                genericContent: genericContent, contents: contents, payload: payload)
        }
    }

    private mutating func target(of entry: JSONObject, among venue: InteractionPlaces) -> Interaction.Target? {
        let kinds = ["beacon", "room", "poi", "event"].filter { entry[$0] != nil }
        guard kinds.count == 1, let kind = kinds.first else {
            let given = kinds.isEmpty ? "none of them" : kinds.joined(separator: " and ")
            report(.error, entry.path, "has \(given); give one of beacon, room, poi and event")
            return nil
        }
        if kind == "beacon" { return optionalObject(kind, of: entry).flatMap { region(of: $0, among: venue) } }
        guard let id = optionalInteger(kind, of: entry, .identifier) else { return nil }
        let (known, target): (Set<Int>, Interaction.Target) =
            switch kind {
            case "room": (venue.rooms, .room(id))
            case "poi": (venue.points, .pointOfInterest(id))
            default: (venue.fences, .fence(id))
            }
        guard known.contains(id) else {
            report(.error, entry.path(of: kind), "is \(id); give the id of one of the \(kind)s")
            return nil
        }
        return target
    }

    private mutating func region(of entry: JSONObject, among venue: InteractionPlaces) -> Interaction.Target? {
        let isNamed = BeaconNaming.allCases.contains { naming in naming.keys.contains { entry[$0] != nil } }
        let naming = isNamed ? naming(of: entry) : .uuid
        guard let naming, let region = naming == .uuid ? uuidRegion(of: entry) : singleBeacon(of: entry, naming) else {
            return nil
        }
        if !venue.regions.contains(region) {
            report(
                .warning, entry.path,
                "is not one of the packet's beacons; correct it, unless the beacon has no position")
        }
        return .beacon(region)
    }

    /// Returns the region of a beacon whose name isn't a UUID.
    private mutating func singleBeacon(of entry: JSONObject, _ naming: BeaconNaming) -> BeaconRegion? {
        let address = naming == .address ? address(of: entry) : nil
        return identity(of: entry, naming, address: address).map { BeaconRegion($0) }
    }

    private mutating func uuidRegion(of entry: JSONObject) -> BeaconRegion? {
        let wanted = "32 hexadecimal digits as 8-4-4-4-12"
        let text = string("uuid", of: entry, wanted: wanted)
        let uuid = text.flatMap { BeaconUUID($0) }
        if let text, uuid == nil { report(.error, entry.path(of: "uuid"), "is \"\(text)\"; give \(wanted)") }
        let major = optionalInteger("major", of: entry, .beaconNumber)
        let minor = optionalInteger("minor", of: entry, .beaconNumber)
        if minor != nil, entry["major"] == nil {
            report(.error, entry.path(of: "minor"), "needs a major; give both, or neither")
        }
        guard let uuid else { return nil }
        return BeaconRegion(
            uuid: uuid, major: major.map { UInt16(truncatingIfNeeded: $0) },
            minor: minor.map { UInt16(truncatingIfNeeded: $0) })
    }

    private mutating func trigger(of entry: JSONObject) -> Interaction.Trigger? {
        guard entry["trigger"] != nil else { return .both }
        let wanted = "\"enter\", \"exit\" or \"both\""
        guard let text = optionalString("trigger", of: entry, wanted: wanted) else { return nil }
        guard let trigger = Interaction.Trigger(rawValue: text) else {
            report(.error, entry.path(of: "trigger"), "is \"\(text)\"; give \(wanted)")
            return nil
        }
        return trigger
    }

    private mutating func contents(of entry: JSONObject) -> [Interaction.Content] {
        var seen: [Int: String] = [:]
        return objects("contents", of: entry, limit: limits.places).compactMap { content in
            let id = uniqueID(of: content, among: &seen)
            let text = string("content", of: content, wanted: "a text for display")
            let language = optionalString("language", of: content, wanted: "a language such as \"en\"")
            let image = image(of: content)
            let link = optionalString("link", of: content, wanted: "an address")
            let displayLink = optionalString("displayLink", of: content, wanted: "a text for display")
            guard let id, let text else { return nil }
            return Interaction.Content(
                id: id, language: language, text: text, image: image, link: link, displayLink: displayLink)
        }
    }

    /// Returns the image of a content: an address, or the path of a file, without which the packet can still be used.
    private mutating func image(of content: JSONObject) -> String? {
        guard let image = optionalString("image", of: content, wanted: "a path or an address") else { return nil }
        guard !PacketPath.isAddress(image) else { return image }
        let path = content.path(of: "image")
        if PacketPath.isInside(image), PacketPath.scheme(of: image) == nil {
            fileReferences.append(FileReference(path: path, file: image, isRequired: false))
        } else {
            report(
                .warning, path,
                "\"\(image)\" is neither an address nor a path within the packet, so it is not shown; give one without \\, "
                    + "leading /, . and ..")
        }
        return image
    }
}

/// The targets that the interactions of a venue can refer to.
struct InteractionPlaces {
    /// Each beacon, and the regions of its UUID and of its UUID with major.
    let regions: Set<BeaconRegion>
    let rooms: Set<Int>
    let points: Set<Int>
    let fences: Set<Int>

    init(beacons: [VenueBeacon], rooms: [Room], points: [PointOfInterest], fences: [Fence]) {
        regions = Set(
            beacons.map(\.identity).flatMap { beacon in
                [
                    BeaconRegion(beacon), BeaconRegion(uuid: beacon.uuid, major: beacon.major),
                    BeaconRegion(uuid: beacon.uuid),
                ]
            })
        self.rooms = Set(rooms.map(\.id))
        self.points = Set(points.map(\.id))
        self.fences = Set(fences.map(\.id))
    }
}
