import IndoorVocabulary

/// The adapters and devices that the Bluetooth service shows, by the paths of their objects.
package struct BlueZObjects: Hashable, Sendable {
    /// Names of the service's interfaces.
    package enum Interface {
        package static let adapter = "org.bluez.Adapter1"
        package static let device = "org.bluez.Device1"
        package static let monitors = "org.bluez.AdvertisementMonitorManager1"
    }

    /// An adapter as the service shows it.
    package struct Adapter: Hashable, Sendable {
        package var adapter: BluetoothAdapter
        /// Whether a radio switch keeps it off.
        package var isBlocked = false
        /// Whether anybody's discovery runs.
        package var isDiscovering = false
        /// Whether the service takes advertisement monitors.
        package var takesMonitors = false
    }

    package private(set) var adapters: [String: Adapter] = [:]
    package private(set) var devices: [String: BlueZDevice] = [:]

    /// No objects.
    package init() {}

    /// Reads what `GetManagedObjects` answers: paths, interfaces, properties.
    package init(managed: BusValue) {
        for (path, interfaces) in managed.entries {
            if let path = path.text { add(path, interfaces) }
        }
    }

    /// Takes in an object's interfaces with their properties.
    package mutating func add(_ path: String, _ interfaces: BusValue) {
        let interfaces = interfaces.properties
        if let properties = interfaces[Interface.adapter]?.properties { addAdapter(path, properties) }
        if interfaces[Interface.monitors] != nil { adapters[path]?.takesMonitors = true }
        if let properties = interfaces[Interface.device]?.properties { devices[path] = BlueZDevice(properties) }
    }

    /// Forgets an object's interfaces, and with an adapter its devices.
    package mutating func remove(_ path: String, _ interfaces: [String]) {
        if interfaces.contains(Interface.adapter) {
            adapters[path] = nil
            devices = devices.filter { !Self.isDevice($0.key, of: path) }
        }
        if interfaces.contains(Interface.monitors) { adapters[path]?.takesMonitors = false }
        if interfaces.contains(Interface.device) { devices[path] = nil }
    }

    /// Takes in changed properties of an adapter.
    package mutating func changeAdapter(_ path: String, _ changes: BusProperties) {
        adapters[path]?.change(changes)
    }

    /// Takes in changed properties of a device; returns what was heard of it, if the change tells that.
    package mutating func changeDevice(
        _ path: String, _ changes: BusProperties, invalidated: [String], at instant: Instant
    ) -> Advertisement? {
        devices[path]?.report(of: changes, invalidated: invalidated, at: instant)
    }

    /// Where the adapter that is meant is: the former one if it is still there, else the first in order of numbers.
    package func path(of choice: AdapterChoice, preferring former: String?) -> String? {
        if let former, let adapter = adapters[former], choice.includes(adapter.adapter) { return former }
        return adapters.filter { choice.includes($0.value.adapter) }
            .min { ($0.key.count, $0.key) < ($1.key.count, $1.key) }?.key
    }

    /// Whether an object is a device that an adapter hears.
    package static func isDevice(_ path: String, of adapter: String) -> Bool { path.hasPrefix(adapter + "/") }

    private mutating func addAdapter(_ path: String, _ properties: BusProperties) {
        guard let address = properties["Address"]?.text.flatMap(DeviceAddress.init) else { return }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var added = Adapter(adapter: BluetoothAdapter(name: name, address: address, isPowered: false))
        added.takesMonitors = adapters[path]?.takesMonitors ?? false
        added.change(properties)
        adapters[path] = added
    }
}

extension BlueZObjects.Adapter {
    fileprivate mutating func change(_ changes: BusProperties) {
        if let isPowered = changes["Powered"]?.flag { adapter.isPowered = isPowered }
        // Since BlueZ 5.65; older ones say it when they refuse to power the adapter on.
        if let state = changes["PowerState"]?.text { isBlocked = state == "off-blocked" }
        if let discovering = changes["Discovering"]?.flag { isDiscovering = discovering }
    }
}
