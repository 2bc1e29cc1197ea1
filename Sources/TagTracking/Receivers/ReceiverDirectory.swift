import IndoorVocabulary
import TextFormats
import VenueModel

/// The names by which gateways report the receivers of a venue.
///
/// A name that equals an ID or an alias has precedence. Otherwise, the case of letters, the separators of addresses and
/// punctuation don't matter, because firmware writes `AA:BB:CC:DD:EE:FF`, `aabbccddeeff` and, for the room
/// "Living room", `living_room`. A name that matches several receivers in this way is unknown.
struct ReceiverDirectory: Sendable {
    /// The prefixes by which ESPresense nodes report another node: that of its beacon, and that of its name.
    private static let beaconPrefix = "ibeacon:"
    private static let nodePrefix = "node:"

    /// The number of receivers.
    let count: Int
    private var exact: [String: Int] = [:]
    /// The IDs of the receivers by their names that aren't addresses, in the order of the venue.
    private var words: [(name: String, id: String)] = []
    /// Receivers by normal form; nil for a form that several receivers share.
    private var normal: [String: Int?] = [:]
    /// The receivers that also transmit, by the key under which other receivers report them.
    private var transmitters: [TagKey: Int] = [:]

    /// Creates the directory of receivers.
    init(_ receivers: [VenueReceiver]) {
        count = receivers.count
        for (index, receiver) in receivers.enumerated() {
            transmitters[.beacon(receiver.identity)] = index
            for name in [receiver.id] + receiver.aliases {
                if exact[name] == nil { exact[name] = index }
                if Self.address(name) == nil { words.append((name, receiver.id)) }
                let form = Self.normalForm(name)
                if let known = normal[form], known != index {
                    normal[form] = .some(nil)
                } else {
                    normal[form] = index
                }
                for key in Self.keys(name) where transmitters[key] == nil { transmitters[key] = index }
            }
        }
    }

    /// Returns the index of the receiver with a name; nil if the venue doesn't have it.
    func index(of name: String) -> Int? { exact[name] ?? normal[Self.normalForm(name)] ?? nil }

    /// Returns the ID of the receiver whose name is most similar to a name that the venue doesn't have; nil if none is
    /// similar. Addresses aren't compared: those of one manufacturer are all similar.
    func nearest(to name: String) -> String? {
        guard Self.address(name) == nil, let nearest = EditDistance.nearestWord(to: name, among: words.map(\.name))
        else { return nil }
        return words.first { $0.name == nearest }?.id
    }

    /// Returns the index of the receiver that a tag is, such as a node that advertises; nil for other tags.
    func index(of tag: TagKey) -> Int? {
        if let index = transmitters[tag] { return index }
        guard case .name(let name) = tag else { return nil }
        if let beacon = Self.beacon(name) { return transmitters[.beacon(beacon)] }
        let lower = name.lowercased()
        guard lower.hasPrefix(Self.nodePrefix) else { return nil }
        return index(of: String(lower.dropFirst(Self.nodePrefix.count)))
    }

    /// Returns the keys under which a receiver with a name is reported as a tag.
    private static func keys(_ name: String) -> [TagKey] {
        if let beacon = beacon(name) { return [.beacon(beacon)] }
        if let address = address(name) { return [.address(address)] }
        guard let key = TagKey(name), case .beacon = key else { return [] }
        return [key]
    }

    /// Returns the beacon in a name such as `iBeacon:e5ca1ade-f007-ba11-0000-000000000000-100-1`; nil for other names.
    private static func beacon(_ name: String) -> BeaconIdentity? {
        guard name.lowercased().hasPrefix(beaconPrefix) else { return nil }
        let parts = name.dropFirst(beaconPrefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 3, let minor = UInt16(parts[parts.count - 1]), let major = UInt16(parts[parts.count - 2]),
            let uuid = BeaconUUID(parts.dropLast(2).joined(separator: "-"))
        else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    /// Returns the address in a name of twelve hexadecimal digits, with or without separators; nil for other names.
    private static func address(_ name: String) -> DeviceAddress? {
        let digits = name.utf8.filter { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "-") }
        guard digits.count == 12, name.utf8.count == 12 || name.utf8.count == 17,
            let value = HexDigits.number(digits.span)
        else { return nil }
        return DeviceAddress(rawValue: value)
    }

    /// Returns an address without separators, or the letters and digits in lower case with `_` between the words.
    private static func normalForm(_ name: String) -> String {
        if let address = address(name) { return address.description }
        var form = ""
        for scalar in name.lowercased().unicodeScalars {
            if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                form.unicodeScalars.append(scalar)
            } else if !form.isEmpty, form.last != "_" {
                form.append("_")
            }
        }
        return form.last == "_" ? String(form.dropLast()) : form
    }
}

