import BeaconScanning
import IndoorVocabulary

/// What the Bluetooth service tells of a device: the object `org.bluez.Device1`, as far as it was heard on the air.
package struct BlueZDevice: Hashable, Sendable {
    /// The device's address.
    package let address: DeviceAddress
    /// The latest signal strength in dBm; nil if none is told, as of a device that is known but not heard.
    package private(set) var rssi: Double?
    private var manufacturerData: [UInt16: [UInt8]] = [:]
    private var serviceData: [BeaconUUID: [UInt8]] = [:]
    private var serviceUUIDs: [BeaconUUID] = []
    private var transmitPower: Int8?

    /// Reads the properties of a device; nil if they tell no address.
    package init?(_ properties: BusProperties) {
        guard let text = properties["Address"]?.text, var address = DeviceAddress(text) else { return nil }
        address.kind = properties["AddressType"]?.text.flatMap(DeviceAddress.Kind.init)
        self.address = address
        update(properties, invalidated: [])
    }

    /// What was heard, if a change of properties tells that something was.
    ///
    /// A change of the signal strength or of the data does. Without a signal strength of its own, the report has the
    /// latest one; if there is none, or it was withdrawn, nothing is reported. Data that come with the change are the
    /// report's; without, the latest are.
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
    /// AD structures that say what the service told, in ascending order of types and numbers.
    ///
    /// They are not the bytes that went over the air: the service takes these apart and keeps neither their order nor
    /// what it does not know. Data too long for a structure are left out.
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
    /// The 16-bit number that the UUID stands for; nil if it is another one.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 3 Part B, 2.5.1: 0000xxxx-0000-1000-8000-00805F9B34FB.
    fileprivate var shortForm: UInt16? {
        guard low == 0x8000_0080_5F9B_34FB, high & 0xFFFF_0000_FFFF_FFFF == 0x1000 else { return nil }
        return UInt16(truncatingIfNeeded: high >> 32)
    }
}

extension [UInt8] {
    /// Adds an AD structure, unless its length does not fit into a byte.
    fileprivate mutating func append(type: UInt8, _ payload: [UInt8]) {
        guard payload.count <= 254 else { return }
        append(UInt8(payload.count + 1))
        append(type)
        append(contentsOf: payload)
    }
}
