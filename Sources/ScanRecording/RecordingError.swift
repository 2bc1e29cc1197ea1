import IndoorVocabulary

/// What is wrong with a recording, where, and what to do about it.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was wrong.
    public enum Problem: Hashable, Sendable {
        /// The file could not be opened, read or unpacked; the text is the system's reason.
        case unreadable(String)
        /// The file could not be created or written; the text is the system's reason.
        case unwritable(String)
        /// The file holds no line at all.
        case empty
        /// The first line is not the header of a recording.
        case notARecording
        /// A header stands after the first line.
        case repeatedHeader
        /// The file was written for a newer edition of the format.
        case unsupportedVersion(Int)
        /// The line is longer than the limit in bytes.
        case lineTooLong(limit: Int)
        /// What is read as a whole, such as a survey, has more sightings and places than the limit.
        case tooManyReadings(limit: Int)
        /// The line is no JSON object; column in bytes, from 1.
        case malformedJSON(column: Int, reason: String)
        /// A field stands twice in the line.
        case duplicateField
        /// A field that the type needs is not there.
        case missingField
        /// A field holds another kind of value than its type needs.
        case wrongType(expected: String)
        /// A field holds a value outside its range.
        case outOfRange(value: String, allowed: String)
        /// The line is earlier than the one before it; both in seconds.
        case timeWentBackwards(from: Double, to: Double)
    }

    /// Path of the file.
    public var file: String
    /// Number of the line, from 1; nil if the file as a whole is meant.
    public var line: Int?
    /// The field that is meant; nil if it is the whole line.
    public var field: String?
    /// What was wrong.
    public var problem: Problem

    /// Creates an error.
    public init(file: String, line: Int? = nil, field: String? = nil, problem: Problem) {
        self.file = file
        self.line = line
        self.field = field
        self.problem = problem
    }

    /// File, line and field, what was wrong and what to do, in one line.
    public var description: String { "\(finding). \(problem.remedy)." }

    /// The same without what to do, for whoever did that already.
    package var finding: String {
        let place = line.map { "\(file):\($0)" } ?? file
        let subject = field.map { "field `\($0)` " } ?? ""
        return "\(place): \(subject)\(problem.text)"
    }
}

extension RecordingError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch problem {
        case .unreadable, .unwritable: .storage
        case .unsupportedVersion: .versionMismatch
        case .empty, .notARecording, .repeatedHeader, .lineTooLong, .tooManyReadings, .malformedJSON, .duplicateField,
            .missingField, .wrongType, .outOfRange, .timeWentBackwards:
            .badResponse
        }
    }
}

extension RecordingError.Problem {
    /// What was wrong, without a full stop.
    var text: String {
        switch self {
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .unwritable(let reason): "cannot be written: \(reason)"
        case .empty: "is empty"
        case .notARecording: "is not the header of a recording"
        case .repeatedHeader: "is a second header"
        case .unsupportedVersion(let version): "is \(version)"
        case .lineTooLong(let limit): "is longer than \(limit) bytes"
        case .tooManyReadings(let limit): "is one more than the \(limit) sightings and places that a survey may have"
        case .malformedJSON(let column, let reason): "is not a JSON object: \(reason) at byte \(column)"
        case .duplicateField: "stands twice"
        case .missingField: "is missing"
        case .wrongType(let expected): "is not \(expected)"
        case .outOfRange(let value, let allowed): "is \(value), allowed is \(allowed)"
        case .timeWentBackwards(let from, let to): "goes back from \(from) s to \(to) s"
        }
    }

    /// What to do, without a full stop.
    var remedy: String {
        switch self {
        case .unreadable: "Check the path, its permissions, and that the file arrived whole"
        case .unwritable: "Check the folder, its permissions, and the free space"
        case .empty, .notARecording:
            "The first line must be {\"type\":\"header\",\"format\":\"\(RecordingHeader.format)\",\"version\":1}"
        case .repeatedHeader: "Split joined recordings into a file each"
        case .unsupportedVersion: "This package reads versions 1 to \(RecordingHeader.newestVersion): update it"
        case .lineTooLong, .malformedJSON: "Write one JSON object a line, or read leniently to skip such lines"
        case .tooManyReadings: "Divide the recording into several"
        case .duplicateField: "Keep one of the two"
        case .missingField: "Add it, or read leniently to skip such lines"
        case .wrongType, .outOfRange: "Correct the value and its unit, or read leniently to skip such lines"
        case .timeWentBackwards: "Sort the lines by `t`, or read leniently to skip such lines"
        }
    }
}
