import BlueZScanning
import IndoorLocalization
import XCTest

/// A test double of the message bus and the Bluetooth service for `BlueZScanMachine`, with a clock that the test
/// controls.
struct DBusStage {
    static let owner = ":1.7"
    static let adapterPath = "/org/bluez/hci0"
    static let devicePath = "/org/bluez/hci0/dev_C0_55_44_33_22_11"
    /// An iBeacon frame after its company number: type, length, UUID, major 1, minor 7, power -59 dBm.
    static let iBeacon: [UInt8] =
        [0x02, 0x15] + [
            0xB9, 0x40, 0x7F, 0x30, 0xF5, 0xF8, 0x46, 0x6E, 0xAF, 0xF9, 0x25, 0x55, 0x6B, 0x57, 0xFE, 0x6D,
        ] + [0, 1, 0, 7, 0xC5]

    var machine: BlueZScanMachine
    var now = Instant(seconds: 100)
    /// The directives of the latest event.
    var directives: [BlueZScanMachine.Directive] = []

    init(
        adapter: AdapterChoice = .first, content: ScanContent = .beacons,
        _ change: (inout BlueZScanSettings) -> Void = { _ in }
    ) {
        var settings = BlueZScanSettings(adapter: adapter, content: content)
        change(&settings)
        machine = BlueZScanMachine(settings)
    }

    // MARK: - Events

    mutating func happen(_ event: BlueZScanMachine.Event) {
        directives = machine.handle(event, at: now)
    }

    mutating func wait(_ duration: Duration) {
        now = now.advanced(by: duration)
        happen(.tick)
    }

    /// Answers the pending call.
    mutating func answer(_ body: [BusValue] = [], file: StaticString = #filePath, line: UInt = #line) {
        guard let pending else { return XCTFail("no call is pending", file: file, line: line) }
        var message = BusMessage(kind: .methodReturn)
        message.sender = Self.owner
        message.replySerial = pending.serial
        message.body = body
        happen(.received(message))
    }

    mutating func refuse(_ error: String, file: StaticString = #filePath, line: UInt = #line) {
        guard let pending else { return XCTFail("no call is pending", file: file, line: line) }
        var message = BusMessage(kind: .error)
        message.sender = Self.owner
        message.replySerial = pending.serial
        message.errorName = error
        message.body = [.string("refused by the test")]
        happen(.received(message))
    }

    mutating func signal(
        _ member: String, on path: String = "/", from sender: String = DBusStage.owner, _ body: [BusValue]
    ) {
        var message = BusMessage(kind: .signal)
        message.sender = sender
        message.path = path
        message.member = member
        message.body = body
        happen(.received(message))
    }

    mutating func ownerChanges(to owner: String) {
        let former = owner.isEmpty ? Self.owner : ""
        signal(
            "NameOwnerChanged", from: "org.freedesktop.DBus", [.string("org.bluez"), .string(former), .string(owner)])
    }

    mutating func adapterChanges(_ changes: BusProperties, at path: String = DBusStage.adapterPath) {
        signal(
            "PropertiesChanged", on: path,
            [.string("org.bluez.Adapter1"), .properties(changes), .array([], of: "s")])
    }

    mutating func deviceChanges(
        _ changes: BusProperties, invalidated: [String] = [], at path: String = DBusStage.devicePath,
        from sender: String = DBusStage.owner
    ) {
        signal(
            "PropertiesChanged", on: path, from: sender,
            [
                .string("org.bluez.Device1"), .properties(changes),
                .array(invalidated.map(BusValue.string), of: "s"),
            ])
    }

    mutating func deviceAppears(_ properties: BusProperties, at path: String = DBusStage.devicePath) {
        signal("InterfacesAdded", [.objectPath(path), Self.interfaces(["org.bluez.Device1": properties])])
    }

    /// Runs the scan until the adapter scans.
    mutating func begin(supportsMonitors: Bool = false, file: StaticString = #filePath, line: UInt = #line) {
        happen(.connected)
        answer(
            [Self.objects([Self.adapterPath: Self.adapter(supportsMonitors: supportsMonitors)])], file: file, line: line
        )
        if supportsMonitors { answer(file: file, line: line) }
        answer(file: file, line: line)
        answer(file: file, line: line)
    }

    // MARK: - Observed state

    /// The pending call.
    var pending: BlueZScanMachine.Pending? {
        switch machine.state {
        case .asking(let pending), .stopping(let pending, then: _): pending
        default: nil
        }
    }

    var call: BlueZCall? { pending?.call }

    /// The calls of the latest event, as messages.
    var sentMembers: [String] {
        directives.compactMap { if case .send(let message) = $0 { message.member } else { nil } }
    }

    var events: [RadioEvent] {
        directives.compactMap { if case .yield(.radio(let event)) = $0 { event } else { nil } }
    }

    var statuses: [RadioEvent.Status] { events.map(\.status) }

    var sightings: [Sighting] {
        directives.compactMap { if case .yield(.sighting(let sighting)) = $0 { sighting } else { nil } }
    }

    var advertisements: [Advertisement] {
        directives.compactMap { if case .yield(.advertisement(let heard)) = $0 { heard } else { nil } }
    }

    // MARK: - Values in the service's form

    static func interfaces(_ interfaces: [String: BusProperties]) -> BusValue {
        var entries: [BusValue: BusValue] = [:]
        for (name, properties) in interfaces { entries[.string(name)] = .properties(properties) }
        return .dictionary(entries, of: "sa{sv}")
    }

    static func objects(_ objects: [String: [String: BusProperties]]) -> BusValue {
        var entries: [BusValue: BusValue] = [:]
        for (path, each) in objects { entries[.objectPath(path)] = interfaces(each) }
        return .dictionary(entries, of: "oa{sa{sv}}")
    }

    static func adapter(
        address: String = "C0:05:04:03:02:01", isPowered: Bool = true, state: String? = nil,
        supportsMonitors: Bool = false
    ) -> [String: BusProperties] {
        var properties: BusProperties = ["Address": .string(address), "Powered": .boolean(isPowered)]
        if let state { properties["PowerState"] = .string(state) }
        var interfaces = ["org.bluez.Adapter1": properties]
        if supportsMonitors { interfaces["org.bluez.AdvertisementMonitorManager1"] = [:] }
        return interfaces
    }

    static func beacon(rssi: Int16?) -> BusProperties {
        var properties: BusProperties = [
            "Address": .string("C0:55:44:33:22:11"), "AddressType": .string("random"),
            "ManufacturerData": manufacturerData([0x004C: iBeacon]),
        ]
        if let rssi { properties["RSSI"] = .int16(rssi) }
        return properties
    }

    static func manufacturerData(_ data: [UInt16: [UInt8]]) -> BusValue {
        var entries: [BusValue: BusValue] = [:]
        for (company, bytes) in data { entries[.uint16(company)] = .variant(.bytes(bytes)) }
        return .dictionary(entries, of: "qv")
    }

    static func serviceData(_ data: [String: [UInt8]]) -> BusValue {
        var entries: [BusValue: BusValue] = [:]
        for (service, bytes) in data { entries[.string(service)] = .variant(.bytes(bytes)) }
        return .dictionary(entries, of: "sv")
    }
}
