import IndoorVocabulary
import VenueModel

/// A writer of numbers and texts as bytes, in little-endian order.
package struct BinaryWriter: Sendable {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates a writer without bytes.
    package init(reservingCapacity capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package mutating func write(_ value: UInt8) { bytes.append(value) }

    package mutating func write<Number: FixedWidthInteger>(_ value: Number) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func write(_ value: Double) { write(value.bitPattern) }

    package mutating func write(_ value: Float) { write(value.bitPattern) }

    /// Writes a text of at most 65,535 bytes with its length.
    package mutating func write(_ text: String) {
        let text = text.utf8.prefix(Int(UInt16.max))
        write(UInt16(truncatingIfNeeded: text.count))
        bytes.append(contentsOf: text)
    }

    package mutating func write(_ some: [UInt8]) { bytes.append(contentsOf: some) }
}

/// A reader of the bytes that ``BinaryWriter`` writes.
package struct BinaryReader: Sendable {
    /// The bytes end too early, or have an invalid value.
    package struct Failure: Error, Hashable, Sendable {
        /// The offset of the first byte that couldn't be read.
        package var offset: Int
    }

    private let bytes: [UInt8]
    /// The offset of the next byte.
    package private(set) var offset = 0

    /// Creates a reader at the first byte.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether all bytes were read.
    package var isAtEnd: Bool { offset == bytes.count }

    /// Reads a number.
    package mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) throws(Failure) -> Number
    {
        let size = MemoryLayout<Number>.size
        guard bytes.count - offset >= size else { throw Failure(offset: offset) }
        var value: Number = 0
        for index in 0..<size { value |= Number(truncatingIfNeeded: bytes[offset + index]) << Number(8 * index) }
        offset += size
        return value
    }

    /// Reads a floating-point number.
    package mutating func double() throws(Failure) -> Double { Double(bitPattern: try number()) }

    /// Reads a floating-point number of four bytes.
    package mutating func float() throws(Failure) -> Float { Float(bitPattern: try number()) }

    /// Reads bytes.
    package mutating func bytes(_ count: Int) throws(Failure) -> [UInt8] {
        guard count >= 0, bytes.count - offset >= count else { throw Failure(offset: offset) }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }

    /// Reads a text with its length.
    package mutating func text() throws(Failure) -> String {
        let count = Int(try number(UInt16.self))
        let start = offset
        guard bytes.count - offset >= count,
            let text = String(validating: bytes[offset..<offset + count], as: UTF8.self)
        else { throw Failure(offset: start) }
        offset += count
        return text
    }
}

/// The frame around the content of a snapshot: four letters for its kind, a version, and a checksum at the end.
///
/// The checksum is ``FNVHash``. It detects damage, not forgery.
enum SnapshotFrame {
    private static let headerCount = 5
    private static let checksumCount = 8

    /// Returns the content within a frame.
    static func frame(_ content: [UInt8], kind: StaticString, version: UInt8) -> [UInt8] {
        var writer = BinaryWriter(reservingCapacity: content.count + headerCount + checksumCount)
        for byte in letters(of: kind) { writer.write(byte) }
        writer.write(version)
        writer.write(content)
        writer.write(FNVHash.hash(of: writer.bytes))
        return writer.bytes
    }

    /// Returns the content of a frame.
    ///
    /// - Throws: `FleetSnapshotError` if the frame isn't of this kind or version, or is damaged.
    static func content(
        of bytes: [UInt8], kind: StaticString, version: UInt8
    ) throws(FleetSnapshotError) -> [UInt8] {
        guard bytes.starts(with: letters(of: kind)) else { throw .notASnapshot }
        guard bytes.count >= headerCount + checksumCount else { throw .wrongChecksum }
        let end = bytes.count - checksumCount
        var stored: UInt64 = 0
        for (index, byte) in bytes[end...].enumerated() { stored |= UInt64(byte) << UInt64(8 * index) }
        guard FNVHash.hash(of: bytes[..<end]) == stored else { throw .wrongChecksum }
        let found = bytes[headerCount - 1]
        guard found == version else { throw .unsupportedVersion(found) }
        return Array(bytes[headerCount..<end])
    }

    private static func letters(of kind: StaticString) -> [UInt8] { Array("\(kind)".utf8) }
}

extension BinaryReader {
    /// Reads a 16-bit count and that number of bytes.
    mutating func counted() throws(Failure) -> [UInt8] {
        let count = Int(try number(UInt16.self))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<count { bytes.append(try number()) }
        return bytes
    }
}

extension BinaryWriter {
    /// Writes the 16-bit count of at most 65,535 bytes, and then the bytes.
    mutating func writeCounted(_ bytes: [UInt8]) {
        write(UInt16(truncatingIfNeeded: min(bytes.count, Int(UInt16.max))))
        write(Array(bytes.prefix(Int(UInt16.max))))
    }
}

/// The reason why a snapshot can't be restored.
package enum FleetSnapshotError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes don't begin like a snapshot of this kind.
    case notASnapshot
    /// Another version of the program wrote the snapshot.
    case unsupportedVersion(UInt8)
    /// The checksum doesn't match the bytes.
    case wrongChecksum
    /// A value is missing or invalid.
    case invalid(offset: Int)
    /// The snapshot belongs to another venue.
    case otherVenue(VenueID, expected: VenueID)

    package var description: String {
        switch self {
        case .notASnapshot: "the bytes aren't a snapshot of a fleet. Delete the file to begin without a snapshot."
        case .unsupportedVersion(let version):
            "the snapshot has version \(version) of another version of the program. Use that version, or delete the snapshot to "
                + "begin without it."
        case .wrongChecksum:
            "the checksum of the snapshot is wrong: it was damaged or not written to its end. Delete the snapshot to "
                + "begin without it."
        case .invalid(let offset):
            "the snapshot has an invalid value at byte \(offset). Delete the snapshot to begin without it."
        case .otherVenue(let found, let expected):
            "the snapshot belongs to venue \(found); expected venue \(expected). Use the snapshot of this venue."
        }
    }
}
