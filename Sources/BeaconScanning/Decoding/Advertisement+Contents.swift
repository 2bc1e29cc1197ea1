import IndoorVocabulary

/// The contents of an advertisement from a beacon or another device.
///
/// Each access reads the data again. If the data are malformed, it reads only the part before the defect.
extension Advertisement {
    /// Returns the sighting of the beacon that sent this; nil if the sender is not a beacon, or the RSSI is not a measurement.
    ///
    /// - Throws: `AdvertisementError` if the data are malformed.
    public func sighting() throws(AdvertisementError) -> Sighting? {
        guard case .beacon(let frame) = try BeaconFrame.decode(data.span) else { return nil }
        guard hasMeasurement else { return nil }
        return Sighting(
            instant: instant, beacon: frame.beacon, rssi: rssi, measuredPower: frame.measuredPower.map(Double.init),
            address: address)
    }

    /// The defect in the structure of the data; nil if there is none.
    package var defect: AdvertisementError? {
        do {
            try forEachStructure { _, _ in }
            return nil
        } catch {
            return error
        }
    }

    /// Manufacturer specific data by company number, without that number. If a company occurs twice, the first data are
    /// used.
    public var manufacturerData: [UInt16: [UInt8]] {
        var found: [UInt16: [UInt8]] = [:]
        readStructures { type, payload in
            guard type == AdvertisingStructure.KnownType.manufacturerData, payload.count >= 2 else { return }
            let company = UInt16(payload[1]) << 8 | UInt16(payload[0])
            if found[company] == nil { found[company] = Self.bytes(payload, from: 2) }
        }
        return found
    }

    /// The services that the device offers, in the order of the data, without repetition.
    public var serviceUUIDs: [ServiceUUID] {
        var found: [ServiceUUID] = []
        readStructures { type, payload in
            guard let size = Self.sizeOfListedUUIDs(type) else { return }
            // Ignores remaining bytes that are shorter than a UUID.
            for offset in stride(from: 0, through: payload.count - size, by: size) {
                let uuid = Self.serviceUUID(payload.extracting(offset..<(offset + size)))
                if !found.contains(uuid) { found.append(uuid) }
            }
        }
        return found
    }

    /// Service data by service UUID, without that UUID. If a UUID occurs twice, the first data are used.
    public var serviceData: [ServiceUUID: [UInt8]] {
        var found: [ServiceUUID: [UInt8]] = [:]
        readStructures { type, payload in
            guard let size = Self.sizeOfDataUUID(type), payload.count >= size else { return }
            let uuid = Self.serviceUUID(payload.extracting(0..<size))
            if found[uuid] == nil { found[uuid] = Self.bytes(payload, from: size) }
        }
        return found
    }

    /// The complete name of the device, otherwise its shortened name; nil if it sends neither. Bytes that are not UTF-8
    /// are replaced.
    public var localName: String? {
        var short: String?
        var complete: String?
        readStructures { type, payload in
            let isComplete = type == AdvertisingStructure.KnownType.completeName
            guard isComplete || type == AdvertisingStructure.KnownType.shortenedName else { return }
            let name = String(decoding: Self.bytes(payload, from: 0), as: UTF8.self)
            if isComplete { complete = complete ?? name } else { short = short ?? name }
        }
        return complete ?? short
    }

    private func forEachStructure(_ body: (UInt8, Span<UInt8>) -> Void) throws(AdvertisementError) {
        let span = data.span
        var structures = AdvertisingStructureIterator()
        while let structure = try structures.next(in: span) {
            body(structure.type, span.extracting(structure.payload))
        }
    }

    /// Reads the structures before the first defect.
    private func readStructures(_ body: (UInt8, Span<UInt8>) -> Void) {
        do { try forEachStructure(body) } catch { return }
    }

    /// Returns the size in bytes of each UUID in a list of services; nil if the type is not such a list.
    private static func sizeOfListedUUIDs(_ type: UInt8) -> Int? {
        switch type {
        case 0x02, 0x03: 2
        case 0x04, 0x05: 4
        case 0x06, 0x07: 16
        default: nil
        }
    }

    /// Returns the size in bytes of the UUID at the beginning of service data; nil if the type is not service data.
    private static func sizeOfDataUUID(_ type: UInt8) -> Int? {
        switch type {
        case 0x16: 2
        case 0x20: 4
        case 0x21: 16
        default: nil
        }
    }

    /// Returns the UUID from 2, 4 or 16 bytes, the least significant byte first.
    private static func serviceUUID(_ bytes: Span<UInt8>) -> ServiceUUID {
        guard bytes.count == 16 else { return ServiceUUID(short: UInt32(truncatingIfNeeded: number(bytes))) }
        return ServiceUUID(
            BeaconUUID(high: number(bytes.extracting(8..<16)), low: number(bytes.extracting(0..<8))))
    }

    private static func number(_ bytes: Span<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        for index in bytes.indices { value |= UInt64(bytes[index]) << UInt64(8 * index) }
        return value
    }

    private static func bytes(_ payload: Span<UInt8>, from offset: Int) -> [UInt8] {
        (offset..<payload.count).map { payload[$0] }
    }
}
