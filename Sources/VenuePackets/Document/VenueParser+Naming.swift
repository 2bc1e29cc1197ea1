import IndoorVocabulary
import VenueModel

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
