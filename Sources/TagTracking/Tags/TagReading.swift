import IndoorVocabulary

/// One reading of a tag by a receiver.
package struct TagReading: Hashable, Sendable {
    /// The tag.
    package var tag: TagKey
    /// The receiver's name as its gateway reports it.
    package var receiver: String
    /// The time of the reading, counted from the Unix epoch, 1 January 1970, 0:00 UTC.
    package var instant: Instant
    /// The RSSI in dBm, below 0.
    package var rssi: Double
    /// The time over which the gateway has filtered the RSSI; zero for the RSSI of one advertisement.
    package var window: Duration
    /// The signal strength at 1 m that the tag advertises, in dBm; nil if unknown.
    package var measuredPower: Double?

    /// Creates a reading from its parts without checking them.
    package init(
        tag: TagKey, receiver: String, instant: Instant, rssi: Double, window: Duration = .zero,
        measuredPower: Double? = nil
    ) {
        self.tag = tag
        self.receiver = receiver
        self.instant = instant
        self.rssi = rssi
        self.window = window
        self.measuredPower = measuredPower
    }
}

/// The name that identifies a tag in a fleet.
///
/// Gateways name the same tag in several ways. ``TagRegister`` and fixed rules select one of them.
package enum TagKey: Hashable, Comparable, Sendable, LosslessStringConvertible {
    /// The beacon that the tag advertises, written as `UUID/major/minor`.
    case beacon(BeaconIdentity)
    /// The address of the tag, written as six pairs of hexadecimal digits with colons.
    case address(DeviceAddress)
    /// Any other name, of a register or a gateway; not empty.
    case name(String)

    /// Creates a key from its text. A text that is neither a beacon nor an address is a name; an empty text gives nil.
    package init?(_ description: String) {
        if let beacon = Self.beacon(of: description) {
            self = .beacon(beacon)
        } else if let address = DeviceAddress(description) {
            self = .address(address)
        } else if !description.isEmpty {
            self = .name(description)
        } else {
            return nil
        }
    }

    /// The key without the kind of its address, which not every gateway reports.
    package var canonical: TagKey {
        if case .address(let address) = self { .address(DeviceAddress(rawValue: address.rawValue)) } else { self }
    }

    private static func beacon(of text: String) -> BeaconIdentity? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let uuid = BeaconUUID(String(parts[0])), let major = UInt16(parts[1]),
            let minor = UInt16(parts[2])
        else { return nil }
        return BeaconIdentity(uuid: uuid, major: major, minor: minor)
    }

    package var description: String {
        switch self {
        case .beacon(let identity): identity.description
        case .address(let address): address.description
        case .name(let name): name
        }
    }

    package static func < (left: TagKey, right: TagKey) -> Bool { left.description < right.description }
}

extension TagKey {
    /// A number that depends on the key alone: ``FNVHash`` of its text, mixed.
    var mixedHash: UInt64 {
        // In FNV-1a, the last bytes change few of the upper bits.
        var generator = SeededGenerator(seed: FNVHash.hash(of: description.utf8))
        return generator.next()
    }
}

/// The bytes of a reading in a log. A typical reading has at most 60 bytes.
///
/// | bytes | content |
/// | --- | --- |
/// | 1 | version, 1 |
/// | 1 | bits 0 and 1: beacon (0), address (1) or name (2); bit 2: window; bit 3: measured power; bits 4 and 5: RSSI and power have 8 bytes instead of 4 |
/// | 20, 6 or more | the tag: UUID, major and minor; the address; or the name with its length in 2 bytes |
/// | 2 or more | the receiver with its length in 2 bytes |
/// | 8 | the instant in nanoseconds |
/// | 4 or 8 | the RSSI |
/// | 0 or 8 | the window in nanoseconds |
/// | 0, 4 or 8 | the measured power |
extension TagReading {
    private static let version: UInt8 = 1

    private enum Flag {
        static let kind: UInt8 = 3
        static let window: UInt8 = 4
        static let power: UInt8 = 8
        static let wideRSSI: UInt8 = 16
        static let widePower: UInt8 = 32
        static let all: UInt8 = 63
    }

