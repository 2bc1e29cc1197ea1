import IndoorVocabulary

/// The identity and measured power that a beacon sends in one advertisement.
public struct BeaconFrame: Hashable, Sendable {
    /// The format of a beacon frame.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// Apple's layout: UUID, major and minor in manufacturer data of company 0x004C.
        case iBeacon
        /// The open layout in manufacturer data of any company.
        case altBeacon
        /// Google's layout: 10 bytes namespace and 6 bytes instance in service data of 0xFEAA.
        case eddystoneUID
    }

    /// The result of decoding well-formed advertising data.
    package enum Decoding: Hashable, Sendable {
        /// A beacon frame.
        case beacon(BeaconFrame)
        /// Another advertisement, and the reason why it is not a beacon.
        case notABeacon(NotABeacon)
    }

    /// The reason why well-formed advertising data contain no beacon frame, for the first payload that could have been
    /// one.
    package enum NotABeacon: Hashable, Sendable {
        /// There are neither manufacturer data nor service data.
        case noPayload
        /// The manufacturer data have another layout. `company` is their company number; nil if they are too short for
        /// a number.
        case otherManufacturerData(company: UInt16?)
        /// The service data are of another 16-bit service, with the UUID `service`; nil if they are too short for a
        /// UUID.
        case otherServiceData(service: UInt16?)
        /// The Eddystone frame is of another type, such as URL (0x10), TLM (0x20) or EID (0x30); nil if the frame has
        /// no type byte.
        case otherEddystoneFrame(type: UInt8?)
    }

    /// The format of the frame.
    public var format: Format
    /// The beacon. For Eddystone-UID, the UUID is namespace and instance together, and major and minor are 0.
    public var beacon: BeaconIdentity
    /// Signal strength at 1 m in dBm. Eddystone-UID sends the signal strength at 0 m, from which decoding subtracts 41
    /// dB.
    ///
    /// The decoded value is nil if it is outside -127...-1 dBm, or for Eddystone-UID outside -141 to -21 dBm: beacons
    /// that were never calibrated send 0 or a positive number. Their identity is nevertheless valid.
    public var measuredPower: Int?

    /// Creates a frame from its parts without checking them.
    public init(format: Format, beacon: BeaconIdentity, measuredPower: Int?) {
        self.format = format
        self.beacon = beacon
        self.measuredPower = measuredPower
    }

    /// The path loss in dB over the first metre, by Eddystone's convention.
    ///
    /// Source: Eddystone protocol specification, UID frame, Tx Power (github.com/google/eddystone, eddystone-uid).
    static let eddystoneLossToOneMeter = 41
}

extension BeaconFrame.Format {
    /// The valid measured powers in dBm at 1 m.
    ///
    /// For iBeacon and AltBeacon, this is the range of valid RSSI. For Eddystone, it corresponds to -100 to 20 dBm at 0
    /// m, from the specification.
    package var plausiblePowers: ClosedRange<Int> {
        switch self {
        case .iBeacon, .altBeacon: -127 ... -1
        case .eddystoneUID:
            (-100 - BeaconFrame.eddystoneLossToOneMeter)...(20 - BeaconFrame.eddystoneLossToOneMeter)
        }
    }
}

extension BeaconFrame {
    /// Decodes the first beacon frame in advertising data, without copying them.
    ///
    /// Decoding checks the structures up to the first frame. A defect after a complete frame, such as a truncated
    /// structure, has no effect.
    ///
    /// Sources: Apple, *Proximity Beacon Specification*, R1, 2015; Radius Networks, *AltBeacon Protocol Specification*
    /// 1.0, 2014; Google, *Eddystone Protocol Specification*, 2015.
    /// - Throws: `AdvertisementError` if the data are malformed before the first frame.
    package static func decode(_ data: Span<UInt8>) throws(AdvertisementError) -> Decoding {
        switch try search(data) {
        case .found(let place): .beacon(frame(at: place, of: data))
        case .notABeacon(let reason): .notABeacon(reason)
        }
    }

    /// The place of a valid frame within advertising data.
    struct Place {
        var format: Format
        /// The offset of its payload, after length and type.
        var start: Int
    }

    /// The result of a search in well-formed advertising data.
    enum Search {
        case found(Place)
        case notABeacon(NotABeacon)
    }

