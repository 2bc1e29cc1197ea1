import Foundation
import IndoorLocalization
import Synchronization
import TextFormats
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

/// The severity of a log line. Each one includes those before it.
package enum LogLevel: String, Hashable, Sendable, CaseIterable, Comparable {
    /// The command can't continue, or a part of it has failed.
    case error
    /// Data was lost, or a part of the command works with restrictions.
    case warning
    /// A change that a person should know about.
    case notice
    /// The usual course of the command.
    case info
    /// Each position and each entry into a room or geofence.
    case debug

    /// The priority of syslog(3), from 3 for errors to 7.
    var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug: 7
        }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.priority < right.priority }
}

/// The form of log lines.
enum LogFormat: String, Hashable, Sendable, CaseIterable {
    /// A sentence for a person, after the tool's name.
    case text
    /// Pairs of a name and a value, as <https://brandur.org/logfmt> describes.
    case logfmt
    /// A sentence for the journal of systemd, with its priority as sd-daemon(3) defines it, and pairs of a name and a
    /// value.
    case journald
}

/// A field of a log line beside its text.
package struct LogField: Hashable, Sendable {
    /// Lowercase letters.
    let name: String
    let value: String

    init(_ name: String, _ value: some CustomStringConvertible) {
        self.name = name
        self.value = value.description
    }
}

/// A line for standard error.
struct LogLine: Sendable {
    let text: String
    let level: LogLevel
    /// The name of the program.
    var tool = "indoorloc"
    var fields: [LogField] = []
    /// The session's trace identifier; nil outside a session.
    var traceID: TraceID?

    /// Returns the line with its line feed. Line feeds and control characters within it are escaped.
    ///
    /// - Parameter time: the time of the line, which only `logfmt` contains.
    func rendered(as format: LogFormat, at time: Date) -> String {
        let sentence = PrintableText.line(text)
        let fields = fields + (traceID.map { [LogField("trace", $0)] } ?? [])
        switch format {
        case .text: return "\(tool): \(sentence)\(traceID.map { " [trace \($0)]" } ?? "")\n"
        case .logfmt:
            let all =
                [LogField("time", Self.rfc3339(time)), LogField("level", level.rawValue), LogField("msg", text)]
                + fields
            return all.map(Self.pair).joined(separator: " ") + "\n"
        case .journald:
            return "<\(level.priority)>" + ([sentence] + fields.map(Self.pair)).joined(separator: " ") + "\n"
        }
    }

    private static func rfc3339(_ time: Date) -> String {
        time.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(separator: .omitted))
    }

    private static func pair(_ field: LogField) -> String { field.name + "=" + quoted(field.value) }

    /// Returns the value unchanged, or in quotes if a reader could misinterpret a part of it.
    private static func quoted(_ value: String) -> String {
        let isPlain = value.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && !"\"=\\".unicodeScalars.contains($0)
        }
        if isPlain, !value.isEmpty, PrintableText.line(value) == value { return value }
        var quoted = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                let printable = PrintableText.line(String(scalar))
                let isControl = printable != String(scalar)
                quoted += isControl ? "\\u" + Self.hexadecimal(scalar.value) : printable
            }
        }
        return quoted + "\""
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = HexDigits.text(value, 4, uppercase: false)
        return digits.count > 4 ? "{\(digits)}" : digits
    }
}

/// The level and the form of the lines on standard error.
package struct LogSettings: Hashable, Sendable {
    /// The name of the program, before each line in the form of text.
    var tool = "indoorloc"
    /// Less severe lines are discarded.
    var level = LogLevel.info
    var format = LogFormat.text
    /// Whether an option was given. Without one, standard error doesn't repeat what standard output has.
    var isDetailed = false
}

/// A text that is redrawn in place on the terminal of standard output.
struct TerminalScreen {
    /// Whether standard output is a terminal.
    static var isThere: Bool { isatty(STDOUT_FILENO) == 1 }

    private var drawn = 0

    /// Columns and rows; 80 and 24 if the terminal doesn't report its size.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Draws the lines over those of the last call.
    ///
    /// Draws nothing while the terminal is stopped, such as with Ctrl-S.
    mutating func draw(_ lines: [String]) throws(OutputError) {
        guard FileDescriptor.isWritable(STDOUT_FILENO, within: 0) else { return }
        var text = drawn > 0 ? "\u{1B}[\(drawn)A" : ""
        for line in lines { text += "\r\(PrintableText.line(line))\u{1B}[K\n" }
        // Erases the rest of a longer drawing.
        text += "\u{1B}[J"
        drawn = lines.count
        try StandardOutput.writeAsIs(text)
    }
}

/// A progress text on the terminal of standard error, for work that takes longer than a second.
final class ProgressLine: Sendable {  // a class, as parallel work shares it
    private struct State {
        var shown = 0
        var nextAt = ContinuousClock.now + .seconds(1)
    }

    private let isShown: Bool
    private let state = Mutex(State())

    init(isShown: Bool = StandardError.isTerminal) { self.isShown = isShown }

    /// Shows the text: after the first second, at most five times a second.
    func show(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        state.withLock { state in
            let now = ContinuousClock.now
            guard now >= state.nextAt else { return }
            state.nextAt = now + .milliseconds(200)
            let line = text()
            StandardError.writeAsIs("\r" + line + String(repeating: " ", count: max(0, state.shown - line.count)))
            state.shown = line.count
        }
    }

    /// Erases the line, before anything else is written.
    func clear() {
        state.withLock { state in
            guard state.shown > 0 else { return }
            StandardError.writeAsIs("\r" + String(repeating: " ", count: state.shown) + "\r")
            state.shown = 0
        }
    }
}
