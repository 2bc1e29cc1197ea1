import Foundation
import IndoorLocalization
import VenuePackets

/// What could not be written to standard output, or to the file in its place.
struct OutputError: Error, CustomStringConvertible {
    /// The system's error number.
    let number: Int32
    /// Where it was to go.
    var place = "standard output"
    /// Whether nobody reads any more, as behind `| head`.
    var isBrokenPipe: Bool { number == EPIPE }
    private var reason: String { String(cString: strerror(number)) }
    var description: String { "\(place): \(reason)" }
}

/// Standard output, where results go.
enum StandardOutput {
    /// Writes all of the text; what a terminal would obey is escaped, but for ends of lines and tabs.
    ///
    /// - Throws: `OutputError` if the system can't, such as on a full disk.
    static func write(_ text: String) throws(OutputError) { try writeAsIs(FileDescriptor.printable(text)) }

    /// Writes lines; whatever stands in one of them, it stays one line.
    static func write(lines: [String]) throws(OutputError) {
        try writeAsIs(lines.map { PrintableText.line($0) + "\n" }.joined())
    }

    /// Writes a text that moves the cursor of a terminal.
    static func writeAsIs(_ text: String) throws(OutputError) {
        let error = FileDescriptor.write(Array(text.utf8)[...], to: STDOUT_FILENO)
        if error != 0 { throw OutputError(number: error) }
    }
}

/// Standard error, where errors and progress go.
enum StandardError {
    /// Whether a person looks at it.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Milliseconds after which nobody takes it, and the program goes on without.
    private static let patience: Int32 = 200

    /// The session that lines belong to; they end with it.
    @TaskLocal static var traceID: TraceID?

    /// Writes one line behind the name of the tool; whatever stands in it, it stays one line.
    static func line(_ text: String) {
        let trace = traceID.map { " [trace \($0)]" } ?? ""
        write("indoorloc: \(PrintableText.line(text))\(trace)\n")
    }

    /// Writes the text; there is nowhere to tell if that fails.
    static func write(_ text: String) {
        var bytes = Array(FileDescriptor.printable(text).utf8)[...]
        while !bytes.isEmpty, FileDescriptor.takes(STDERR_FILENO, within: patience) {
            let part = bytes.prefix(FileDescriptor.pieceSize)
            guard FileDescriptor.write(part, to: STDERR_FILENO) == 0 else { return }
            bytes = bytes.dropFirst(part.count)
        }
    }

    /// Writes a text that moves the cursor of a terminal.
    static func writeAsIs(_ text: String) { _ = FileDescriptor.write(Array(text.utf8)[...], to: STDERR_FILENO) }
}

/// What the system can be asked to write to.
enum FileDescriptor {
    /// A pipe that takes anything takes this many bytes at once (`PIPE_BUF`).
    static let pieceSize = 4096

    /// Writes all of the bytes; the system's error number if it can't, else 0.
    ///
    /// Not `FileHandle.write`, which ends the process where it cannot write.
    static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32 {
        var bytes = bytes
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return errno
            }
            bytes = bytes.dropFirst(count)
        }
        return 0
    }

    /// Whether the descriptor takes bytes, or tells an error at once, after so many milliseconds at most.
    static func takes(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wanted, 1, milliseconds) != 0
    }

    /// The text without anything that a terminal obeys, but for ends of lines and tabs.
    static func printable(_ text: String) -> String { PrintableText.escaping(text, kept: ["\n", "\t"]) }
}

/// Collects lines for standard output, so that the system is called once for many of them.
struct LineOutput {
    private var pending = ""
    private static let limit = 1 << 16

    /// Writes a line, now or with later ones.
    mutating func line(_ text: String) throws(OutputError) {
        pending += text
        pending += "\n"
        if pending.utf8.count > Self.limit { try flush() }
    }

    /// Writes what is pending.
    mutating func flush() throws(OutputError) {
        try StandardOutput.write(pending)
        pending = ""
    }
}
