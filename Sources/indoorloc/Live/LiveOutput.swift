import Foundation
import VenuePackets

/// Standard output while something goes on: it never waits for whoever reads.
///
/// A reader who takes nothing, such as a stopped program behind a pipe, must hold up neither the radio nor a signal. What
/// there is no room for is lost, which standard error tells.
struct LiveOutput {
    private var queue = LineQueue()
    /// Bytes after which the system is called before the next tick.
    private static let batch = 1 << 16
    /// How long the end waits for a reader who takes nothing.
    static let patience = Duration.seconds(1)

    /// Whether all has been written.
    var isWritten: Bool { queue.isEmpty }
    /// Lines that nobody took and for which there was no room.
    var lost: Int { queue.lost }

    /// Writes a line, now or with later ones.
    mutating func line(_ text: String) throws(OutputError) {
        queue.append(FileDescriptor.printable(text))
        if queue.count > Self.batch { try write() }
    }

    /// Writes as much as is taken at once.
    mutating func write() throws(OutputError) {
        while !queue.isEmpty, FileDescriptor.takes(STDOUT_FILENO, within: 0) { try writePiece() }
    }

    /// Writes what is left, as long as it is taken.
    mutating func finish() throws(OutputError) {
        let patience = Int32(Self.patience.nanoseconds / 1_000_000)
        while !queue.isEmpty, FileDescriptor.takes(STDOUT_FILENO, within: patience) { try writePiece() }
    }

    /// Loses all that is left.
    mutating func drop() { queue.drop() }

    /// How many lines were lost since it was asked last.
    mutating func takeLosses() -> Int { queue.takeLosses() }

    private mutating func writePiece() throws(OutputError) {
        let piece = queue.next(FileDescriptor.pieceSize)
        let count = piece.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if count >= 0 { return queue.take(count) }
        if errno != EINTR, errno != EAGAIN { throw OutputError(number: errno) }
    }
}

extension LiveOutput {
    /// Writes what is left, and tells on standard error what was lost.
    mutating func end() throws(OutputError) {
        try finish()
        drop()
        let losses = takeLosses()
        if losses > 0 { StandardError.line("standard output: \(Self.text(losses)), as nobody read them") }
    }

    static func text(_ losses: Int) -> String { losses == 1 ? "1 line was lost" : "\(losses) lines were lost" }
}
