/// The head of one record of a capture, and where its packet lies in the buffer.
package struct BTSnoopRecord: Hashable, Sendable {
    /// Length of the packet in bytes before any of it was cut off.
    package var originalLength: Int
    /// Direction and type, or adapter and opcode: what they mean depends on the datalink.
    package var flags: UInt32
    /// How many packets were lost since the capture began.
    package var drops: UInt32
    /// Microseconds since the first day of the year 0.
    package var microseconds: Int64
    /// The packet's bytes.
    package var data: Range<Int>

    /// Bytes of the file's header: identification, version, datalink.
    static let fileHeaderLength = 16
    /// What every capture begins with.
    static let identification: [UInt8] = Array("btsnoop\0".utf8)
    /// The one version that there is.
    static let version: UInt32 = 1
    /// Bytes before a record's packet.
    static let headLength = 24
    /// Packets of HCI have 65,539 bytes at most; a longer one tells that the file is damaged.
    package static let maximumLength = 1 << 17
    /// 1970-01-01 in microseconds of the format.
    static let unixEpoch: Int64 = 0x00DC_DDB3_0F2F_8000
}

/// Cuts a stream of bytes into the header and the records of a capture, with memory for a chunk and a record only.
///
/// Sources: Teledyne LeCroy, *BTSnoop File Format*; BlueZ, btsnoop(7); RFC 1761.
package struct BTSnoopBuffer {
    /// What comes next in the buffer.
    package enum Piece: Equatable {
        /// The file's header.
        case header(BTSnoopDatalink)
        /// A record.
        case record(BTSnoopRecord)
        /// Nothing whole: append more bytes, or take the end.
        case needsMore
        /// Nothing is left, and nothing will come.
        case end
    }

    /// The bytes that the ranges of records refer to; valid until the next fill.
    package private(set) var bytes: [UInt8] = []
    /// Where in the stream the piece begins that was given last.
    package private(set) var offset: Int64 = 0
    private var start = 0
    /// Where in the stream `bytes` begins.
    private var base: Int64 = 0
    private var hasHeader = false
    private var isComplete = false

    /// Begins with an empty stream.
    package init() {}

    /// Appends what `read` appends to the buffer; nothing appended means the end of the stream.
    package mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        base += Int64(start)
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// The next piece, if a whole one is there.
    ///
    /// - Throws: what makes it impossible to go on.
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

    /// Four bytes of the piece, the most significant first.
    private func word(at offset: Int) -> UInt32 {
        var value: UInt32 = 0
        for index in 0..<4 { value = value << 8 | UInt32(bytes[start + offset + index]) }
        return value
    }
}
