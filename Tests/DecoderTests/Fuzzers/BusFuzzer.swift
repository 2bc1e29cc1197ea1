// Treats bytes as messages of a D-Bus: reading must not trap, what is read must be written and read back equal, and the
// scan must go on with any message of the Bluetooth service.
//
// Random bytes are rarely a message, so bytes change messages of the service: a pair has an offset and a value. The first
// byte selects whether the bytes are a message or such changes.
import BeaconScanning
import CDBus
import IndoorVocabulary

@testable import BlueZScanning

func fuzzBus(_ input: [UInt8]) throws(Finding) {
    guard let first = input.first else { return }
    let bytes = Array(input.dropFirst())
    var scan = try Scan()
    if first & 1 == 0 {
        try scan.receive(message(bytes))
        return
    }
    // The changes of each message end with a pair of zeros.
    var part: [UInt8] = []
    var number = Int(first >> 1)
    var count = 0
    for index in stride(from: 0, to: bytes.count - 1, by: 2) {
        part += bytes[index...index + 1]
        guard part.suffix(2) == [0, 0] || index + 3 >= bytes.count else { continue }
        try scan.receive(message(changed(base[number % base.count], part)))
        number += 1
        count += 1
        part = []
        // More messages take time, and reach no other state.
        if count == 8 { break }
    }
}

/// Returns the message of bytes; nil if libdbus rejects them.
private func message(_ bytes: [UInt8]) throws(Finding) -> BusMessage? {
    let native = bytes.withUnsafeBytes { buffer in
        dbus_message_demarshal(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count), nil)
    }
    guard let native else { return nil }
    defer { dbus_message_unref(native) }
    guard let message = BusMessageReader.read(native) else { return nil }
    try checkAgain(message)
    return message
}

/// Writes a message and reads it again.
private func checkAgain(_ message: BusMessage) throws(Finding) {
    guard !message.body.contains(where: hasUnread), let native = BusMessageWriter.write(message) else { return }
    defer { dbus_message_unref(native) }
    guard let again = BusMessageReader.read(native), again.body.elementsEqual(message.body, by: isEqual),
        again.member == message.member, again.path == message.path
    else { throw Finding("\(message) does not read back equal") }
}

/// Whether the package doesn't read a part of a value, or can't compare it.
private func hasUnread(_ value: BusValue) -> Bool {
    switch value {
    case .unread: true
    // An array of such elements contains the type code even if it is empty.
    case .array(let values, let element): element.contains("h") || values.contains(where: hasUnread)
    case .dictionary(let entries, let entry):
        entry.contains("h") || entries.contains { hasUnread($0.key) || hasUnread($0.value) }
    case .structure(let values): values.contains(where: hasUnread)
    case .variant(let inner): hasUnread(inner)
    case .double(let number): number.isNaN
    default: false
    }
}

private func isEqual(_ left: BusValue, _ right: BusValue) -> Bool { left == right }

// MARK: Messages of the service

private let adapter = "/org/bluez/hci0"
private let device = "/org/bluez/hci0/dev_00_11_22_33_44_55"

private func dictionary(_ interface: String, _ properties: BusProperties) -> BusValue {
    .dictionary([.string(interface): .properties(properties)], of: "sa{sv}")
}

private let deviceProperties: BusProperties = [
    "Address": .string("00:11:22:33:44:55"), "AddressType": .string("public"), "RSSI": .int16(-60),
    "TxPower": .int16(-4), "UUIDs": .array([.string("0000feaa-0000-1000-8000-00805f9b34fb")], of: "s"),
    "ManufacturerData": .dictionary(
        [.uint16(0x4C): .variant(.bytes([2, 21] + [UInt8](repeating: 7, count: 20) + [0xC5]))], of: "qv"),
    "ServiceData": .dictionary(
        [
            .string("0000feaa-0000-1000-8000-00805f9b34fb"): .variant(
                .bytes([0, 0xEE] + [UInt8](repeating: 1, count: 16)))
        ],
        of: "sv"),
]

