/// A buffer that splits a stream of bytes into the packets of a capture file: pcap or pcapng.
///
/// It holds one chunk and one packet in memory.
///
/// Sources: G. Harris and M. Richardson, *PCAP Capture File Format*, draft-ietf-opsawg-pcap; M. Tuexen, F. Risso, J.
/// Bongertz, G. Combs, G. Harris, E. Chaudron and M. Richardson, *PCAP Next Generation (pcapng) Capture File Format*,
/// draft-ietf-opsawg-pcapng.
struct PacketBuffer {
    /// The maximum length of a packet or block in bytes. Bluetooth packets have at most 65,539 bytes.
    static let maximumLength = 1 << 20
    /// The maximum number of interfaces of a section.
    static let maximumInterfaces = 1000

    /// The next element in the buffer.
    enum Piece: Equatable {
        /// A packet.
        case packet(PacketRecord)
        /// The buffer holds no complete packet: append more bytes, or end the stream.
        case needsMore
        /// The stream has ended, and the buffer is empty.
        case end
    }

    private enum Format: Hashable {
        case unknown
        case pcap(linkType: UInt32)
        case pcapng
    }

    private struct Interface: Hashable {
        var linkType: UInt32
        var time: PacketTime
    }

    /// The bytes that the ranges of packets refer to; valid until the next call of `fill`.
    private(set) var bytes: [UInt8] = []
    /// The offset in the stream of the latest piece.
    private(set) var offset: Int64 = 0
    /// The number of packets so far.
    private(set) var packets = 0
    private var format = Format.unknown
    private var order = ByteOrder(isBigEndian: false)
    private var time = PacketTime.microseconds
    private var interfaces: [Interface] = []
    private var start = 0
    private var base: Int64 = 0
    private var isComplete = false

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended.
    mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        base += Int64(start)
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// Returns the next piece.
    mutating func next() throws(ForeignProblem) -> Piece {
        while true {
            offset = base + Int64(start)
            if bytes.count == start, format != .unknown { return isComplete ? .end : .needsMore }
            let piece: Piece? =
                switch format {
                case .unknown: try header()
                case .pcap(let linkType): try record(linkType)
                case .pcapng: try block()
                }
            if let piece { return piece }
        }
    }

    /// Returns nil if the buffer contains at least `length` bytes from the start of the piece; otherwise `.needsMore`.
    private func more(_ length: Int) throws(ForeignProblem) -> Piece? {
        let available = bytes.count - start
        guard available < length else { return nil }
        guard isComplete else { return .needsMore }
        throw ForeignProblem(nil, .cutOff(expected: length, found: available), endsFile: true)
    }

    private func word(_ offset: Int) -> Int { Int(order.number(bytes, at: start + offset, 4)) }

    private func half(_ offset: Int) -> Int { Int(order.number(bytes, at: start + offset, 2)) }

    // MARK: - pcap

    private mutating func header() throws(ForeignProblem) -> Piece? {
        if isComplete, bytes.isEmpty { throw ForeignProblem(nil, .empty, endsFile: true) }
        if let piece = try more(4) { return piece }
        let magic = UInt32(ByteOrder(isBigEndian: true).number(bytes, at: start, 4))
        switch magic {
        case 0x0A0D_0D0A:
            format = .pcapng
            return nil
        case 0xA1B2_C3D4, 0xA1B2_3C4D: order.isBigEndian = true
        case 0xD4C3_B2A1, 0x4D3C_B2A1: order.isBigEndian = false
        default:
            throw ForeignProblem(nil, .malformed("expected the beginning of a pcap or pcapng file"), endsFile: true)
        }
        if let piece = try more(24) { return piece }
        guard half(4) == 2 else {
            throw ForeignProblem(
                "version", .unsupported("is \(half(4))", remedy: "Save the file again as pcap 2.4 or as pcapng"),
                endsFile: true)
        }
        time.resolution = magic == 0xA1B2_3C4D || magic == 0x4D3C_B2A1 ? 9 : 6
        // The upper half contains the length of frame check sequences.
        format = .pcap(linkType: UInt32(word(20) & 0xFFFF))
        start += 24
        return nil
    }

