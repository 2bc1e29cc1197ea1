import IndoorVocabulary

/// An error in a recording of another program, with its place and remedy.
public struct ForeignRecordingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of error.
    public enum Problem: Hashable, Sendable {
        /// The file could not be opened, read or decompressed; the text is the system's reason.
        case unreadable(String)
        /// The file has no content.
        case empty
        /// The content is longer than the limit in bytes.
        case tooLong(limit: Int)
        /// The file contains more elements of a kind than the limit.
        case tooMany(what: String, limit: Int)
        /// The file ends within the element; lengths in bytes.
        case cutOff(expected: Int, found: Int)
        /// The content doesn't follow the format; the text is the reason.
        case malformed(String)
        /// A field that is required is missing; the text is what was expected.
        case missing(expected: String)
        /// A field has a value that is not allowed.
        case invalid(found: String, expected: String)
        /// The file contains data that this package can't read; the texts are the kind of data and the remedy.
        case unsupported(String, remedy: String)
        /// The time is more than a second before that of the previous element; both in seconds.
        case timeWentBackwards(from: Double, to: Double)
        /// The time is more than 292 years from 1970 or from the first time.
        case timeOutOfRange
    }

    /// The place of an element in a file.
    public enum Place: Hashable, Sendable {
        /// The line on which the element begins, from 1.
        case line(Int)
        /// The number of the packet, from 1, and the offset of its record in the decompressed file.
        case packet(Int, offset: Int64)
        /// The number of the row in a table of a database.
        case row(Int64, table: String)
    }

    /// The path of the file.
    public var file: String
    /// The format in which the file was read.
    public var format: ForeignFormat
    /// The place of the element; nil if the error concerns the whole file.
    public var place: Place?
    /// The invalid field; nil if the error concerns the whole element.
    public var field: String?
    /// The kind of error.
    public var problem: Problem

    /// Creates an error.
    package init(file: String, format: ForeignFormat, place: Place? = nil, field: String? = nil, problem: Problem) {
        self.file = file
        self.format = format
        self.place = place
        self.field = field
        self.problem = problem
    }

    /// The file, place and field, the problem and its remedy, in one line.
    public var description: String { "\(finding). \(remedy)." }

    /// The description without the remedy, for callers that have already applied it.
    package var finding: String {
        let location =
            switch place {
            case .line(let line): "\(file):\(line)"
            case .packet(let number, let offset): "\(file): packet \(number) at byte \(offset)"
            case .row(let number, let table): "\(file): row \(number) of \(table)"
            case nil: file
            }
        let subject = field.map { "field `\($0)`" } ?? (place == nil ? "the file" : "the \(format.element)")
        return "\(location): \(subject) \(text)"
    }
}

extension ForeignRecordingError: ClassifiedError {
    public var kind: LocalizationError.Kind {
        switch problem {
        case .unreadable: .storage
        case .unsupported: .notSupported
        default: .badResponse
        }
    }
}

extension ForeignRecordingError {
    /// The problem, without a full stop.
    private var text: String {
        switch problem {
        case .unreadable(let reason): "cannot be read: \(reason)"
        case .empty: "is empty"
        case .tooLong(let limit): "is longer than \(limit) bytes"
        case .tooMany(let what, let limit): "has more than \(limit) \(what)"
        case .cutOff(let expected, let found): "needs \(expected) bytes but has \(found)"
        case .malformed(let reason): "is malformed: \(reason)"
        case .missing(let expected): "is missing: expected \(expected)"
        case .invalid(let found, let expected): "is \"\(found)\"; expected \(expected)"
        case .unsupported(let what, _): what
        case .timeWentBackwards(let from, let to): "goes back from \(from) s to \(to) s"
        case .timeOutOfRange: "has a time that is out of range"
        }
    }

    /// The remedy, without a full stop.
    private var remedy: String {
        let skip = "or read leniently to skip such \(format.element)s"
        return switch problem {
        case .unreadable: "Check the path, its permissions, and that the file is complete"
        case .empty: "Check that the program that writes the file has written it"
        case .tooLong, .tooMany: "Split the file, or check that its format is \(format.rawValue)"
        case .cutOff: "Copy the file again, or read leniently to get the \(format.element)s before the end"
        case .malformed: "Check that the format is \(format.rawValue), \(skip)"
        case .missing: "Add it, \(skip)"
        case .invalid: "Correct the value, \(skip)"
        case .unsupported(_, let remedy): remedy
        case .timeWentBackwards: "Sort the file by time, \(skip)"
        case .timeOutOfRange: "Correct the time, \(skip)"
        }
    }
}

/// An error in one element of a file. The reader adds the file and the place.
package struct ForeignProblem: Error, Hashable, Sendable {
    /// The invalid field; nil if the error concerns the whole element.
    package var field: String?
    /// The kind of error.
    package var problem: ForeignRecordingError.Problem
    /// Whether the rest of the file can't be read because of this error.
    package var endsFile = false

    init(_ field: String?, _ problem: ForeignRecordingError.Problem, endsFile: Bool = false) {
        self.field = field
        self.problem = problem
        self.endsFile = endsFile
    }

    /// Describes a field with a value that is not allowed.
    static func invalid(_ field: String, _ found: some StringProtocol, expected: String) -> ForeignProblem {
        ForeignProblem(field, .invalid(found: String(found.prefix(100)), expected: expected))
    }
}