private let base: [[UInt8]] = {
    let adapterProperties: BusProperties = [
        "Address": .string("00:11:22:33:44:66"), "Powered": .boolean(true), "Discovering": .boolean(false),
        "PowerState": .string("on"),
    ]
    var reply = BusMessage(kind: .methodReturn)
    reply.replySerial = BlueZScanMemory.serialsStart + 1
    reply.body = [
        .dictionary(
            [
                .objectPath(adapter): dictionary(BlueZObjects.Interface.adapter, adapterProperties),
                .objectPath(device): dictionary(BlueZObjects.Interface.device, deviceProperties),
            ], of: "oa{sa{sv}}")
    ]
    var added = BusMessage(kind: .signal)
    (added.path, added.interface, added.member) = ("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded")
    added.body = [.objectPath(device), dictionary(BlueZObjects.Interface.device, deviceProperties)]
    var removed = added
    removed.member = "InterfacesRemoved"
    removed.body = [.objectPath(device), .array([.string(BlueZObjects.Interface.device)], of: "s")]
    var changed = BusMessage(kind: .signal)
    (changed.path, changed.interface, changed.member) = (device, "org.freedesktop.DBus.Properties", "PropertiesChanged")
    changed.body = [
        .string(BlueZObjects.Interface.device), .properties(deviceProperties), .array([.string("RSSI")], of: "s"),
    ]
    var power = changed
    power.path = adapter
    power.body = [.string(BlueZObjects.Interface.adapter), .properties(adapterProperties), .array([], of: "s")]
    var error = BusMessage(kind: .error)
    (error.errorName, error.replySerial) = ("org.bluez.Error.Failed", BlueZScanMemory.serialsStart + 1)
    error.body = [.string("Operation is not possible.")]
    let release = BusMessage.call(
        "Release", of: AdvertisementMonitor.interface, on: AdvertisementMonitor.path, at: ":1.5", serial: 9)
    return [reply, added, changed, removed, power, error, release].map { message in
        var message = message
        message.serial = 77
        guard let native = BusMessageWriter.write(message) else { fatalError("\(message) does not write") }
        defer { dbus_message_unref(native) }
        var (start, count): (UnsafeMutablePointer<CChar>?, Int32) = (nil, 0)
        guard dbus_message_marshal(native, &start, &count) != 0, let start else { fatalError("no bytes") }
        defer { dbus_free(start) }
        return UnsafeRawBufferPointer(start: start, count: Int(count)).map { $0 }
    }
}()

private func changed(_ bytes: [UInt8], _ changes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    var offset = 0
    for index in stride(from: 0, to: changes.count - 1, by: 2) where changes[index...index + 1] != [0, 0] {
        // Offsets are relative, so that a byte reaches every place.
        offset = (offset + Int(changes[index])) % bytes.count
        bytes[offset] = changes[index + 1]
    }
    return bytes
}

// MARK: The scan

private struct Scan {
    private var machine = BlueZScanMachine(BlueZScanSettings(adapter: .first, content: .everything))
    private var now = Instant(seconds: 100)

    init() throws(Finding) {
        try handle(.connected)
        guard let reply = try message(base[0]) else { throw Finding("a message does not read") }
        try receive(reply)
    }

    /// Receives a message as one of the service, and as the answer to the pending call.
    mutating func receive(_ message: BusMessage?) throws(Finding) {
        guard var message else { return }
        try handle(.received(message))
        message.sender = ":1.5"
        if case .asking(let pending) = machine.state { message.replySerial = pending.serial }
        try handle(.received(message))
        now = now.advanced(by: .milliseconds(700))
        if let due = machine.dueTime, due <= now { try handle(.tick) }
    }

    private mutating func handle(_ event: BlueZScanMachine.Event) throws(Finding) {
        for directive in machine.handle(event, at: now) {
            switch directive {
            case .yield(.advertisement(let heard)):
                guard Sighting.isMeasurement(rssi: heard.rssi) else { throw Finding("\(heard) does not have an RSSI") }
            case .send(let message):
                guard let native = BusMessageWriter.write(message) else { throw Finding("\(message) does not write") }
                dbus_message_unref(native)
            default: break
            }
        }
    }
}
