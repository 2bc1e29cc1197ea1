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
