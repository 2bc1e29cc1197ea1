import IndoorVocabulary
import VenueModel

/// The beacons and the receivers of a venue, which are entries of the same array.
struct VenueRadios {
    /// The entries with the role `beacon`.
    var beacons: [VenueBeacon] = []
    /// The entries with the role `receiver`.
    var receivers: [VenueReceiver] = []
}

extension VenueParser {
    /// The purpose of an entry of `beacons`.
    private enum Role: String, CaseIterable {
        case beacon, receiver
    }

    /// A receiver whose identity may be missing.
    private struct PartialReceiver {
        var receiver: VenueReceiver
        var hasIdentity: Bool
    }

    /// The paths of everything that must be unique among beacons and receivers.
    private struct SeenRadios {
        var identities: [BeaconIdentity: String] = [:]
        /// The addresses of beacons, and whether an address is the only name of its beacon.
        var addresses: [UInt64: (path: String, isOnlyName: Bool)] = [:]
        /// The ids and aliases of receivers.
        var names: [String: String] = [:]
    }

    mutating func radios(of root: JSONObject) -> VenueRadios {
        var seen = SeenRadios()
        var beacons: [VenueBeacon] = []
        var receivers: [PartialReceiver] = []
        for entry in objects("beacons", of: root, isRequired: true, limit: limits.beacons) {
            switch role(of: entry) {
            case .beacon: if let beacon = beacon(entry, &seen) { beacons.append(beacon) }
            case .receiver: if let receiver = receiver(entry, &seen) { receivers.append(receiver) }
            case nil: continue
            }
        }
        var taken = Set(seen.identities.keys)
        return VenueRadios(
            beacons: beacons,
            receivers: receivers.map { partial in
                var receiver = partial.receiver
                if !partial.hasIdentity {
                    while !taken.insert(receiver.identity).inserted { receiver.identity.minor &+= 1 }
                }
                return receiver
            })
    }

    /// Returns the role of an entry; nil if it is invalid.
    private mutating func role(of entry: JSONObject) -> Role? {
        let wanted = Role.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
        guard entry["role"] != nil else { return .beacon }
        guard let text = optionalString("role", of: entry, wanted: wanted) else { return nil }
        guard let role = Role(rawValue: text) else {
            report(.error, entry.path(of: "role"), "is \"\(text)\"; give \(wanted)")
            return nil
        }
        return role
    }

    private mutating func beacon(_ entry: JSONObject, _ seen: inout SeenRadios) -> VenueBeacon? {
        let named = namedBeacon(of: entry)
        if let named { checkUnique(named.identity, of: entry, kind: "beacon", named.naming, &seen) }
        let mapID = mapID(of: entry)
        let point = point(of: entry)
        let z = optionalNumber("z", of: entry, .height)
        let measuredPower = optionalNumber("measuredPower", of: entry, .measuredPower)
        let pathLossExponent = optionalNumber("pathLossExponent", of: entry, .pathLossExponent)
        guard let named, let mapID, let point else { return nil }
        checkInside(point, of: mapID, at: entry.path, kind: "beacon")
        checkUniqueAddress(of: named, entry, &seen)
        return VenueBeacon(
            identity: named.identity, naming: named.naming, address: named.address, mapID: mapID, point: point, z: z,
            measuredPower: measuredPower, pathLossExponent: pathLossExponent)
    }

    /// Reports a problem if another entry has the identity.
    private mutating func checkUnique(
        _ identity: BeaconIdentity, of entry: JSONObject, kind: String, _ naming: BeaconNaming,
        _ seen: inout SeenRadios
    ) {
        if let other = seen.identities[identity] {
            report(.error, entry.path, "has the identity of \(other); give each \(kind) its own \(naming.lastKey)")
        } else {
            seen.identities[identity] = entry.path
        }
    }

    /// Reports a problem if the entry of another beacon has the same address.
    private mutating func checkUniqueAddress(of named: NamedBeacon, _ entry: JSONObject, _ seen: inout SeenRadios) {
        guard let address = named.address?.rawValue else { return }
        let isOnlyName = named.naming == .address
        guard let other = seen.addresses[address] else {
            seen.addresses[address] = (entry.path, isOnlyName)
            return
        }
        switch (other.isOnlyName, isOnlyName) {
        case (true, true): break  // reported as the same identity
        case (false, false):
            report(
                .warning, entry.path(of: "address"),
                "is also the address of \(other.path), which is used; correct one of them")
        default:
            report(
                .error, entry.path(of: "address"),
                "is also the address of \(other.path), and the only name of one of them; remove one entry, or correct "
                    + "its address")
        }
    }

    private mutating func receiver(_ entry: JSONObject, _ seen: inout SeenRadios) -> PartialReceiver? {
        let id = receiverID(of: entry, &seen)
        let aliases = aliases(of: entry, &seen)
        let hasIdentity = ["uuid", "major", "minor"].contains { entry[$0] != nil }
        let given = hasIdentity ? identity(of: entry) : nil
        if let given { checkUnique(given, of: entry, kind: "receiver", .uuid, &seen) }
        let mapID = mapID(of: entry)
        let point = point(of: entry)
        let z = optionalNumber("z", of: entry, .height)
        let measuredPower = optionalNumber("measuredPower", of: entry, .measuredPower)
        let pathLossExponent = optionalNumber("pathLossExponent", of: entry, .pathLossExponent)
        if entry["address"] != nil {
            report(
                .warning, entry.path(of: "address"),
                "has no effect for a receiver; add it to the aliases if the gateway reports it")
        }
        for key in BeaconNaming.eddystoneUID.keys + BeaconNaming.altBeacon.keys where entry[key] != nil {
            report(.warning, entry.path(of: key), "has no effect for a receiver; give uuid, major and minor, or none")
        }
        guard let id, let mapID, let point else { return nil }
        checkInside(point, of: mapID, at: entry.path, kind: "receiver")
        return PartialReceiver(
            receiver: VenueReceiver(
                id: id, aliases: aliases, identity: given ?? VenueReceiver.identity(for: id), mapID: mapID,
                point: point, z: z, measuredPower: measuredPower, pathLossExponent: pathLossExponent),
            hasIdentity: given != nil)
    }

    private mutating func receiverID(of entry: JSONObject, _ seen: inout SeenRadios) -> String? {
        guard let id = string("id", of: entry, wanted: "the receiver's name as its gateway reports it") else {
            return nil
        }
        checkName(id, at: entry.path(of: "id"), &seen)
        return id
    }

    private mutating func aliases(of entry: JSONObject, _ seen: inout SeenRadios) -> [String] {
        var aliases: [String] = []
        for (value, path) in optionalArray("aliases", of: entry) ?? [] {
            guard case .string(let alias) = value else {
                report(.error, path, "is \(value.summary); give another name of the receiver as a text")
                continue
            }
            checkName(alias, at: path, &seen)
            aliases.append(alias)
        }
        return aliases
    }

    /// Reports a problem if the name of a receiver is empty or names another one.
    private mutating func checkName(_ name: String, at path: String, _ seen: inout SeenRadios) {
        guard !name.isEmpty else {
            report(.error, path, "is empty; give the receiver's name as its gateway reports it")
            return
        }
        if let other = seen.names[name] {
            report(.error, path, "\"\(name)\" is already the name at \(other); give each receiver its own names")
        } else {
            seen.names[name] = path
        }
    }
}