    private mutating func record(_ linkType: UInt32) throws(ForeignProblem) -> Piece? {
        if let piece = try more(16) { return piece }
        let length = word(8)
        try check(length)
        if let piece = try more(16 + length) { return piece }
        let (seconds, fraction) = (UInt64(word(0)), UInt64(word(4)))
        let units = time.resolution == 9 ? seconds * 1_000_000_000 + fraction : seconds * 1_000_000 + fraction
        let data = (start + 16)..<(start + 16 + length)
        let isWhole = length >= word(12)
        start += 16 + length
        return packet(linkType, time.nanoseconds(units), isWhole, data)
    }

    private mutating func packet(
        _ linkType: UInt32, _ nanoseconds: Int64?, _ isWhole: Bool, _ data: Range<Int>
    ) -> Piece {
        packets += 1
        return .packet(
            PacketRecord(number: packets, linkType: linkType, nanoseconds: nanoseconds, isWhole: isWhole, data: data))
    }

    private func check(_ length: Int) throws(ForeignProblem) {
        guard length <= Self.maximumLength else {
            throw ForeignProblem(nil, .tooLong(limit: Self.maximumLength), endsFile: true)
        }
    }

    // MARK: - pcapng

    private enum BlockType {
        static let section = 0x0A0D_0D0A
        static let interface = 1
        static let obsoletePacket = 2
        static let simplePacket = 3
        static let enhancedPacket = 6
    }

    private mutating func block() throws(ForeignProblem) -> Piece? {
        if let piece = try more(12) { return piece }
        // The type of a section's header reads the same in both orders, and its third word states the order.
        if word(0) == BlockType.section {
            switch ByteOrder(isBigEndian: true).number(bytes, at: start + 8, 4) {
            case 0x1A2B_3C4D: order.isBigEndian = true
            case 0x4D3C_2B1A: order.isBigEndian = false
            default: throw ForeignProblem(nil, .malformed("a section has no byte order"), endsFile: true)
            }
        }
        let (type, length) = (word(0), word(4))
        try check(length)
        guard length >= 12, length.isMultiple(of: 4) else {
            throw ForeignProblem(nil, .malformed("a block has a length of \(length) bytes"), endsFile: true)
        }
        if let piece = try more(length) { return piece }
        let body = (start + 8)..<(start + length - 4)
        defer { start += length }
        switch type {
        case BlockType.section: interfaces = []
        case BlockType.interface: try addInterface(body)
        case BlockType.enhancedPacket, BlockType.obsoletePacket: return try timedPacket(type, body)
        case BlockType.simplePacket: return try simplePacket(body)
        default: break
        }
        return nil
    }

    private mutating func addInterface(_ body: Range<Int>) throws(ForeignProblem) {
        guard interfaces.count < Self.maximumInterfaces else {
            throw ForeignProblem(nil, .tooMany(what: "interfaces", limit: Self.maximumInterfaces), endsFile: true)
        }
        guard body.count >= 8 else { throw malformedBlock(body) }
        var time = PacketTime.microseconds
        var option = body.lowerBound + 8
        while option + 4 <= body.upperBound {
            let (code, length) = (order.number(bytes, at: option, 2), Int(order.number(bytes, at: option + 2, 2)))
            option += 4
            guard code != 0, option + length <= body.upperBound else { break }
            if code == 9, length == 1 { time.resolution = bytes[option] }
            if code == 14, length == 8 { time.offset = Int64(bitPattern: order.number(bytes, at: option, 8)) }
            option += (length + 3) & ~3
        }
        let linkType = UInt32(order.number(bytes, at: body.lowerBound, 2))
        interfaces.append(Interface(linkType: linkType, time: time))
    }

