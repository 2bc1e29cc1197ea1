/// The head of one record of a capture, and the position of its packet in the buffer.
package struct BTSnoopRecord: Hashable, Sendable {
    /// The length of the packet in bytes before it was truncated.
    package var originalLength: Int
    /// Direction and type, or adapter and opcode, depending on the datalink.
    package var flags: UInt32
    /// The number of packets lost since the capture began.
    package var drops: UInt32
    /// The time in microseconds since the first day of the year 0.
    package var microseconds: Int64
    /// The range of the packet's bytes.
    package var data: Range<Int>

    /// The length in bytes of the file's header: identification, version, datalink.
    static let fileHeaderLength = 16
    /// The bytes with which every capture begins.
    static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The only version of the format.
    static let version: UInt32 = 1
    /// The number of bytes before a record's packet.
    static let headLength = 24
    /// The maximum packet length in bytes. HCI packets have at most 65,539 bytes; a longer one means a damaged file.
    package static let maximumLength = 1 << 17
    /// 1970-01-01 in the format's microseconds.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000
}

/// A buffer that splits a stream of bytes into the header and the records of a capture.
///
/// It holds one chunk and one record in memory.
///
/// Sources: Teledyne LeCroy, *BTSnoop File Format*; BlueZ, btsnoop(7); RFC 1761.
package struct BTSnoopBuffer {
    /// The next element in the buffer.
    package enum Piece: Equatable {
        /// The file's header.
        case header(BTSnoopDatalink)
        /// A record.
        case record(BTSnoopRecord)
        /// The buffer holds no complete piece: append more bytes, or end the stream.
        case needsMore
        /// The stream has ended, and the buffer is empty.
        case end
    }

    /// The bytes that the ranges of records refer to; valid until the next call of `fill`.
    package private(set) var bytes: [UInt8] = []
    /// The offset in the stream of the piece that was returned last.
    package private(set) var offset: Int64 = 0
    private var start = 0
    /// The offset in the stream of the first byte of `bytes`.
    private var base: Int64 = 0
    private var hasHeader = false
    private var isComplete = false

    /// Creates a buffer for an empty stream.
    package init() {}

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended.
    package mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        base += Int64(start)
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// Returns the next piece, or `.needsMore` if it is incomplete.
    ///
    /// - Throws: a problem after which the stream cannot be read further.
    package mutating func next() throws(BTSnoopError.Problem) -> Piece {
        offset = base + Int64(start)
        let available = bytes.count - start
        guard hasHeader else { return try header(available) }
        if available == 0 { return isComplete ? .end : .needsMore }
        guard available >= BTSnoopRecord.headLength else { return try more(BTSnoopRecord.headLength, available) }
        let original = word(at: 0)
        let included = word(at: 4)
        guard included <= BTSnoopRecord.maximumLength else {
            throw .recordTooLong(Int(included), limit: BTSnoopRecord.maximumLength)
        }
        let length = BTSnoopRecord.headLength + Int(included)
        guard available >= length else { return try more(length, available) }
        let microseconds = UInt64(word(at: 16)) << 32 | UInt64(word(at: 20))
        let record = BTSnoopRecord(
            originalLength: Int(original), flags: word(at: 8), drops: word(at: 12),
            microseconds: Int64(bitPattern: microseconds),
            data: (start + BTSnoopRecord.headLength)..<(start + length))
        start += length
        return .record(record)
    }

    private mutating func header(_ available: Int) throws(BTSnoopError.Problem) -> Piece {
        let identification = BTSnoopRecord.identification
        guard bytes.starts(with: identification.prefix(available)) else { throw .notACapture }
        guard available >= BTSnoopRecord.fileHeaderLength else {
            if isComplete, available < identification.count { throw .notACapture }
            return try more(BTSnoopRecord.fileHeaderLength, available)
        }
        guard word(at: 8) == BTSnoopRecord.version else { throw .unsupportedVersion(word(at: 8)) }
        guard let datalink = BTSnoopDatalink(rawValue: word(at: 12)) else {
            throw .unsupportedDatalink(word(at: 12))
        }
        hasHeader = true
        start += BTSnoopRecord.fileHeaderLength
        return .header(datalink)
    }

    private func more(_ expected: Int, _ found: Int) throws(BTSnoopError.Problem) -> Piece {
        guard isComplete else { return .needsMore }
        throw .cutOff(expected: expected, found: found)
    }

    /// Returns four bytes of the piece as a big-endian number.
    private func word(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 { value = value << 8 | UInt32(bytes[start + offset + index]) }
        return value
    }
}
