import Foundation
import IndoorLocalization
import TextFormats
import VenuePackets

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
