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
