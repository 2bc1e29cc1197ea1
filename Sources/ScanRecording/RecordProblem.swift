/// What is wrong with a line; the reader adds the file and the line's number.
package struct RecordProblem: Error, Hashable, Sendable {
    /// The field that is meant; nil if it is the whole line.
    package var field: RecordField?
    /// What is wrong.
    package var problem: RecordingError.Problem

    /// Creates a problem of one field or of the whole line.
    package init(_ field: RecordField?, _ problem: RecordingError.Problem) {
        self.field = field
        self.problem = problem
    }
}
