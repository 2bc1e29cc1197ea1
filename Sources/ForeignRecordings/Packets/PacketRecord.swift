/// One packet of a capture file.
struct PacketRecord: Hashable, Sendable {
    /// The number of the packet, from 1.
    var number: Int
    /// The layout of the packet: a number of the registry of LINKTYPE values.
    var linkType: UInt32
    /// The time in nanoseconds since 1970; nil if the file doesn't state it.
    var nanoseconds: Int64?
    /// Whether the file contains all bytes of the packet.
    var isWhole: Bool
    /// The offsets of the packet's bytes in the buffer.
    var data: Range<Int>
}

/// Numbers of several bytes, in the order of a file.
struct ByteOrder: Hashable, Sendable {
    var isBigEndian: Bool

    /// Returns an unsigned number of `count` bytes, at most 8.
    func number(_ bytes: [UInt8], at start: Int, _ count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<count {
            let byte = bytes[start + (isBigEndian ? index : count - 1 - index)]
            value = value << 8 | UInt64(byte)
        }
        return value
    }
}
