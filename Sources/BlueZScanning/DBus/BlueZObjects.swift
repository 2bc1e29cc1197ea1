import BeaconScanning
import IndoorVocabulary

/// The adapters and devices that the Bluetooth service exports, by object path.
package struct BlueZObjects: Hashable, Sendable {
    /// The names of the service's interfaces.
    package enum Interface {
        package static let adapter = "org.bluez.Adapter1"
        package static let device = "org.bluez.Device1"
        package static let monitors = "org.bluez.AdvertisementMonitorManager1"
    }

    /// An adapter as the service describes it.
    package struct Adapter: Hashable, Sendable {
        package var adapter: BluetoothAdapter
        /// Whether a radio switch blocks the adapter.
        package var isBlocked = false
        /// Whether the discovery of any program runs.
        package var isDiscovering = false
        /// Whether the service supports advertisement monitors on the adapter.
        package var supportsMonitors = false
    }

    package private(set) var adapters: [String: Adapter] = [:]
    package private(set) var devices: [String: BlueZDevice] = [:]

    /// Creates an empty collection.
    package init() {}

    /// Creates the objects from the answer to `GetManagedObjects`: paths, interfaces, properties.
    package init(managed: BusValue) {
        for (path, interfaces) in managed.entries {
            if let path = path.text { add(path, interfaces) }
        }
    }

    /// Adds an object's interfaces with their properties.
    package mutating func add(_ path: String, _ interfaces: BusValue) {
        let interfaces = interfaces.properties
        if let properties = interfaces[Interface.adapter]?.properties { addAdapter(path, properties) }
        if interfaces[Interface.monitors] != nil { adapters[path]?.supportsMonitors = true }
        if let properties = interfaces[Interface.device]?.properties { devices[path] = BlueZDevice(properties) }
    }

    /// Removes an object's interfaces. With an adapter, it also removes the adapter's devices.
    package mutating func remove(_ path: String, _ interfaces: [String]) {
        if interfaces.contains(Interface.adapter) {
            adapters[path] = nil
            devices = devices.filter { !Self.isDevice($0.key, of: path) }
        }
        if interfaces.contains(Interface.monitors) { adapters[path]?.supportsMonitors = false }
        if interfaces.contains(Interface.device) { devices[path] = nil }
    }

    /// Applies changed properties of an adapter.
    package mutating func changeAdapter(_ path: String, _ changes: BusProperties) {
        adapters[path]?.change(changes)
    }

    /// Applies changed properties of a device, and returns the advertisement that caused the change, if any.
    package mutating func changeDevice(
        _ path: String, _ changes: BusProperties, invalidated: [String], at instant: Instant
    ) -> Advertisement? {
        devices[path]?.report(of: changes, invalidated: invalidated, at: instant)
    }

    /// Returns the path of the chosen adapter: the former one if it is still present, otherwise the first in order of
    /// numbers.
    package func path(of choice: AdapterChoice, preferring former: String?) -> String? {
        if let former, let adapter = adapters[former], choice.includes(adapter.adapter) { return former }
        return adapters.filter { choice.includes($0.value.adapter) }
            .min { ($0.key.count, $0.key) < ($1.key.count, $1.key) }?.key
    }

    /// Returns whether an object is a device of an adapter.
    package static func isDevice(_ path: String, of adapter: String) -> Bool { path.hasPrefix(adapter + "/") }

    private mutating func addAdapter(_ path: String, _ properties: BusProperties) {
        guard let address = properties["Address"]?.text.flatMap(DeviceAddress.init) else { return }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var added = Adapter(adapter: BluetoothAdapter(name: name, address: address, isPowered: false))
        added.supportsMonitors = adapters[path]?.supportsMonitors ?? false
        added.change(properties)
        adapters[path] = added
    }
}

extension BlueZObjects.Adapter {
    fileprivate mutating func change(_ changes: BusProperties) {
        if let isPowered = changes["Powered"]?.flag { adapter.isPowered = isPowered }
        // Since BlueZ 5.65. Older versions report the block when they refuse to power the adapter on.
        if let state = changes["PowerState"]?.text { isBlocked = state == "off-blocked" }
        if let discovering = changes["Discovering"]?.flag { isDiscovering = discovering }
    }
}

