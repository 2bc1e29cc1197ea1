import IndoorVocabulary
import TextFormats

/// A buffer that splits a stream of bytes into lines, and holds at most one chunk and one line in memory.
///
/// It skips a byte order mark at the beginning of the stream.
package struct LineBuffer {
    /// The maximum number of bytes in a line. Longer lines are skipped and not stored.
    package static let maximumLineLength = 1 << 20

    /// The next element in the buffer.
    package enum Piece: Equatable {
        /// A line without its newline, at these offsets of `bytes`.
        case line(Range<Int>)
        /// A line that is longer than the limit; reported once, before its end.
        case tooLong
        /// The buffer holds no complete line: append more bytes, or end the stream.
        case needsMore
        /// The stream has ended, and the buffer is empty.
        case end
    }

    /// The bytes that the ranges of lines refer to; valid until the next append.
    package private(set) var bytes: [UInt8] = []
    private var start = 0
    /// The offset up to which there is no newline.
    private var searched = 0
    private var isSkipping = false
    /// Whether the first line, which may begin with a byte order mark, has not been found yet.
    private var isAtStart = true
    private var isComplete = false

    /// Creates a buffer for an empty stream.
    package init() {}

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended.
    package mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// Returns the next line, or `.needsMore` if it is incomplete. The last line needs no newline.
    package mutating func next() -> Piece {
        if let newline = findNewline() {
            let line = lineStart(before: newline)..<newline
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
            let line = lineStart(before: bytes.count)..<bytes.count
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

    /// Returns whether a line contains only white space.
    package func isBlank(_ line: Range<Int>) -> Bool {
        line.allSatisfy { bytes[$0] == 0x20 || bytes[$0] == 0x09 || bytes[$0] == 0x0D }
    }

    /// Returns the offset at which a complete line begins.
    private mutating func lineStart(before end: Int) -> Int {
        guard isAtStart else { return start }
        isAtStart = false
        return start + ByteOrderMark.length(in: bytes[start..<end])
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
