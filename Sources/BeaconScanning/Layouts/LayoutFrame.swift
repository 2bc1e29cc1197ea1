import IndoorVocabulary

/// The fields of an advertisement with a `BeaconLayout`.
public struct LayoutFrame: Hashable, Sendable {
    /// The company of the manufacturer data; nil in service data.
    public var company: UInt16?
    /// The identifiers in the order of the layout, the most significant byte of each first.
    public var identifiers: [[UInt8]]
    /// Signal strength at 1 m in dBm, with the correction of the layout; nil if the layout has no power field.
    public var measuredPower: Int?
    /// The manufacturer's own data in the order of the layout, the most significant byte of each first.
    public var data: [[UInt8]]

    /// Creates a frame from its parts without checking them.
    package init(company: UInt16? = nil, identifiers: [[UInt8]], measuredPower: Int? = nil, data: [[UInt8]] = []) {
        self.company = company
        self.identifiers = identifiers
        self.measuredPower = measuredPower
        self.data = data
    }

    /// The identity of the beacon in a venue; nil if the identifiers are empty, or longer than 20 bytes together.
    ///
    /// The bytes of all identifiers, one after the other, are the UUID (16 bytes), the major (2) and the minor (2);
    /// missing bytes are zero. For an iBeacon, the result is its UUID, major and minor. For Eddystone, the UUID is
    /// namespace and instance.
    public var identity: BeaconIdentity? {
        var bytes = Array(identifiers.joined())
        guard (1...20).contains(bytes.count) else { return nil }
        bytes += [UInt8](repeating: 0, count: 20 - bytes.count)
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        return BeaconIdentity(
            uuid: BeaconUUID(high: number(0..<8), low: number(8..<16)), major: UInt16(number(16..<18)),
            minor: UInt16(number(18..<20)))
    }
}

extension BeaconLayout {
    /// Returns the first frame of this layout in advertising data; nil if there is none.
    ///
    /// - Throws: `AdvertisementError` if the structure of the data is malformed.
    public func decode(_ data: Span<UInt8>) throws(AdvertisementError) -> LayoutFrame? {
        var structures = AdvertisingStructureIterator()
        var found: LayoutFrame?
        while let structure = try structures.next(in: data) {
            guard found == nil, structure.type == structureType else { continue }
            found = frame(of: data.extracting(structure.payload))
        }
        return found
    }

    /// Returns advertising data with the flags of a beacon and a frame.
    ///
    /// Bytes between the fields are zero. A frame without a company gets the company number for tests, 0xFFFF.
    /// - Throws: `BeaconLayoutError` if the layout cannot represent the frame.
    public func advertisingData(of frame: LayoutFrame) throws(BeaconLayoutError) -> [UInt8] {
        let payload = try payload(of: frame)
        return [2, AdvertisingStructure.KnownType.flags, 0x06, UInt8(payload.count + 1), structureType] + payload
    }

    /// The type of the AD structure with the fields.
    private var structureType: UInt8 {
        guard let service else { return AdvertisingStructure.KnownType.manufacturerData }
        return service.isShort ? AdvertisingStructure.KnownType.serviceData : 0x21
    }

    // MARK: - Decoding

    private func frame(of payload: Span<UInt8>) -> LayoutFrame? {
        if let service {
            let head = Array(service.bigEndianBytes.reversed())
            guard holds(payload, head, at: 0) else { return nil }
        }
        guard holds(payload, match.bytes, at: match.offset) else { return nil }
        var frame = LayoutFrame(identifiers: [])
        if service == nil, payload.count >= 2 { frame.company = UInt16(payload[1]) << 8 | UInt16(payload[0]) }
        for field in identifiers {
            guard let value = value(of: field, in: payload) else { return nil }
            frame.identifiers.append(value)
        }
        for field in data {
            guard let value = value(of: field, in: payload) else { return nil }
            frame.data.append(value)
        }
        if let power {
            guard power.offset < payload.count else { return nil }
            frame.measuredPower = Int(Int8(bitPattern: payload[power.offset])) + power.correction
        }
        return frame
    }

    private func holds(_ payload: Span<UInt8>, _ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset + bytes.count <= payload.count else { return false }
        return bytes.indices.allSatisfy { payload[offset + $0] == bytes[$0] }
    }

    private func value(of field: Field, in payload: Span<UInt8>) -> [UInt8]? {
        var range = field.offsets.lowerBound..<(field.offsets.upperBound + 1)
        if field.isVariable { range = range.clamped(to: 0..<max(payload.count, field.offsets.lowerBound)) }
        guard range.upperBound <= payload.count, !range.isEmpty else { return nil }
        let bytes = range.map { payload[$0] }
        return field.isLittleEndian ? bytes.reversed() : bytes
    }

    // MARK: - Encoding

    private func payload(of frame: LayoutFrame) throws(BeaconLayoutError) -> [UInt8] {
        guard frame.identifiers.count == identifiers.count else {
            throw .count("identifiers", expected: identifiers.count, found: frame.identifiers.count)
        }
        guard frame.data.count == data.count else {
            throw .count("data fields", expected: data.count, found: frame.data.count)
        }
        let company = frame.company ?? 0xFFFF
        var bytes: [UInt8] = []
        put(
            service.map { $0.bigEndianBytes.reversed() } ?? [UInt8(company & 0xFF), UInt8(company >> 8)], at: 0,
            into: &bytes)
        put(match.bytes, at: match.offset, into: &bytes)
        for (field, value) in zip(identifiers + data, frame.identifiers + frame.data) {
            let isFitting = field.isVariable ? value.count <= field.offsets.count : value.count == field.offsets.count
            guard isFitting, !value.isEmpty else {
                let name = "\(field.offsets.lowerBound)-\(field.offsets.upperBound)"
                throw .length(field: name, expected: field.offsets.count, found: value.count)
            }
            put(field.isLittleEndian ? value.reversed() : value, at: field.offsets.lowerBound, into: &bytes)
        }
        guard let power else {
            guard frame.measuredPower == nil else { throw .power(frame.measuredPower, layout: description) }
            return bytes
        }
        guard let measured = frame.measuredPower, let byte = Int8(exactly: measured - power.correction) else {
            throw .power(frame.measuredPower, layout: description)
        }
        put([UInt8(bitPattern: byte)], at: power.offset, into: &bytes)
        return bytes
    }

    private func put(_ value: [UInt8], at offset: Int, into bytes: inout [UInt8]) {
        let end = offset + value.count
        if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
        bytes.replaceSubrange(offset..<end, with: value)
    }
}
