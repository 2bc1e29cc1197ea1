import BeaconScanning
import IndoorVocabulary

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
