import IndoorVocabulary

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
        switch try search(data) {
        case .found(let place): .beacon(frame(at: place, of: data))
        case .notABeacon(let reason): .notABeacon(reason)
        }
    }

    /// Where a sound frame lies within advertising data.
    struct Place {
        var format: Format
        /// Where its payload begins, behind length and type.
        var start: Int
    }

    /// What a search in sound advertising data comes to.
    enum Search {
        case found(Place)
        case notABeacon(NotABeacon)
    }

    /// Finds out where the first frame lies: copying the frame itself about took longer than finding it.
    static func search(_ data: Span<UInt8>) throws(AdvertisementError) -> Search {
        var structures = AdvertisingStructureIterator()
        var place: Place?
        var reason: NotABeacon?
        while let structure = try structures.next(in: data) {
            let recognition: Recognition
            switch structure.type {
            case AdvertisingStructure.KnownType.manufacturerData:
                recognition = try recognizeManufacturerData(data.extracting(structure.payload))
            case AdvertisingStructure.KnownType.serviceData:
                recognition = try recognizeServiceData(data.extracting(structure.payload))
            default: continue
            }
            switch recognition {
            case .beacon(let format): place = place ?? Place(format: format, start: structure.payload.lowerBound)
            case .notABeacon(let found): reason = reason ?? found
            }
        }
        return place.map(Search.found) ?? .notABeacon(reason ?? .noPayload)
    }

    /// What a payload turned out to be; a beacon's has been checked.
    private enum Recognition {
        case beacon(Format)
        case notABeacon(NotABeacon)
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
        /// Where UUID, major and minor begin in each of the layouts; their first bytes are the most significant.
        static let identityOffset = 4
        /// Where iBeacon and AltBeacon have their measured power.
        static let powerOffset = 24
        static let eddystonePowerOffset = 3
    }

    private static func recognizeManufacturerData(
        _ payload: Span<UInt8>
    ) throws(AdvertisementError) -> Recognition {
        guard payload.count >= 2 else { return .notABeacon(.otherManufacturerData(company: nil)) }
        let company = UInt16(payload[1]) << 8 | UInt16(payload[0])
        if company == Layout.appleCompany, payload.count > 2, payload[2] == Layout.iBeaconType {
            guard payload.count == Layout.iBeaconPayload else {
                throw .wrongLength(.iBeacon, expected: Layout.iBeaconPayload, found: payload.count)
            }
            guard payload[3] == Layout.iBeaconLength else {
                throw .wrongLength(.iBeacon, expected: Int(Layout.iBeaconLength), found: Int(payload[3]))
            }
            return try recognize(.iBeacon, power: payload[Layout.powerOffset])
        }
        if payload.count >= 4, bigEndian16(payload, at: 2) == Layout.altBeaconCode {
            guard payload.count == Layout.altBeaconPayload else {
                throw .wrongLength(.altBeacon, expected: Layout.altBeaconPayload, found: payload.count)
            }
            return try recognize(.altBeacon, power: payload[Layout.powerOffset])
        }
        return .notABeacon(.otherManufacturerData(company: company))
    }

    private static func recognizeServiceData(_ payload: Span<UInt8>) throws(AdvertisementError) -> Recognition {
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
        return try recognize(.eddystoneUID, power: payload[Layout.eddystonePowerOffset])
    }

    private static func recognize(_ format: Format, power: UInt8) throws(AdvertisementError) -> Recognition {
        guard format.plausiblePowers.contains(powerAtOneMeter(format, power)) else {
            throw .implausiblePower(format, Int(Int8(bitPattern: power)))
        }
        return .beacon(format)
    }

    private static func powerAtOneMeter(_ format: Format, _ power: UInt8) -> Int {
        let sent = Int(Int8(bitPattern: power))
        return format == .eddystoneUID ? sent - eddystoneLossToOneMeter : sent
    }

    /// The frame that a search has found. Inlined, so that it is built where it is wanted and not copied there.
    @inline(__always)
    static func frame(at place: Place, of data: Span<UInt8>) -> BeaconFrame {
        let isEddystone = place.format == .eddystoneUID
        let identity = place.start + Layout.identityOffset
        let power = data[place.start + (isEddystone ? Layout.eddystonePowerOffset : Layout.powerOffset)]
        return BeaconFrame(
            format: place.format,
            beacon: BeaconIdentity(
                uuid: BeaconUUID(high: bigEndian64(data, at: identity), low: bigEndian64(data, at: identity + 8)),
                major: isEddystone ? 0 : bigEndian16(data, at: identity + 16),
                minor: isEddystone ? 0 : bigEndian16(data, at: identity + 18)),
            measuredPower: powerAtOneMeter(place.format, power))
    }

    // MARK: - Bytes

    // Loaded whole, with one check of the bounds: byte by byte they took a third of the time of decoding.
    private static func bigEndian16(_ bytes: Span<UInt8>, at offset: Int) -> UInt16 {
        UInt16(bigEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    private static func bigEndian64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        UInt64(bigEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
