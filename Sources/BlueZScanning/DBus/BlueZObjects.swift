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
