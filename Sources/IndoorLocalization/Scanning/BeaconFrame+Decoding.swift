extension BeaconFrame {
    /// Finds the beacon frame in advertising data, without copying them.
    ///
    /// All structures are looked at; the first beacon frame counts. Decoding is strict: data that break off anywhere hold
    /// no beacon, even behind a whole frame.
    ///
    /// Sources: Apple, *Proximity Beacon Specification*, R1, 2015; Radius Networks, *AltBeacon Protocol Specification*
    /// 1.0, 2014; Google, *Eddystone Protocol Specification*, 2015.
    /// - Throws: what is malformed.
    public static func decode(_ data: Span<UInt8>) throws(AdvertisementError) -> Decoding {
        var structures = AdvertisingStructureIterator()
        var frame: BeaconFrame?
        var reason: NotABeacon?
        while let structure = try structures.next(in: data) {
            let payload = data.extracting(structure.payload)
            let decoding: Decoding
            switch structure.type {
            case AdvertisingStructure.KnownType.manufacturerData: decoding = try decodeManufacturerData(payload)
            case AdvertisingStructure.KnownType.serviceData: decoding = try decodeServiceData(payload)
            default: continue
            }
            switch decoding {
            case .beacon(let found): frame = frame ?? found
            case .notABeacon(let found): reason = reason ?? found
            }
        }
        return frame.map(Decoding.beacon) ?? .notABeacon(reason ?? .noPayload)
    }

    // MARK: - Layouts

    /// Numbers of the layouts, with their offsets in the payload.
    enum Layout {
        static let appleCompany: UInt16 = 0x004C
        static let iBeaconType: UInt8 = 0x02
        /// Bytes of an iBeacon after its own length byte: UUID, major, minor, power.
        static let iBeaconLength: UInt8 = 0x15
        /// Company, type, length, and the 21 bytes above.
        static let iBeaconPayload = 25
        static let altBeaconCode: UInt16 = 0xBEAC
        /// Company, code, 20 bytes of identity, power, and a byte that is the maker's own.
        static let altBeaconPayload = 26
        static let eddystoneService: UInt16 = 0xFEAA
        static let eddystoneUIDType: UInt8 = 0x00
        /// Service, type, power, namespace, instance, and two reserved bytes.
        static let eddystoneUIDPayload = 22
        /// Many beacons leave the two reserved bytes away.
        static let eddystoneUIDShortPayload = 20
    }

    private static func decodeManufacturerData(_ payload: Span<UInt8>) throws(AdvertisementError) -> Decoding {
        guard payload.count >= 2 else { return .notABeacon(.otherManufacturerData(company: nil)) }
        let company = UInt16(payload[1]) << 8 | UInt16(payload[0])
        if company == Layout.appleCompany, payload.count > 2, payload[2] == Layout.iBeaconType {
            return .beacon(try decodeIBeacon(payload))
        }
        if payload.count >= 4, bigEndian16(payload, at: 2) == Layout.altBeaconCode {
            return .beacon(try decodeAltBeacon(payload))
        }
        return .notABeacon(.otherManufacturerData(company: company))
    }

    private static func decodeIBeacon(_ payload: Span<UInt8>) throws(AdvertisementError) -> BeaconFrame {
        guard payload.count == Layout.iBeaconPayload else {
            throw .wrongLength(.iBeacon, expected: Layout.iBeaconPayload, found: payload.count)
        }
        guard payload[3] == Layout.iBeaconLength else {
            throw .wrongLength(.iBeacon, expected: Int(Layout.iBeaconLength), found: Int(payload[3]))
        }
        return try frame(.iBeacon, identity: identity(payload, at: 4), power: payload[24])
    }

    private static func decodeAltBeacon(_ payload: Span<UInt8>) throws(AdvertisementError) -> BeaconFrame {
        guard payload.count == Layout.altBeaconPayload else {
            throw .wrongLength(.altBeacon, expected: Layout.altBeaconPayload, found: payload.count)
        }
        return try frame(.altBeacon, identity: identity(payload, at: 4), power: payload[24])
    }

    private static func decodeServiceData(_ payload: Span<UInt8>) throws(AdvertisementError) -> Decoding {
        guard payload.count >= 2 else { return .notABeacon(.otherServiceData(service: nil)) }
        let service = UInt16(payload[1]) << 8 | UInt16(payload[0])
        guard service == Layout.eddystoneService else { return .notABeacon(.otherServiceData(service: service)) }
        guard payload.count > 2 else { return .notABeacon(.otherEddystoneFrame(type: nil)) }
        guard payload[2] == Layout.eddystoneUIDType else {
            return .notABeacon(.otherEddystoneFrame(type: payload[2]))
        }
        guard payload.count == Layout.eddystoneUIDPayload || payload.count == Layout.eddystoneUIDShortPayload else {
            throw .wrongLength(.eddystoneUID, expected: Layout.eddystoneUIDPayload, found: payload.count)
        }
        let uuid = BeaconUUID(high: bigEndian64(payload, at: 4), low: bigEndian64(payload, at: 12))
        return .beacon(
            try frame(.eddystoneUID, identity: BeaconIdentity(uuid: uuid, major: 0, minor: 0), power: payload[3]))
    }

    private static func frame(
        _ format: Format, identity: BeaconIdentity, power: UInt8
    ) throws(AdvertisementError) -> BeaconFrame {
        let sent = Int(Int8(bitPattern: power))
        let atOneMeter = format == .eddystoneUID ? sent - eddystoneLossToOneMeter : sent
        guard format.plausiblePowers.contains(atOneMeter) else { throw .implausiblePower(format, sent) }
        return BeaconFrame(format: format, beacon: identity, measuredPower: atOneMeter)
    }

    // MARK: - Bytes

    /// UUID, major and minor, each with its first byte most significant.
    private static func identity(_ payload: Span<UInt8>, at offset: Int) -> BeaconIdentity {
        BeaconIdentity(
            uuid: BeaconUUID(high: bigEndian64(payload, at: offset), low: bigEndian64(payload, at: offset + 8)),
            major: bigEndian16(payload, at: offset + 16), minor: bigEndian16(payload, at: offset + 18))
    }

    private static func bigEndian16(_ bytes: Span<UInt8>, at offset: Int) -> UInt16 {
        UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }

    private static func bigEndian64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in offset..<(offset + 8) { value = value << 8 | UInt64(bytes[index]) }
        return value
    }
}
