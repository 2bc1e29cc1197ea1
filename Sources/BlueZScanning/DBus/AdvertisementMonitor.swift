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
