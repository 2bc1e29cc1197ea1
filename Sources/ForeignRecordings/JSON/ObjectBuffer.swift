/// A buffer that splits a stream of bytes into JSON objects. Commas or white space may separate the objects, and arrays
/// may contain them.
///
/// It holds one chunk and one object in memory.
struct ObjectBuffer {
    /// The maximum number of bytes of an object. Longer ones are skipped and not stored.
    static let maximumLength = 1 << 20

    /// The next element in the buffer.
    enum Piece: Equatable {
        /// An object at these offsets of `bytes`.
        case object(Range<Int>)
        /// The end of an array of objects.
        case endOfArray
        /// An object that is longer than the limit; reported once, before its end.
        case tooLong
        /// A line with text that is not JSON, before or after an object.
        case stray
        /// The buffer holds no complete object: append more bytes, or end the stream.
        case needsMore
        /// The stream has ended within an object.
        case cutOff
        /// The stream has ended, and the buffer is empty.
        case end
    }

    /// The bytes that the ranges of objects refer to; valid until the next call of `fill`.
    private(set) var bytes: [UInt8] = []
    /// The line on which the latest piece begins, from 1.
    private(set) var line = 1
    /// Whether the latest object is an element of an array.
    private(set) var isInArray = false
    private var start = 0
    private var offset = 0
    private var currentLine = 1
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isStray = false
    private var isSkipped = false
    private var isComplete = false

    /// Appends the bytes that `read` provides; if it provides none, the stream has ended.
    mutating func fill<Failure: Error>(_ read: (inout [UInt8]) throws(Failure) -> Void) throws(Failure) {
        bytes.removeFirst(start)
        offset -= start
        start = 0
        let count = bytes.count
        try read(&bytes)
        isComplete = bytes.count == count
    }

    /// Returns the next piece.
    mutating func next() -> Piece {
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\n") { currentLine += 1 }
            let piece = depth == 0 ? outside(byte) : inside(byte)
            if depth == 0 || isSkipped { start = offset }
            if let piece { return piece }
        }
        guard isComplete else { return .needsMore }
        guard depth > 0 else { return .end }
        depth = 0
        start = offset
        return .cutOff
    }

    private mutating func outside(_ byte: UInt8) -> Piece? {
        if isStray {
            if byte == UInt8(ascii: "\n") { isStray = false }
            return nil
        }
        switch byte {
        case 0x20, 0x09, 0x0D, 0x0A, UInt8(ascii: ","): return nil
        case UInt8(ascii: "["):
            isInArray = true
            return nil
        case UInt8(ascii: "]"):
            isInArray = false
            return .endOfArray
        case UInt8(ascii: "{"):
            start = offset - 1
            depth = 1
            (isInString, isEscaped, isSkipped) = (false, false, false)
            line = currentLine
            return nil
        default:
            isStray = true
            line = currentLine
            return .stray
        }
    }

    private mutating func inside(_ byte: UInt8) -> Piece? {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
        } else if byte == UInt8(ascii: "\"") {
            isInString = true
        } else if byte == UInt8(ascii: "{") {
            depth += 1
        } else if byte == UInt8(ascii: "}") {
            depth -= 1
        }
        if depth == 0 { return isSkipped ? nil : .object(start..<offset) }
        guard !isSkipped, offset - start > Self.maximumLength else { return nil }
        isSkipped = true
        return .tooLong
    }
}
