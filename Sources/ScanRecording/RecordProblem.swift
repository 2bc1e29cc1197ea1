/// An error in a line. The reader adds the file and the line number.
package struct RecordProblem: Error, Hashable, Sendable {
    /// The invalid field; nil if the error concerns the whole line.
    package var field: RecordField?
    /// The kind of error.
    package var problem: RecordingError.Problem

    /// Creates a problem with one field or with the whole line.
    package init(_ field: RecordField?, _ problem: RecordingError.Problem) {
        self.field = field
        self.problem = problem
    }
}
