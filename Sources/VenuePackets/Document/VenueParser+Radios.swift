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

/// The identity of a beacon, and how an entry names it.
struct NamedBeacon {
    var identity: BeaconIdentity
    var naming: BeaconNaming
    /// The device address; nil if the entry has none.
    var address: DeviceAddress?
}

extension BeaconNaming {
    /// The fields of a name of this kind.
    var keys: [String] {
        switch self {
        case .uuid: ["uuid", "major", "minor"]
        case .eddystoneUID: ["namespace", "instance"]
        case .altBeacon: ["altBeaconId"]
        case .address: ["address"]
        }
    }

    /// The field that distinguishes beacons whose other fields are equal.
    var lastKey: String { keys.last ?? rawValue }

    /// The kinds of name that an entry can have in addition to an address.
    static let identifying = allCases.filter { $0 != .address }

    /// The fields of all kinds, in words.
    static let advice = allCases.map { $0.keys.formatted }.joined(separator: ", or ")
}

extension [String] {
    /// The words with commas and "and" between them.
    fileprivate var formatted: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " and " + last
    }
}

extension VenueParser {
    /// Returns the identity of an entry with exactly one name, and its address.
    mutating func namedBeacon(of entry: JSONObject) -> NamedBeacon? {
        let address = address(of: entry)
        guard let naming = naming(of: entry), let identity = identity(of: entry, naming, address: address) else {
            return nil
        }
        if let address, !checkPermanence(of: address, naming, entry) { return nil }
        return NamedBeacon(identity: identity, naming: naming, address: address)
    }

    /// Returns the kind of name that an entry has; reports a problem if it has none or several.
    mutating func naming(of entry: JSONObject) -> BeaconNaming? {
        let given = BeaconNaming.identifying.filter { naming in naming.keys.contains { entry[$0] != nil } }
        guard given.count <= 1 else {
            let found = given.map { naming in naming.keys.filter { entry[$0] != nil }.formatted }
            report(.error, entry.path, "has \(found.joined(separator: ", and ")); give only one name of the beacon")
            return nil
        }
        if let naming = given.first { return naming }
        guard entry["address"] != nil else {
            report(.error, entry.path, "has no name of a beacon; give \(BeaconNaming.advice)")
            return nil
        }
        return .address
    }

    /// Returns the identity of an entry with a kind of name.
    mutating func identity(
        of entry: JSONObject, _ naming: BeaconNaming, address: DeviceAddress?
    ) -> BeaconIdentity? {
        switch naming {
        case .uuid: return identity(of: entry)
        case .eddystoneUID:
            let namespace = hexadecimal("namespace", of: entry, digits: 20)
            let instance = hexadecimal("instance", of: entry, digits: 12)
            guard let namespace, let instance else { return nil }
            return BeaconIdentity(eddystoneNamespace: namespace, instance: instance)
        case .altBeacon:
            let wanted = "40 hexadecimal digits"
            guard let text = string("altBeaconId", of: entry, wanted: wanted) else { return nil }
            guard let identity = BeaconIdentity(altBeaconID: text) else {
                report(.error, entry.path(of: "altBeaconId"), "is \"\(text.prefix(80))\"; give \(wanted)")
                return nil
            }
            return identity
        case .address: return address.map(BeaconIdentity.init(address:))
        }
    }

    /// Returns the valid device address of an entry, with its kind; nil if it is absent or invalid.
    mutating func address(of entry: JSONObject) -> DeviceAddress? {
        let kind = addressKind(of: entry)
        let wanted = "six hexadecimal pairs with colons"
        guard let text = optionalString("address", of: entry, wanted: wanted) else { return nil }
        guard var address = DeviceAddress(text) else {
            report(.error, entry.path(of: "address"), "is \"\(text)\"; give \(wanted)")
            return nil
        }
        address.kind = kind
        return address
    }

    private mutating func addressKind(of entry: JSONObject) -> DeviceAddress.Kind? {
        let wanted = "\"public\" or \"random\""
        guard let text = optionalString("addressType", of: entry, wanted: wanted) else { return nil }
        guard let kind = DeviceAddress.Kind(rawValue: text) else {
            report(.error, entry.path(of: "addressType"), "is \"\(text.prefix(80))\"; give \(wanted)")
            return nil
        }
        return kind
    }

    /// Returns whether an address can name a beacon, and reports a problem if the device changes it, or may change it.
    private mutating func checkPermanence(
        of address: DeviceAddress, _ naming: BeaconNaming, _ entry: JSONObject
    ) -> Bool {
        let path = entry.path(of: "address")
        guard naming == .address else {
            if address.isPrivate {
                report(
                    .warning, path,
                    "has no effect, because the device changes a random address that is not static; remove it")
            }
            return true
        }
        guard !address.isPrivate else {
            let names = BeaconNaming.identifying.map(\.keys.formatted).joined(separator: ", or ")
            report(
                .error, path,
                "is a random address that the device changes, because it is not static; give \(names) instead")
            return false
        }
        if address.kind == nil, address.hasPrivateForm {
            report(
                .warning, path,
                "has not the form of a public or static address, so that the device may change it; give the addressType "
                    + "\"public\" if it is constant, or another name")
        }
        return true
    }

    private mutating func hexadecimal(_ key: String, of entry: JSONObject, digits: Int) -> String? {
        let wanted = "\(digits) hexadecimal digits"
        guard let text = string(key, of: entry, wanted: wanted) else { return nil }
        guard text.utf8.count == digits, text.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
            report(.error, entry.path(of: key), "is \"\(text.prefix(80))\"; give \(wanted)")
            return nil
        }
        return text
    }
}

extension VenueParser {
    /// Returns the valid anchors of a document.
    mutating func anchors(of root: JSONObject) -> [VenueAnchor] {
        var seen: [String: String] = [:]
        return objects("anchors", of: root, limit: limits.beacons).compactMap { anchor($0, &seen) }
    }

    private mutating func anchor(_ entry: JSONObject, _ seen: inout [String: String]) -> VenueAnchor? {
        let id = anchorID(of: entry, &seen)
        let mapID = mapID(of: entry)
        let point = point(of: entry)
        let z = optionalNumber("z", of: entry, .height)
        guard let id, let mapID, let point else { return nil }
        checkInside(point, of: mapID, at: entry.path, kind: "anchor")
        return VenueAnchor(id: id, mapID: mapID, point: point, z: z)
    }

    private mutating func anchorID(of entry: JSONObject, _ seen: inout [String: String]) -> String? {
        guard let id = string("id", of: entry, wanted: "the anchor's name as its readings have it") else { return nil }
        let path = entry.path(of: "id")
        guard (1...RangeReading.longestName).contains(id.utf8.count) else {
            report(.error, path, "has \(id.utf8.count) bytes; give a name of 1 to \(RangeReading.longestName) bytes")
            return nil
        }
        if let other = seen[id] {
            report(.error, path, "\"\(id)\" is already the id of \(other); give each anchor its own id")
        } else {
            seen[id] = entry.path
        }
        return id
    }
}
