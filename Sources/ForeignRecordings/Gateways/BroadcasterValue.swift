import BeaconScanning
import IndoorVocabulary
import TagTracking

/// A value of an advertisement in a topic of its own, as esp32-ble2mqtt publishes it: `GATEWAY/ADDRESS/NAME`.
///
/// Source: github.com/shmuelzon/esp32-ble2mqtt, `README.md`, *Broadcasters*, and `main/ble2mqtt.c`.
struct BroadcasterValue: Hashable, Sendable {
    /// The values that are read. The others, such as the distance, follow from them or concern sensors.
    enum Name: String, Hashable, Sendable {
        case type = "Type"
        case rssi = "RSSI"
        case uuid = "UUID"
        case major = "Major"
        case minor = "Minor"
        case namespace = "Namespace"
        case instance = "Instance"
        case distance = "Distance"
    }

    /// The gateway: the topic before the address.
    var gateway: String
    var address: DeviceAddress
    /// The kind of value; nil if it isn't read.
    var name: Name?
    var text: String

    /// Reads a line; returns nil if the level before the last of its topic isn't an address with colons.
    init?(_ line: GatewayLogLine) {
        let levels = line.topic.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count >= 3, line.payload.count <= 64, let address = DeviceAddress(String(levels[levels.count - 2]))
        else { return nil }
        gateway = levels.dropLast(2).joined(separator: "/")
        self.address = address
        name = Name(rawValue: String(levels[levels.count - 1]))
        text = String(decoding: line.payload, as: UTF8.self)
    }
}

/// The advertisements whose values arrive in topics of their own.
///
/// A gateway publishes the values of an advertisement one after another: first the type, then the RSSI, then those that
/// identify the beacon.
struct BroadcasterMessages: Sendable {
    /// A reading with the time of its RSSI.
    typealias Reading = (reading: GatewayReading, time: ForeignTime)

    /// The maximum number of gateways with an incomplete advertisement.
    private static let maximumGateways = 1000

    private struct Advertisement {
        var address: DeviceAddress
        var type = ""
        var rssi: (value: Double, time: ForeignTime)?
        var uuid: BeaconUUID?
        var major: UInt16?
        var minor: UInt16?
        var namespace: String?

        /// Whether values that identify a beacon may follow the RSSI.
        var isBeacon: Bool { type.isEmpty || type == "iBeacon" || type == "Eddystone" }
    }

    private var incomplete: [String: Advertisement] = [:]

    /// Adds a value; returns the advertisements that are complete.
    ///
    /// - Parameter time: the time of an RSSI; not used for other values.
    mutating func add(_ value: BroadcasterValue, at time: ForeignTime?) throws(ForeignProblem) -> [Reading] {
        var complete: [Reading] = []
        var current = incomplete.removeValue(forKey: value.gateway)
        // The type or the address of another advertisement ends the one before.
        if let before = current,
            before.address != value.address || value.name == .type || value.name == .rssi && before.rssi != nil
        {
            complete += Self.reading(of: before, value.gateway)
            current = nil
        }
        var advertisement = current ?? Advertisement(address: value.address)
        var identity: BeaconIdentity?
        switch value.name {
        case .type: advertisement.type = value.text
        case .rssi:
            let rssi = try Self.parsed(value, "a number of dBm") { FieldText.number($0) }
            advertisement.rssi = time.map { (rssi, $0) }
        case .uuid:
            advertisement.uuid = try Self.parsed(value, "a UUID") { BeaconUUID($0) }
        case .major: advertisement.major = try Self.parsed(value, "a number from 0 to 65535") { UInt16($0) }
        case .minor: advertisement.minor = try Self.parsed(value, "a number from 0 to 65535") { UInt16($0) }
        case .namespace: advertisement.namespace = value.text
        case .instance:
            if let namespace = advertisement.namespace {
                identity = try Self.parsed(value, "12 hexadecimal digits after a namespace of 20") {
                    BeaconIdentity(eddystoneNamespace: namespace, instance: $0)
                }
            }
        case .distance: break
        case nil: advertisement.type = "other"
        }
        if let uuid = advertisement.uuid, let major = advertisement.major, let minor = advertisement.minor {
            identity = BeaconIdentity(uuid: uuid, major: major, minor: minor)
        }
        // Without an RSSI, the log begins within an advertisement.
        guard advertisement.rssi != nil else {
            if value.name == .type { keep(advertisement, of: value.gateway) }
            return complete
        }
        if identity != nil || !advertisement.isBeacon {
            complete += Self.reading(of: advertisement, value.gateway, identity)
        } else {
            keep(advertisement, of: value.gateway)
        }
        return complete
    }

    /// Returns the advertisements that are incomplete at the end of the log.
    mutating func finish() -> [Reading] {
        defer { incomplete = [:] }
        return incomplete.sorted { $0.key < $1.key }.flatMap { Self.reading(of: $0.value, $0.key) }
    }

    private mutating func keep(_ advertisement: Advertisement, of gateway: String) {
        if incomplete.count < Self.maximumGateways { incomplete[gateway] = advertisement }
    }

    private static func reading(
        of advertisement: Advertisement, _ gateway: String, _ identity: BeaconIdentity? = nil
    ) -> [Reading] {
        guard let rssi = advertisement.rssi else { return [] }
        let reading = GatewayReading(
            receiver: gateway, address: advertisement.address, beacon: identity, rssi: rssi.value)
        return [(reading, rssi.time)]
    }

    private static func parsed<Value>(
        _ value: BroadcasterValue, _ expected: String, _ parse: (String) -> Value?
    ) throws(ForeignProblem) -> Value {
        guard let result = parse(value.text) else {
            throw .invalid(value.name?.rawValue ?? "", value.text, expected: expected)
        }
        return result
    }
}
