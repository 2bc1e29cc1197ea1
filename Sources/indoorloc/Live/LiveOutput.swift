import Foundation
import VenuePackets

/// Standard output of a live command, which never waits for a slow reader.
///
/// A reader that has stopped must block neither the radio nor a signal. Lines that exceed the buffer are lost, and
/// standard error reports their number.
struct LiveOutput {
    private var queue = LineQueue()
    /// The number of buffered bytes that are written before the next tick.
    private static let batch = 1 << 16
    /// The time that `finish()` waits for a stopped reader.
    static let patience = Duration.seconds(1)

    /// Whether all lines have been written.
    var isWritten: Bool { queue.isEmpty }
    /// The number of lost lines since the last `drainLosses()`.
    var lost: Int { queue.lost }

    /// Writes a line, now or with later ones.
    mutating func line(_ text: String) throws(OutputError) {
        queue.append(FileDescriptor.printable(text))
        if queue.count > Self.batch { try write() }
    }

    /// Writes as much as the reader accepts at once.
    mutating func write() throws(OutputError) {
        while !queue.isEmpty, FileDescriptor.isWritable(STDOUT_FILENO, within: 0) { try writePiece() }
    }

    /// Writes the remaining lines, unless the reader stops.
    mutating func finish() throws(OutputError) {
        let patience = Int32(Self.patience.nanoseconds / 1_000_000)
        while !queue.isEmpty, FileDescriptor.isWritable(STDOUT_FILENO, within: patience) { try writePiece() }
    }

    /// Discards the remaining lines and counts them as lost.
    mutating func drop() { queue.drop() }

    /// Returns the number of lost lines since the last call.
    mutating func drainLosses() -> Int { queue.drainLosses() }

    private mutating func writePiece() throws(OutputError) {
        let piece = queue.next(FileDescriptor.pieceSize)
        let count = piece.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count >= 0 { return queue.consume(count) }
        if errno != EINTR, errno != EAGAIN { throw OutputError(number: errno) }
    }
}

extension LiveOutput {
    /// Writes the remaining lines, and reports lost lines on standard error.
    mutating func end() throws(OutputError) {
        try finish()
        drop()
        let losses = drainLosses()
        if losses > 0 {
            StandardError.line("standard output: \(Self.text(losses)), as the reader was too slow", .warning)
        }
    }

    /// The number of lost lines in words.
    static func text(_ losses: Int) -> String { losses == 1 ? "1 line was lost" : "\(losses) lines were lost" }
}

/// A bounded queue of lines for a slow reader. New lines that don't fit are lost and counted.
struct LineQueue: Sendable {
    /// The capacity in bytes: thousands of positions.
    static let room = 1 << 20

    private var bytes: [UInt8] = []
    /// The number of consumed bytes at the start of `bytes`.
    private var start = 0
    /// The number of lost lines since the last `drainLosses()`.
    private(set) var lost = 0

    var isEmpty: Bool { start == bytes.count }
    /// The number of bytes in the queue.
    var count: Int { bytes.count - start }
    /// The number of lines in the queue, including a partly consumed one.
    var lines: Int { bytes[start...].count { $0 == UInt8(ascii: "\n") } }

    /// Appends a line, given without its line feed, or counts it as lost.
    mutating func append(_ line: String) {
        guard count + line.utf8.count < Self.room else { return lost += 1 }
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
    }

    /// The next bytes, at most `limit`.
    func next(_ limit: Int) -> ArraySlice<UInt8> { bytes[start...].prefix(limit) }

    /// Removes bytes that were written.
    mutating func consume(_ count: Int) {
        start += count
        // Not after each write, as this moves all remaining bytes.
        guard start == bytes.count || start >= Self.room else { return }
        bytes.removeFirst(start)
        start = 0
    }

    /// Discards the remaining lines and counts them as lost.
    mutating func drop() {
        lost += lines
        bytes = []
        start = 0
    }

    /// Returns the number of lost lines since the last call.
    mutating func drainLosses() -> Int {
        defer { lost = 0 }
        return lost
    }
}
