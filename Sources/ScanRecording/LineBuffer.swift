/// Cuts a stream of bytes into lines with memory for a chunk and the longest line only.
package struct LineBuffer {
    /// A line's bytes may be this many; longer ones are passed over without being kept.
    package static let maximumLineLength = 1 << 20

    /// What comes next in the buffer.
    package enum Piece: Equatable {
        /// A line without its newline, at these offsets of `bytes`.
        case line(Range<Int>)
        /// A line that is longer than the limit; told once, before its end.
        case tooLong
        /// Nothing whole: append more bytes, or take the end.
        case needsMore
        /// Nothing is left, and nothing will come.
        case end
    }

    /// The bytes that the ranges of lines refer to; valid until the next append.
    package private(set) var bytes: [UInt8] = []
    private var start = 0
    /// How far no newline was found.
    private var searched = 0
    private var isSkipping = false
    private var isComplete = false

    /// Begins with an empty stream.
    package init() {}

    /// Appends what `read` appends to the buffer; nothing appended means the end of the stream.
    package mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// The next line, if a whole one is there. The last line needs no newline.
    package mutating func next() -> Piece {
        if let newline = findNewline() {
            let line = start..<newline
            start = newline + 1
            searched = start
            if isSkipping {
                isSkipping = false
                return next()
            }
            return line.count > Self.maximumLineLength ? .tooLong : .line(line)
        }
        if isComplete {
            guard start < bytes.count, !isSkipping else { return .end }
            let line = start..<bytes.count
            start = bytes.count
            searched = start
            return line.count > Self.maximumLineLength ? .tooLong : .line(line)
        }
        if isSkipping {
            start = bytes.count
        } else if bytes.count - start > Self.maximumLineLength {
            isSkipping = true
            start = bytes.count
            return .tooLong
        }
        return .needsMore
    }

    /// Whether a line holds white space only.
    func isBlank(_ line: Range<Int>) -> Bool {
        line.allSatisfy { bytes[$0] == 0x20 || bytes[$0] == 0x09 || bytes[$0] == 0x0D }
    }

    private mutating func findNewline() -> Int? {
        let found = Self.newline(in: bytes.span, from: searched)
        searched = found ?? bytes.count
        return found
    }

    private static func newline(in bytes: Span<UInt8>, from start: Int) -> Int? {
        var offset = start
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\n") { return offset }
            offset += 1
        }
        return nil
    }
}