/// The advertising data of a device, from the Bluetooth service's object `org.bluez.Device1`.
package struct BlueZDevice: Hashable, Sendable {
    /// The device's address.
    package let address: DeviceAddress
    /// The latest RSSI in dBm; nil if the service reports none, as for a known device that is out of range.
    package private(set) var rssi: Double?
    private var manufacturerData: [UInt16: [UInt8]] = [:]
    private var serviceData: [BeaconUUID: [UInt8]] = [:]
    private var serviceUUIDs: [BeaconUUID] = []
    private var transmitPower: Int8?

    /// Creates a device from its properties; returns nil if they contain no address.
    package init?(_ properties: BusProperties) {
        guard let text = properties["Address"]?.text, var address = DeviceAddress(text) else { return nil }
        address.kind = properties["AddressType"]?.text.flatMap(DeviceAddress.Kind.init)
        self.address = address
        update(properties, invalidated: [])
    }

    /// Applies a change of properties, and returns the advertisement that caused it, if any.
    ///
    /// A change of the RSSI or of the data indicates an advertisement. If the change has no RSSI, the advertisement has
    /// the latest one; if there is none, or the service withdrew it, the function returns nil. If the change has no
    /// data, the advertisement has the latest data.
    package mutating func report(
        of changes: BusProperties, invalidated: [String] = [], at instant: Instant
    ) -> Advertisement? {
        update(changes, invalidated: invalidated)
        let hasData = changes["ManufacturerData"] != nil || changes["ServiceData"] != nil
        guard hasData || changes["RSSI"] != nil, let rssi else { return nil }
        var heard = self
        if hasData {
            if changes["ManufacturerData"] == nil { heard.manufacturerData = [:] }
            if changes["ServiceData"] == nil { heard.serviceData = [:] }
        }
        return Advertisement(instant: instant, address: address, rssi: rssi, data: heard.advertisingData)
    }

    private mutating func update(_ properties: BusProperties, invalidated: [String]) {
        if invalidated.contains("RSSI") { rssi = nil }
        if let number = properties["RSSI"]?.number {
            rssi = Sighting.isMeasurement(rssi: Double(number)) ? Double(number) : nil
        }
        if let data = properties["ManufacturerData"] {
            manufacturerData = [:]
            for (company, bytes) in data.entries {
                guard let company = company.number, let bytes = bytes.content.byteArray else { continue }
                manufacturerData[UInt16(truncatingIfNeeded: company)] = bytes
            }
        }
        if let data = properties["ServiceData"] {
            serviceData = [:]
            for (service, bytes) in data.entries {
                guard let service = service.text.flatMap(BeaconUUID.init), let bytes = bytes.content.byteArray else {
                    continue
                }
                serviceData[service] = bytes
            }
        }
        if let services = properties["UUIDs"] { serviceUUIDs = services.texts.compactMap(BeaconUUID.init) }
        if let power = properties["TxPower"]?.number { transmitPower = Int8(exactly: power) }
    }
}

extension BlueZDevice {
    /// AD structures with the data that the service reported, in ascending order of types and numbers.
    ///
    /// They differ from the bytes on the air: the service parses those, and discards their order and the types it
    /// doesn't know. Data too long for a structure is omitted.
    package var advertisingData: [UInt8] {
        var data: [UInt8] = []
        let short = serviceUUIDs.compactMap(\.shortForm).sorted()
        if !short.isEmpty { data.append(type: 0x03, short.flatMap { Self.littleEndian($0) }) }
        let long = serviceUUIDs.filter { $0.shortForm == nil }.sorted()
        if !long.isEmpty { data.append(type: 0x07, long.flatMap { Self.littleEndian($0) }) }
        if let transmitPower { data.append(type: 0x0A, [UInt8(bitPattern: transmitPower)]) }
        for (service, bytes) in serviceData.sorted(by: { $0.key < $1.key }) {
            if let short = service.shortForm {
                data.append(type: AdvertisingStructure.KnownType.serviceData, Self.littleEndian(short) + bytes)
            } else {
                data.append(type: 0x21, Self.littleEndian(service) + bytes)
            }
        }
        for (company, bytes) in manufacturerData.sorted(by: { $0.key < $1.key }) {
            data.append(type: AdvertisingStructure.KnownType.manufacturerData, Self.littleEndian(company) + bytes)
        }
        return data
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    private static func littleEndian(_ uuid: BeaconUUID) -> [UInt8] {
        [uuid.low, uuid.high].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64($0 * 8)) }
        }
    }
}

extension BeaconUUID {
    /// The 16-bit form of the UUID; nil if it has none.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 3 Part B, 2.5.1: 0000xxxx-0000-1000-8000-00805F9B34FB.
    fileprivate var shortForm: UInt16? {
        guard low == 0x8000_0080_5F9B_34FB, high & 0xFFFF_0000_FFFF_FFFF == 0x1000 else { return nil }
        return UInt16(truncatingIfNeeded: high >> 32)
    }
}

extension [UInt8] {
    /// Appends an AD structure, unless its length doesn't fit into a byte.
    fileprivate mutating func append(type: UInt8, _ payload: [UInt8]) {
        guard payload.count <= 254 else { return }
        append(UInt8(payload.count + 1))
        append(type)
        append(contentsOf: payload)
    }
}