    private func malformedBlock(_ body: Range<Int>) -> ForeignProblem {
        ForeignProblem(nil, .malformed("a block of \(body.count + 12) bytes is too short for its content"))
    }

    /// Returns the interface of a packet.
    private func interface(_ number: UInt64) throws(ForeignProblem) -> Interface {
        guard number < UInt64(interfaces.count) else {
            throw .invalid("interface", "\(number)", expected: "an interface that the section describes")
        }
        return interfaces[Int(number)]
    }

    private mutating func timedPacket(_ type: Int, _ body: Range<Int>) throws(ForeignProblem) -> Piece {
        guard body.count >= 20 else { throw malformedBlock(body) }
        let first = body.lowerBound
        let length = Int(order.number(bytes, at: first + 12, 4))
        guard length <= body.count - 20 else { throw malformedBlock(body) }
        // In the obsolete block, the number of the interface has two bytes.
        let number = order.number(bytes, at: first, type == BlockType.obsoletePacket ? 2 : 4)
        let interface = try interface(number)
        let units = order.number(bytes, at: first + 4, 4) << 32 | order.number(bytes, at: first + 8, 4)
        let isWhole = UInt64(length) >= order.number(bytes, at: first + 16, 4)
        let data = (first + 20)..<(first + 20 + length)
        return packet(interface.linkType, interface.time.nanoseconds(units), isWhole, data)
    }

    private mutating func simplePacket(_ body: Range<Int>) throws(ForeignProblem) -> Piece {
        guard body.count >= 4 else { throw malformedBlock(body) }
        let original = Int(order.number(bytes, at: body.lowerBound, 4))
        let length = min(original, body.count - 4)
        let data = (body.lowerBound + 4)..<(body.lowerBound + 4 + length)
        return packet(try interface(0).linkType, nil, length >= original, data)
    }
}

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
    /// The signal strength in dBm that the file states beside the packet; nil without one.
    var rssi: Double?
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

/// The resolution and the offset of the times of a capture file.
package struct PacketTime: Hashable, Sendable {
    /// Microseconds, the default of both formats.
    package static let microseconds = PacketTime(resolution: 6, offset: 0)

    /// The exponent: times count 10^-resolution s or, if the highest bit is set, 2^-(the other bits) s.
    package var resolution: UInt8
    /// The seconds that are added to each time.
    package var offset: Int64

    /// Creates a resolution and an offset.
    package init(resolution: UInt8, offset: Int64) {
        self.resolution = resolution
        self.offset = offset
    }

    /// Returns a count of units as nanoseconds since 1970; nil out of range.
    package func nanoseconds(_ units: UInt64) -> Int64? {
        let exponent = Int(resolution & 0x7F)
        let value: UInt64
        if resolution & 0x80 != 0 {
            guard exponent < 64 else { return nil }
            let (high, low) = units.multipliedFullWidth(by: 1_000_000_000)
            guard high >> UInt64(exponent) == 0 else { return nil }
            value = exponent == 0 ? low : high << UInt64(64 - exponent) | low >> UInt64(exponent)
        } else {
            guard exponent <= 18 else { return nil }
            let (factor, divisor) = (Self.power(9 - exponent), Self.power(exponent - 9))
            let (product, overflow) = units.multipliedReportingOverflow(by: factor)
            guard !overflow else { return nil }
            value = product / divisor
        }
        let (shift, isFar) = offset.multipliedReportingOverflow(by: 1_000_000_000)
        guard value < 9_200_000_000_000_000_000, !isFar else { return nil }
        let (sum, overflow) = Int64(value).addingReportingOverflow(shift)
        return overflow ? nil : sum
    }

    /// Returns a power of ten; 1 for a negative exponent.
    private static func power(_ exponent: Int) -> UInt64 {
        var power: UInt64 = 1
        for _ in 0..<max(0, exponent) { power *= 10 }
        return power
    }
}