    /// Searches for the first frame and returns its place, not the frame itself, because copying a frame takes longer
    /// than the search.
    static func search(_ data: Span<UInt8>) throws(AdvertisementError) -> Search {
        var structures = AdvertisingStructureIterator()
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
            case .beacon(let format): return .found(Place(format: format, start: structure.payload.lowerBound))
            case .notABeacon(let found): reason = reason ?? found
            }
        }
        return .notABeacon(reason ?? .noPayload)
    }

    /// The result of recognizing a payload.
    private enum Recognition {
        case beacon(Format)
        case notABeacon(NotABeacon)
    }

    // MARK: - Layouts

    /// Numbers of the layouts, with their offsets in the payload.
    enum Layout {
        static let appleCompany: UInt16 = 0x004C
        static let iBeaconType: UInt8 = 0x02
        /// The number of bytes of an iBeacon after its own length byte: UUID, major, minor, power.
        static let iBeaconLength: UInt8 = 0x15
        /// The payload length: company, type, length, and the 21 bytes above.
        static let iBeaconPayload = 25
        static let altBeaconCode: UInt16 = 0xBEAC
        /// The payload length: company, code, 20 bytes of identity, power, and a byte for the manufacturer.
        static let altBeaconPayload = 26
        static let eddystoneService: UInt16 = 0xFEAA
        static let eddystoneUIDType: UInt8 = 0x00
        /// The payload length: service, type, power, namespace, instance, and two reserved bytes.
        static let eddystoneUIDPayload = 22
        /// The payload length of the many beacons that omit the two reserved bytes.
        static let eddystoneUIDShortPayload = 20
        /// The offset of UUID, major and minor in each layout; their most significant byte comes first.
        static let identityOffset = 4
        /// The offset of the measured power of iBeacon and AltBeacon.
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
            return .beacon(.iBeacon)
        }
        if payload.count >= 4, bigEndian16(payload, at: 2) == Layout.altBeaconCode {
            guard payload.count == Layout.altBeaconPayload else {
                throw .wrongLength(.altBeacon, expected: Layout.altBeaconPayload, found: payload.count)
            }
            return .beacon(.altBeacon)
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
        return .beacon(.eddystoneUID)
    }

    /// Returns the power at 1 m in dBm for the byte in a frame; nil if the value is not plausible.
    @inline(__always)
    private static func powerAtOneMeter(_ format: Format, _ power: UInt8) -> Int? {
        let sent = Int(Int8(bitPattern: power))
        let measured = format == .eddystoneUID ? sent - eddystoneLossToOneMeter : sent
        return format.plausiblePowers.contains(measured) ? measured : nil
    }

    /// Returns the frame at a place that a search found. Inlined, so that it is not copied.
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

    // One load needs one check of the bounds. Loading byte by byte takes a third of the decoding time.
    private static func bigEndian16(_ bytes: Span<UInt8>, at offset: Int) -> UInt16 {
        UInt16(bigEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    private static func bigEndian64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        UInt64(bigEndian: bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}

extension BeaconFrame {
    /// The reason why a frame cannot be encoded.
    public enum EncodingError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The measured power in dBm is outside the range of the format.
        case power(Int, allowed: ClosedRange<Int>)
        /// The frame has no measured power.
        case noPower
        /// Major or minor isn't 0; Eddystone-UID has neither.
        case majorAndMinor(BeaconIdentity)

        public var description: String {
            switch self {
            case .power(let power, let allowed): "Measured power \(power) dBm is not within \(allowed) dBm."
            case .noPower: "The frame has no measured power: set the signal strength at 1 m in dBm."
            case .majorAndMinor(let beacon): "\(beacon) has a major or minor: set both to 0 for Eddystone-UID."
            }
        }
    }

    /// Returns the advertising data of a beacon that sends this frame: the flags and the frame.
    ///
    /// - Throws: `EncodingError` if the format cannot represent the frame.
    public func advertisingData() throws(EncodingError) -> [UInt8] {
        guard let measuredPower else { throw .noPower }
        guard format.plausiblePowers.contains(measuredPower) else {
            throw .power(measuredPower, allowed: format.plausiblePowers)
        }
        // Beacons send these flags: general discoverable, no BR/EDR.
        var data = Self.structure(AdvertisingStructure.KnownType.flags, [0x06])
        switch format {
        case .iBeacon:
            let payload =
                Self.littleEndian(Layout.appleCompany) + [Layout.iBeaconType, Layout.iBeaconLength] + identityBytes
                + [UInt8(bitPattern: Int8(measuredPower))]
            data += Self.structure(AdvertisingStructure.KnownType.manufacturerData, payload)
        case .altBeacon:
            // 0xFFFF is the company number for tests and internal use.
            let payload =
                [0xFF, 0xFF] + Self.littleEndian(Layout.altBeaconCode).reversed() + identityBytes
                + [UInt8(bitPattern: Int8(measuredPower)), 0]
            data += Self.structure(AdvertisingStructure.KnownType.manufacturerData, payload)
        case .eddystoneUID:
            guard beacon.major == 0, beacon.minor == 0 else { throw .majorAndMinor(beacon) }
            let power = UInt8(bitPattern: Int8(measuredPower + Self.eddystoneLossToOneMeter))
            let service = Self.littleEndian(Layout.eddystoneService)
            let payload = service + [Layout.eddystoneUIDType, power] + identityBytes.prefix(16) + [0, 0]
            data += Self.structure(AdvertisingStructure.KnownType.serviceUUIDs, service)
            data += Self.structure(AdvertisingStructure.KnownType.serviceData, payload)
        }
        return data
    }

    private var identityBytes: [UInt8] {
        Self.bigEndian(beacon.uuid.high) + Self.bigEndian(beacon.uuid.low) + Self.littleEndian(beacon.major).reversed()
            + Self.littleEndian(beacon.minor).reversed()
    }

    private static func structure(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
        [UInt8(payload.count + 1), type] + payload
    }

    private static func littleEndian(_ value: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: value), UInt8(truncatingIfNeeded: value >> 8)]
    }

    private static func bigEndian(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - $0 * 8)) }
    }
}

