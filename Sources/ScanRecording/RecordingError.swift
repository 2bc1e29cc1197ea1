import IndoorVocabulary

/// An error in a recording, with its position and remedy.
public struct RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Problem: Hashable, Sendable {
        /// The file could not be opened, read or decompressed; the text is the system's reason.
        case unreadable(String)
        /// The file could not be created or written; the text is the system's reason.
        case unwritable(String)
        /// The file contains no lines.
        case empty
        /// The first line is not the header of a recording.
        case notARecording
        /// A header follows after the first line.
        case repeatedHeader
        /// The file has a newer format version than this package reads.
        case unsupportedVersion(Int)
        /// The line is longer than the limit in bytes.
        case lineTooLong(limit: Int)
        /// Data that is read as a whole, such as a survey, has more sightings and places than the limit.
        case tooManyReadings(limit: Int)
        /// The line is not a JSON object; column in bytes, from 1.
        case malformedJSON(column: Int, reason: String)
        /// The line contains a field twice.
        case duplicateField
        /// The line lacks a field that its type requires.
        case missingField
        /// A field has a value of the wrong kind.
        case wrongType(expected: String)
        /// A field has a value outside its range.
        case outOfRange(value: String, allowed: String)
        /// The line is earlier than the previous line; both times in seconds.
        case timeWentBackwards(from: Double, to: Double)
    }

    /// The path of the file.
    public var file: String
    /// The line number, from 1; nil if the error concerns the whole file.
    public var line: Int?
    /// The invalid field; nil if the error concerns the whole line.
    public var field: String?
    /// The kind of error.
    public var problem: Problem

    /// Creates an error.
    package init(file: String, line: Int? = nil, field: String? = nil, problem: Problem) {
        self.file = file
        self.line = line
        self.field = field
        self.problem = problem
    }

    /// The file, line and field, the problem and its remedy, in one line.
    public var description: String { "\(finding). \(problem.remedy)." }

    /// The description without the remedy, for callers that have already applied it.
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
    /// The problem, without a full stop.
    var text: String {
        switch self {
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .unwritable(let reason): "cannot be written: \(reason)"
        case .empty: "is empty"
        case .notARecording: "is not the header of a recording"
        case .repeatedHeader: "is a second header"
        case .unsupportedVersion(let version): "is \(version)"
        case .lineTooLong(let limit): "is longer than \(limit) bytes"
        case .tooManyReadings(let limit): "exceeds the limit of \(limit) sightings and places for a survey"
        case .malformedJSON(let column, let reason): "is not a JSON object: \(reason) at byte \(column)"
        case .duplicateField: "appears twice"
        case .missingField: "is missing"
        case .wrongType(let expected): "is not \(expected)"
        case .outOfRange(let value, let allowed): "is \(value); expected \(allowed)"
        case .timeWentBackwards(let from, let to): "goes back from \(from) s to \(to) s"
        }
    }

    /// The remedy, without a full stop.
    var remedy: String {
        switch self {
        case .unreadable: "Check the path, its permissions, and that the file is complete"
        case .unwritable: "Check the folder, its permissions, and the free space"
        case .empty, .notARecording:
            "The first line must be {\"type\":\"header\",\"format\":\"\(RecordingHeader.format)\",\"version\":1}"
        case .repeatedHeader: "Split the file into one file for each recording"
        case .unsupportedVersion:
            "This package reads versions 1 to \(RecordingHeader.newestVersion): update the package"
        case .lineTooLong, .malformedJSON: "Write one JSON object on each line, or read leniently to skip such lines"
        case .tooManyReadings: "Split the recording into several"
        case .duplicateField: "Remove one of the two"
        case .missingField: "Add it, or read leniently to skip such lines"
        case .wrongType, .outOfRange: "Correct the value and its unit, or read leniently to skip such lines"
        case .timeWentBackwards: "Sort the lines by `t`, or read leniently to skip such lines"
        }
    }
}
