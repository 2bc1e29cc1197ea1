import IndoorVocabulary

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