    /// Returns the bytes of the reading. Texts of more than 65,535 bytes are cut off.
    package func encoded() -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: 64)
        var flags: UInt8 =
            switch tag {
            case .beacon: 0
            case .address: 1
            case .name: 2
            }
        if window != .zero { flags |= Flag.window }
        if !Self.isNarrow(rssi) { flags |= Flag.wideRSSI }
        if let measuredPower {
            flags |= Flag.power
            if !Self.isNarrow(measuredPower) { flags |= Flag.widePower }
        }
        writer.write(Self.version)
        writer.write(flags)
        switch tag {
        case .beacon(let beacon):
            writer.write(beacon.uuid.high)
            writer.write(beacon.uuid.low)
            writer.write(beacon.major)
            writer.write(beacon.minor)
        case .address(let address):
            writer.write(UInt32(truncatingIfNeeded: address.rawValue))
            writer.write(UInt16(truncatingIfNeeded: address.rawValue >> 32))
        case .name(let name): writer.write(name)
        }
        writer.write(receiver)
        writer.write(instant.nanoseconds)
        Self.write(rssi, flags & Flag.wideRSSI != 0, to: &writer)
        if window != .zero { writer.write(window.nanoseconds) }
        if let measuredPower { Self.write(measuredPower, flags & Flag.widePower != 0, to: &writer) }
        return writer.bytes
    }

    /// Creates a reading from its bytes.
    ///
    /// - Throws: `BinaryReader.Failure` with the offset of the first invalid byte, for bytes of another version, too
    ///   few or too many bytes, an empty name, or an RSSI that isn't a measurement.
    package init(decoding bytes: [UInt8]) throws(BinaryReader.Failure) {
        var reader = BinaryReader(bytes)
        guard try reader.number(UInt8.self) == Self.version else { throw BinaryReader.Failure(offset: 0) }
        let flags = try reader.number(UInt8.self)
        guard flags & ~Flag.all == 0 else { throw BinaryReader.Failure(offset: 1) }
        let tag = try Self.tag(flags & Flag.kind, &reader)
        let receiver = try reader.text()
        let instant = Instant(nanoseconds: try reader.number())
        let offset = reader.offset
        let rssi = try Self.number(flags & Flag.wideRSSI != 0, &reader)
        guard Sighting.isMeasurement(rssi: rssi) else { throw BinaryReader.Failure(offset: offset) }
        let window = flags & Flag.window == 0 ? .zero : Duration.nanoseconds(try reader.number(Int64.self))
        var power: Double?
        if flags & Flag.power != 0 { power = try Self.number(flags & Flag.widePower != 0, &reader) }
        guard reader.isAtEnd, window >= .zero, power?.isFinite ?? true else {
            throw BinaryReader.Failure(offset: reader.offset)
        }
        self.init(
            tag: tag, receiver: receiver, instant: instant, rssi: rssi, window: window, measuredPower: power)
    }

    private static func tag(_ kind: UInt8, _ reader: inout BinaryReader) throws(BinaryReader.Failure) -> TagKey {
        let offset = reader.offset
        switch kind {
        case 0:
            let uuid = BeaconUUID(high: try reader.number(), low: try reader.number())
            return .beacon(BeaconIdentity(uuid: uuid, major: try reader.number(), minor: try reader.number()))
        case 1:
            let low = try reader.number(UInt32.self)
            let high = try reader.number(UInt16.self)
            return .address(DeviceAddress(rawValue: UInt64(high) << 32 | UInt64(low)))
        case 2:
            let name = try reader.text()
            guard !name.isEmpty else { throw BinaryReader.Failure(offset: offset) }
            return .name(name)
        default: throw BinaryReader.Failure(offset: 1)
        }
    }

    /// Whether a number has the same value with 4 bytes.
    private static func isNarrow(_ number: Double) -> Bool { Double(Float(number)) == number }

    private static func write(_ number: Double, _ isWide: Bool, to writer: inout BinaryWriter) {
        if isWide { writer.write(number) } else { writer.write(Float(number)) }
    }

    private static func number(_ isWide: Bool, _ reader: inout BinaryReader) throws(BinaryReader.Failure) -> Double {
        isWide ? try reader.double() : Double(try reader.float())
    }
}