/// A cache of the receivers by the names that gateways have sent, because computing the normal form of a name takes
/// time.
struct ReceiverNames: Sendable {
    /// The limit on the number of names, because unknown gateways can send any name.
    private static let limit = 4096

    private var indexes: [String: Int?] = [:]

    /// Returns the index of the receiver with a name; nil if the venue doesn't have it.
    mutating func index(of name: String, in directory: ReceiverDirectory) -> Int? {
        if let known = indexes[name] { return known }
        let index = directory.index(of: name)
        if indexes.count < Self.limit { indexes[name] = .some(index) }
        return index
    }
}

/// The messages that gateways have sent: the latest one of each receiver, and the names that the venue doesn't have.
///
/// A gateway that never sent anything has no health, and neither has one whose name is misspelt. This type
/// distinguishes the two cases.
package struct GatewayActivity: Hashable, Sendable {
    /// A gateway whose name the venue doesn't have.
    package struct UnknownGateway: Hashable, Sendable {
        /// The name in its messages.
        package var name: String
        /// The time of its latest message.
        package var latest: Instant
        /// The receiver that is probably meant; nil if no receiver has a similar name.
        package var nearest: String?

        /// Creates a gateway without a receiver.
        package init(name: String, latest: Instant, nearest: String? = nil) {
            self.name = name
            self.latest = latest
            self.nearest = nearest
        }

        /// The problem in words, such as: unknown gateway "wating": is it "waiting"?
        package var text: String {
            "unknown gateway \"\(name)\"" + (nearest.map { ": is it \"\($0)\"?" } ?? "")
        }
    }

    /// The limit on the number of unknown gateways; those that sent most recently are kept.
    package static let mostUnknownGateways = 100

    /// The time of the latest message of each receiver that has sent one, by its name in the venue.
    package var latest: [String: Instant] = [:]
    /// The gateways without a receiver, in the order of their names.
    package var unknownGateways: [UnknownGateway] = []

    /// Creates the activity of gateways that haven't sent anything.
    package init() {}
}

/// A cache of the receivers whose names are similar to unknown names of gateways, because the search takes time in a
/// large venue.
package struct NearestReceivers: Sendable {
    /// The limit on the number of names, and on the number of searches of a call, because a foreign device can send any
    /// name.
    private static let limit = 4096
    private static let searches = 5

    private var found: [String: String?] = [:]

    /// Creates an empty list.
    package init() {}

    /// Returns the activity of gateways.
    ///
    /// - Parameters:
    ///   - senders: the names in messages, each with the time of its latest message.
    ///   - monitor: the receivers of the venue, with the times of the messages before the start.
    package mutating func activity(
        of senders: some Sequence<(name: String, latest: Instant)>, _ monitor: ReceiverMonitor
    ) -> GatewayActivity {
        var activity = GatewayActivity()
        activity.latest = monitor.latestMessages
        var unknownGateways: [GatewayActivity.UnknownGateway] = []
        for sender in senders {
            if let index = monitor.directory.index(of: sender.name) {
                let id = monitor.receivers[index].id
                activity.latest[id] = max(activity.latest[id] ?? sender.latest, sender.latest)
            } else {
                unknownGateways.append(GatewayActivity.UnknownGateway(name: sender.name, latest: sender.latest))
            }
        }
        unknownGateways.sort { ($1.latest, $0.name) < ($0.latest, $1.name) }
        activity.unknownGateways = Array(unknownGateways.prefix(GatewayActivity.mostUnknownGateways))
        var searches = 0
        for index in activity.unknownGateways.indices {
            let name = activity.unknownGateways[index].name
            if found[name] == nil, searches < Self.searches {
                searches += 1
                if found.count >= Self.limit { found = [:] }
                found[name] = .some(monitor.directory.nearest(to: name))
            }
            activity.unknownGateways[index].nearest = found[name] ?? nil
        }
        activity.unknownGateways.sort { $0.name < $1.name }
        return activity
    }
}
