import IndoorVocabulary
import TextFormats
import VenueModel

/// A beacon of a file with the level of its map.
struct OSMBeacon: Sendable {
    let levelID: String
    let place: Coordinate
    let identity: BeaconIdentity
    let address: DeviceAddress?
    let height: Double?
    let measuredPower: Double?

    func placed(on plan: IMDFConversion.Plan) -> VenueBeacon {
        VenueBeacon(
            identity: identity, address: address, mapID: plan.id, point: plan.frame.point(at: place), z: height,
            measuredPower: measuredPower)
    }
}

/// Translates beacons and points of interest.
extension OSMTranslation {
    /// Adds a node with a level that is a beacon or a point of interest.
    mutating func addPoint(_ node: OSMElement) {
        guard let place = node.coordinate else { return }
        if node.has("indoormark", "beacon") { return addBeacon(node, place) }
        // A node without a level is outdoors.
        guard node.tags["level"] != nil, !node.isDoor, !node.has("highway", "elevator"),
            node.label != nil || node.purpose != nil
        else { return }
        let levels = self.levels(of: node).filter { hasMap($0, at: place) }
        guard !levels.isEmpty else {
            return remark(node, .leftOut, "no space is on its level or around it, so it has no map")
        }
        let purpose = node.purpose ?? "place"
        var fields = node.tags.mapValues { JSONTree.string($0) }
        fields["category"] = .string(purpose)
        fields["name"] = node.label
        fields["level_id"] = .array(levels.map { .string(Self.id(ofLevel: $0)) })
        add(.amenity, node.name, .point(place), fields)
    }

    // MARK: Beacons

    private mutating func addBeacon(_ node: OSMElement, _ place: Coordinate) {
        let type = node.tags["beacon:type"]?.lowercased()
        if let type, !["bluetooth", "ibeacon", "ble"].contains(type) {
            return remark(node, .leftOut, "it is a beacon of the type \(type); a packet has Bluetooth beacons")
        }
        let levels = self.levels(of: node)
        guard !levels.isEmpty else { return }
        guard let level = levels.first(where: { hasMap($0, at: place) }) else {
            return remark(node, .leftOut, "no space is on its level or around it, so it has no map")
        }
        if levels.count > 1 { remark(node, .changed, "it has several levels: it is on the lowest") }
        let missing = ["beacon:uuid", "beacon:major", "beacon:minor"].filter { node.tags[$0] == nil }
        guard missing.isEmpty else {
            return remark(
                node, .leftOut, "it has no \(missing.joined(separator: ", no ")); add the beacon to the packet by hand")
        }
        guard let identity = identity(of: node) else { return }
        var address: DeviceAddress?
        if let text = node.tags["beacon:address"] {
            address = DeviceAddress(text)
            if address == nil {
                problem(node, "its beacon:address is \"\(text)\"; give six hexadecimal pairs with colons")
            }
        }
        guard identities.insert(identity).inserted else {
            return problem(node, "another beacon has the identity \(identity); give each its own")
        }
        let height = number("height", of: node, .height)
        let power = number("beacon:measured", of: node, .measuredPower)
        beacons.append(
            OSMBeacon(
                levelID: Self.id(ofLevel: level), place: place, identity: identity, address: address, height: height,
                measuredPower: power))
    }

    private mutating func identity(of node: OSMElement) -> BeaconIdentity? {
        let text = node.tags["beacon:uuid"] ?? ""
        let uuid = BeaconUUID(text)
        if uuid == nil {
            problem(node, "its beacon:uuid is \"\(text)\"; give 32 hexadecimal digits as 8-4-4-4-12")
        }
        let numbers = ["beacon:major", "beacon:minor"].map { key -> UInt16? in
            let text = node.tags[key] ?? ""
            let number = UInt16(text)
            if number == nil { problem(node, "its \(key) is \"\(text)\"; give a whole number in [0, 65535]") }
            return number
        }
        guard let uuid, let major = numbers[0], let minor = numbers[1] else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    /// Returns the number of a tag; nil if there is none or if it is invalid, which is reported.
    private mutating func number(_ key: String, of node: OSMElement, _ rule: NumberRule) -> Double? {
        guard let text = node.tags[key] else { return nil }
        guard let number = Double(text), rule.accepts(number) else {
            problem(node, "its \(key) is \"\(text)\"; give \(rule.wanted)")
            return nil
        }
        return number
    }
}