/// A call to the Bluetooth service.
package enum BlueZCall: Hashable, Sendable {
    /// Lists the service's objects.
    case listObjects
    /// Powers the adapter on or off.
    case setPower(adapter: String, Bool)
    /// Registers our monitor, so that the service scans passively and reports the matching advertisements.
    case registerMonitor(adapter: String)
    case unregisterMonitor(adapter: String)
    /// Sets the discovery filter: LE only, with repeated reports if `duplicates` is true.
    case setFilter(adapter: String, duplicates: Bool)
    case startDiscovery(adapter: String)
    case stopDiscovery(adapter: String)

    /// The service's name on the bus.
    package static let service = "org.bluez"

    /// Returns the call as a message.
    package func message(serial: UInt32) -> BusMessage {
        switch self {
        case .listObjects:
            Self.call("GetManagedObjects", of: "org.freedesktop.DBus.ObjectManager", on: "/", serial)
        case .setPower(let adapter, let isOn):
            Self.call(
                "Set", of: "org.freedesktop.DBus.Properties", on: adapter, serial,
                [.string(BlueZObjects.Interface.adapter), .string("Powered"), .variant(.boolean(isOn))])
        case .registerMonitor(let adapter):
            Self.call(
                "RegisterMonitor", of: BlueZObjects.Interface.monitors, on: adapter, serial,
                [.objectPath(AdvertisementMonitor.rootPath)])
        case .unregisterMonitor(let adapter):
            Self.call(
                "UnregisterMonitor", of: BlueZObjects.Interface.monitors, on: adapter, serial,
                [.objectPath(AdvertisementMonitor.rootPath)])
        case .setFilter(let adapter, let duplicates):
            Self.call(
                "SetDiscoveryFilter", of: BlueZObjects.Interface.adapter, on: adapter, serial,
                [.properties(["Transport": .string("le"), "DuplicateData": .boolean(duplicates)])])
        case .startDiscovery(let adapter):
            Self.call("StartDiscovery", of: BlueZObjects.Interface.adapter, on: adapter, serial)
        case .stopDiscovery(let adapter):
            Self.call("StopDiscovery", of: BlueZObjects.Interface.adapter, on: adapter, serial)
        }
    }

    private static func call(
        _ member: String, of interface: String, on path: String, _ serial: UInt32, _ body: [BusValue] = []
    ) -> BusMessage {
        .call(member, of: interface, on: path, at: service, serial: serial, body)
    }
}

/// The signals that a scan subscribes to.
package enum BlueZSignals {
    /// The match rules. Source: D-Bus Specification 0.42, Match Rules.
    package static let rules = [
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.bluez'",
        "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
        "type='signal',sender='org.bluez',member='PropertiesChanged',arg0='org.bluez.Adapter1'",
        "type='signal',sender='org.bluez',member='PropertiesChanged',arg0='org.bluez.Device1'",
    ]
}

/// The D-Bus objects that define which advertisements the Bluetooth service reports while it scans passively.
///
/// An application exports an object manager and, below it, a monitor with the patterns. The service reads both when the
/// application registers. Source: BlueZ 5.66, doc/advertisement-monitor-api.txt.
package enum AdvertisementMonitor {
    /// The path of the object manager. Paths are separate for each connection.
    package static let rootPath = "/indoorlocalization"
    /// The path of the monitor.
    package static let path = "/indoorlocalization/beacons"
    /// The monitor's interface.
    package static let interface = "org.bluez.AdvertisementMonitor1"

    /// The patterns that match the known beacon formats: offset in the payload, AD type, bytes.
    private static let patterns: [(offset: UInt8, type: UInt8, bytes: [UInt8])] = [
        // iBeacon: Apple's company number, type and length.
        (0, 0xFF, [0x4C, 0x00, 0x02, 0x15]),
        // AltBeacon: the beacon code after any company's number.
        (2, 0xFF, [0xBE, 0xAC]),
        // Eddystone-UID: the service's number and the frame's type.
        (0, 0x16, [0xAA, 0xFE, 0x00]),
    ]

    /// Returns the answer to a method call from the service; nil if the call expects none.
    package static func answer(_ call: BusMessage) -> BusMessage? {
        guard call.expectsReply else { return nil }
        switch (call.interface, call.member, call.path) {
        case ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", rootPath):
            let objects: [BusValue: BusValue] = [
                .objectPath(path): .dictionary([.string(interface): .properties(properties)], of: "sa{sv}")
            ]
            return call.reply([.dictionary(objects, of: "oa{sa{sv}}")])
        case ("org.freedesktop.DBus.Properties", "GetAll", path):
            return call.reply([.properties(properties)])
        case (interface, "Activate", path), (interface, "Release", path), (interface, "DeviceFound", path),
            (interface, "DeviceLost", path):
            return call.reply()
        default:
            return call.refusal("org.freedesktop.DBus.Error.UnknownMethod", "The object has no such method.")
        }
    }

    private static var properties: BusProperties {
        let patterns = patterns.map { BusValue.structure([.byte($0.offset), .byte($0.type), .bytes($0.bytes)]) }
        return ["Type": .string("or_patterns"), "Patterns": .array(patterns, of: "(yyay)")]
    }
}
