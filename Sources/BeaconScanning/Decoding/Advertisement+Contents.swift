import IndoorVocabulary
import TextFormats

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

/// One AD structure of advertising data: its type, and the place of its payload.
///
/// Source: Bluetooth Core Specification 5.4, Vol 3 Part C, 11.
package struct AdvertisingStructure: Hashable, Sendable {
    /// The assigned number of the AD type, such as 0xFF for manufacturer specific data.
    package var type: UInt8
    /// The offsets of the payload, without length and type, within the advertising data.
    package var payload: Range<Int>

    /// Types that beacons use. Source: Bluetooth SIG, Assigned Numbers, 2.3.
    package enum KnownType: Sendable {
        /// Flags.
        package static let flags: UInt8 = 0x01
        /// Complete list of 16-bit service UUIDs.
        package static let serviceUUIDs: UInt8 = 0x03
        /// The beginning of the device's name.
        package static let shortenedName: UInt8 = 0x08
        /// The device's name.
        package static let completeName: UInt8 = 0x09
        /// Service data of a 16-bit service UUID, which comes first, low byte first.
        package static let serviceData: UInt8 = 0x16
        /// Manufacturer specific data; the company's number comes first, low byte first.
        package static let manufacturerData: UInt8 = 0xFF
    }
}

/// An iterator over the AD structures of advertising data, without copying.
///
/// Pass the data to each call, because a span cannot be stored.
package struct AdvertisingStructureIterator: Sendable {
    private var offset = 0

    /// Creates an iterator before the first structure.
    package init() {}

    /// Returns the next structure; nil at the end of the data, or at a length of zero, which ends the significant part.
    ///
    /// - Throws: `.truncatedStructure` if the structure ends beyond the data.
    package mutating func next(in data: Span<UInt8>) throws(AdvertisementError) -> AdvertisingStructure? {
        guard offset < data.count, data[offset] != 0 else { return nil }
        let length = Int(data[offset])
        let available = data.count - offset - 1
        guard length <= available else {
            throw .truncatedStructure(offset: offset, expected: length, found: available)
        }
        let structure = AdvertisingStructure(type: data[offset + 1], payload: (offset + 2)..<(offset + 1 + length))
        offset += 1 + length
        return structure
    }
}

/// The UUID of a Bluetooth service: 128 bits, or a short form of 16 or 32 bits.
///
/// Source: Bluetooth Core Specification 5.4, Vol 3, Part B, 2.5.1.
public struct ServiceUUID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 128 bits.
    public var uuid: BeaconUUID

    /// The base UUID, whose first 32 bits a short UUID replaces.
    private static let base = BeaconUUID(high: 0x0000_0000_0000_1000, low: 0x8000_0080_5F9B_34FB)

    /// Creates a UUID of 128 bits.
    public init(_ uuid: BeaconUUID) { self.uuid = uuid }

    /// Creates a UUID from its short form of 16 or 32 bits.
    public init(short: UInt32) {
        uuid = BeaconUUID(high: UInt64(short) << 32 | Self.base.high, low: Self.base.low)
    }

    /// The short form; nil if there is none.
    public var short: UInt32? {
        guard uuid.low == Self.base.low, uuid.high & 0xFFFF_FFFF == Self.base.high else { return nil }
        return UInt32(truncatingIfNeeded: uuid.high >> 32)
    }

    /// The short form as four or eight upper-case hexadecimal digits, otherwise all digits with dashes.
    public var description: String {
        guard let short else { return uuid.description }
        return HexDigits.text(short, short > 0xFFFF ? 8 : 4, uppercase: true)
    }

    /// Whether the short form has 2 bytes.
    var isShort: Bool { short.map { $0 <= 0xFFFF } ?? false }

    /// The 2 bytes of the short form, otherwise all 16 bytes; the most significant byte first.
    var bigEndianBytes: [UInt8] {
        guard let short, short <= 0xFFFF else {
            return [uuid.high, uuid.low].flatMap { half in
                (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) }
            }
        }
        return [UInt8(short >> 8), UInt8(short & 0xFF)]
    }

    public static func < (left: ServiceUUID, right: ServiceUUID) -> Bool { left.uuid < right.uuid }
}

/// The reason why advertising data are malformed. Well-formed data without a beacon are not an error.
public enum AdvertisementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The length of an AD structure exceeds the data; `offset` is the position of the structure's length byte.
    case truncatedStructure(offset: Int, expected: Int, found: Int)
    /// The payload of a beacon frame doesn't have the length in bytes that its format requires.
    case wrongLength(BeaconFrame.Format, expected: Int, found: Int)

    public var description: String {
        switch self {
        case .truncatedStructure(let offset, let expected, let found):
            "AD structure at byte \(offset) needs \(expected) bytes, \(found) are there: the data were cut off."
        case .wrongLength(let format, let expected, let found):
            "\(format.rawValue) frame has \(found) bytes, not \(expected): check what the beacon sends."
        }
    }
}
