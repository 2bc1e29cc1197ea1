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
