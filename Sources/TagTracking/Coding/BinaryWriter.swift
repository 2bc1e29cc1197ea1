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
