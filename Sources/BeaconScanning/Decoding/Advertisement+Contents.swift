import IndoorVocabulary

/// What an advertisement says, whether it comes from a beacon or not.
///
/// Each is read from the data anew. Of malformed data, what stands before the defect is given.
extension Advertisement {
    /// What is malformed in the structure of the data; nil if nothing is.
    public var defect: AdvertisementError? {
        do {
            try forEachStructure { _, _ in }
            return nil
        } catch {
            return error
        }
    }

    /// The bytes of manufacturer specific data behind the company's number, by that number; the first of each counts.
    public var manufacturerData: [UInt16: [UInt8]] {
        var found: [UInt16: [UInt8]] = [:]
        readStructures { type, payload in
            guard type == AdvertisingStructure.KnownType.manufacturerData, payload.count >= 2 else { return }
            let company = UInt16(payload[1]) << 8 | UInt16(payload[0])
            if found[company] == nil { found[company] = Self.bytes(payload, from: 2) }
        }
        return found
    }

    /// The services that the device offers, in the order of the data, each once.
    public var serviceUUIDs: [ServiceUUID] {
        var found: [ServiceUUID] = []
        readStructures { type, payload in
            guard let size = Self.sizeOfListedUUIDs(type) else { return }
            // A rest that is shorter than a UUID is none.
            for offset in stride(from: 0, through: payload.count - size, by: size) {
                let uuid = Self.serviceUUID(payload.extracting(offset..<(offset + size)))
                if !found.contains(uuid) { found.append(uuid) }
            }
        }
        return found
    }

    /// The bytes of service data behind the service's UUID, by that UUID; the first of each counts.
    public var serviceData: [ServiceUUID: [UInt8]] {
        var found: [ServiceUUID: [UInt8]] = [:]
        readStructures { type, payload in
            guard let size = Self.sizeOfDataUUID(type), payload.count >= size else { return }
            let uuid = Self.serviceUUID(payload.extracting(0..<size))
            if found[uuid] == nil { found[uuid] = Self.bytes(payload, from: size) }
        }
        return found
    }

    /// The device's name, the complete one if there is one; nil if it does not tell. Bytes that are no UTF-8 are replaced.
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

    /// Reads up to a defect.
    private func readStructures(_ body: (UInt8, Span<UInt8>) -> Void) {
        do { try forEachStructure(body) } catch { return }
    }

    /// Bytes of each UUID in a list of services; nil if the type is no such list.
    private static func sizeOfListedUUIDs(_ type: UInt8) -> Int? {
        switch type {
        case 0x02, 0x03: 2
        case 0x04, 0x05: 4
        case 0x06, 0x07: 16
        default: nil
        }
    }

    /// Bytes of the UUID in front of service data; nil if the type is no service data.
    private static func sizeOfDataUUID(_ type: UInt8) -> Int? {
        switch type {
        case 0x16: 2
        case 0x20: 4
        case 0x21: 16
        default: nil
        }
    }

    /// The UUID that 2, 4 or 16 bytes stand for, the lowest byte first.
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