/// A reading for the state machines, with a decoded advertisement and a checked RSSI.
///
/// Only a ``ReadingDecoder`` creates one from a reception, so each reception is decoded once, on arrival.
package struct DecodedReading: Hashable, Sendable {
    /// The decoded content of a reading.
    package enum Content: Hashable, Sendable {
        /// A beacon with a valid RSSI, either delivered as a sighting or decoded from an advertisement.
        case sighting(Sighting)
        /// An advertisement with a valid RSSI that contains no beacon or is malformed.
        case advertisement(Advertisement)
        /// A sighting or an advertisement that the machines ignore.
        case rejected(Rejection)
        /// A reading that isn't a reception: from another sensor, a position, or a status of the radio.
        case other
    }

    /// The reason why the machines ignore a sighting or an advertisement.
    package enum Rejection: Hashable, Sendable {
        /// The RSSI is not a measurement, see ``Sighting/isMeasurement(rssi:)``.
        case invalidRSSI
        /// The sighting repeats the one that the previous advertisement contains.
        case repetition
    }

    /// The reading as the source delivered it.
    package let reading: SensorReading
    /// The decoded content.
    package let content: Content

    fileprivate init(_ reading: SensorReading, _ content: Content) {
        self.reading = reading
        self.content = content
    }

    /// Creates the reading of a fix, which needs no decoding.
    package init(_ fix: Fix) { self.init(.fix(fix), .other) }

    /// The time of the reading.
    package var instant: Instant { reading.instant }

    /// The sighting in an advertisement; nil if the reading itself is a sighting, or isn't from a beacon.
    package var sightingInAdvertisement: Sighting? {
        guard case .advertisement = reading, case .sighting(let sighting) = content else { return nil }
        return sighting
    }
}

/// A decoder that decodes each reading once, before it reaches a state machine.
///
/// A source may deliver an advertisement and, directly after it, the sighting that it contains. The decoder rejects the
/// sighting, even if readings of other sensors are between the two.
package struct ReadingDecoder: Hashable, Sendable {
    /// The sighting in the latest advertisement; nil after any other reception.
    private var previous: Sighting?
    /// The beacons that sent an advertisement without a valid measured power, in the order of the first such
    /// advertisement; at most 16.
    package private(set) var uncalibratedBeacons: [BeaconIdentity] = []
    /// The maximum number of these beacons.
    private static let mostUncalibrated = 16

    /// Creates a decoder. Use one decoder for all readings of a source, in order.
    package init() {}

    /// Returns a reading with its decoded content.
    package mutating func decode(_ reading: SensorReading) -> DecodedReading {
        switch reading {
        case .sighting(let sighting):
            defer { previous = nil }
            if sighting == previous { return DecodedReading(reading, .rejected(.repetition)) }
            return DecodedReading(reading, sighting.hasMeasurement ? .sighting(sighting) : .rejected(.invalidRSSI))
        case .advertisement(let advertisement):
            previous = nil
            guard advertisement.hasMeasurement else { return DecodedReading(reading, .rejected(.invalidRSSI)) }
            // Malformed data contain no beacon. The subscriber can read the advertisement's `defect`.
            previous = try? advertisement.sighting()
            if let previous, previous.measuredPower == nil { note(uncalibrated: previous.beacon) }
            return DecodedReading(reading, previous.map { .sighting($0) } ?? .advertisement(advertisement))
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio:
            return DecodedReading(reading, .other)
        }
    }

    private mutating func note(uncalibrated beacon: BeaconIdentity) {
        guard uncalibratedBeacons.count < Self.mostUncalibrated, !uncalibratedBeacons.contains(beacon) else { return }
        uncalibratedBeacons.append(beacon)
    }
}

/// A sighting of a beacon with the range to it.
public struct BeaconRecord: Hashable, Sendable {
    /// The sighting.
    public var sighting: Sighting
    /// The range to the beacon, estimated from all sightings up to this one.
    public var range: RangeEstimate
    /// When the radio received it, on the wall clock; nil if the source has none, see ``ScanSource/wallClock``.
    public var unixTime: UnixTime?

    /// Creates a record from its parts.
    public init(sighting: Sighting, range: RangeEstimate, unixTime: UnixTime? = nil) {
        self.sighting = sighting
        self.range = range
        self.unixTime = unixTime
    }

    /// When the radio received it.
    public var instant: Instant { sighting.instant }
    /// The beacon.
    public var beacon: BeaconIdentity { sighting.beacon }
    /// Received signal strength of this sighting in dBm.
    public var rssi: Double { sighting.rssi }
    /// The distance to the beacon; nil if its measured power is unknown.
    public var distance: DistanceEstimate? { range.distance }
    /// The proximity class of the distance; nil if the distance is unknown.
    public var proximity: Proximity? { range.proximity }
}
