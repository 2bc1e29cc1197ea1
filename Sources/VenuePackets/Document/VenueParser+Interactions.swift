import IndoorVocabulary
import VenueModel

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
            let image = optionalString("image", of: content, wanted: "a path or an address")
            let link = optionalString("link", of: content, wanted: "an address")
            let displayLink = optionalString("displayLink", of: content, wanted: "a text for display")
            guard let id, let text else { return nil }
            return Interaction.Content(
                id: id, language: language, text: text, image: image, link: link, displayLink: displayLink)
        }
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
