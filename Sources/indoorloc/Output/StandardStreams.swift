import Foundation
import IndoorLocalization
import VenuePackets

/// The error of standard output, or of the file that replaces it.
package struct OutputError: Error, CustomStringConvertible {
    /// The system's error number.
    let number: Int32
    /// The destination.
    var place = "standard output"
    /// Whether the reader has closed the pipe, such as `| head`.
    var isBrokenPipe: Bool { number == EPIPE }
    private var reason: String { String(cString: strerror(number)) }
    package var description: String { "\(place): \(reason)" }
}

/// Standard output, for results.
package enum StandardOutput {
    /// Writes the text; control characters other than line feeds and tabs are escaped.
    ///
    /// - Throws: `OutputError` if the text can't be written, such as to a full disk.
    package static func write(_ text: String) throws(OutputError) { try writeAsIs(FileDescriptor.printable(text)) }

    /// Writes lines; line feeds within a line are escaped.
    package static func write(lines: [String]) throws(OutputError) {
        try writeAsIs(lines.map { PrintableText.line($0) + "\n" }.joined())
    }

    /// Writes a text with control characters for a terminal.
    static func writeAsIs(_ text: String) throws(OutputError) {
        let error = FileDescriptor.write(Array(text.utf8)[...], to: STDOUT_FILENO)
        if error != 0 { throw OutputError(number: error) }
    }
}

/// Standard error, for errors and progress.
package enum StandardError {
    /// Whether standard error is a terminal.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// The time in milliseconds that a write waits for a slow reader before the text is discarded.
    private static let patience: Int32 = 200

    /// The session's trace identifier, which is appended to each line.
    @TaskLocal static var traceID: TraceID?

    /// The level and the form of the lines; nil for the default ones.
    @TaskLocal package static var logSettings: LogSettings?

    private static var log: LogSettings { logSettings ?? LogSettings() }

    /// Writes one line, unless it is less severe than the settings require; line feeds within it are escaped.
    package static func line(_ text: String, _ level: LogLevel = .notice, _ fields: [LogField] = []) {
        guard level <= log.level else { return }
        let line = LogLine(text: text, level: level, tool: log.tool, fields: fields, traceID: traceID)
        writeBytes(line.rendered(as: log.format, at: Date()))
    }

    /// Writes a detail that standard output or the service's status also contains, but only if a log option was given.
    static func detail(_ text: String, _ level: LogLevel, _ fields: [LogField] = []) {
        if log.isDetailed { line(text, level, fields) }
    }

    /// Writes a text of several lines, such as a list of problems. In log formats other than text, each line becomes a
    /// log line without the tool's name.
    static func write(_ text: String, _ level: LogLevel) {
        guard level <= log.level else { return }
        guard log.format != .text else { return writeBytes(Self.named(text, log.tool)) }
        for part in text.split(separator: "\n") {
            line(String(part.hasPrefix("indoorloc: ") ? part.dropFirst("indoorloc: ".count) : part), level)
        }
    }

    /// Returns the text of a library's command with the name of the program that runs it.
    private static func named(_ text: String, _ tool: String) -> String {
        text.hasPrefix("indoorloc: ") ? "\(tool): " + text.dropFirst("indoorloc: ".count) : text
    }

    /// Writes a warning of several lines.
    static func write(_ text: String) { write(text, .warning) }

    /// Writes the text; a failure is ignored.
    private static func writeBytes(_ text: String) {
        var bytes = Array(FileDescriptor.printable(text).utf8)[...]
        while !bytes.isEmpty, FileDescriptor.isWritable(STDERR_FILENO, within: patience) {
            let part = bytes.prefix(FileDescriptor.pieceSize)
            guard FileDescriptor.write(part, to: STDERR_FILENO) == 0 else { return }
            bytes = bytes.dropFirst(part.count)
        }
    }

    /// Writes a text with control characters for a terminal.
    static func writeAsIs(_ text: String) { _ = FileDescriptor.write(Array(text.utf8)[...], to: STDERR_FILENO) }
}

/// Writing to file descriptors.
enum FileDescriptor {
    /// The number of bytes that a writable pipe accepts without blocking (`PIPE_BUF`).
    static let pieceSize = 4096

    /// Writes all bytes; returns the system's error number, or 0 on success.
    ///
    /// `FileHandle.write` is not used, as it ends the process if it can't write.
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

    /// Waits until the descriptor accepts bytes or reports an error, at most `milliseconds`; returns whether it does.
    static func isWritable(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wanted, 1, milliseconds) != 0
    }

    /// The text with control characters escaped, other than line feeds and tabs.
    static func printable(_ text: String) -> String { PrintableText.escaping(text, kept: ["\n", "\t"]) }
}

/// A buffer of lines for standard output, which reduces the number of system calls.
struct LineOutput {
    private var pending = ""
    /// The number of bytes below which lines are buffered.
    private let limit: Int

    init() { limit = 1 << 16 }

    /// Creates an output of lines about a file. Lines about a pipe are written immediately, because the next ones may
    /// come later.
    init(about path: String) { limit = FileIdentity(path: path)?.isPipe == true ? 0 : 1 << 16 }

    /// Writes a line, now or with later ones.
    mutating func line(_ text: String) throws(OutputError) {
        pending += text
        pending += "\n"
        if pending.utf8.count > limit { try flush() }
    }

    /// Writes the buffered lines.
    mutating func flush() throws(OutputError) {
        try StandardOutput.write(pending)
        pending = ""
    }
}
