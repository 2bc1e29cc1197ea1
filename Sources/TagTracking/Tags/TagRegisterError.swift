/// The reason why the file of a register is invalid.
public struct TagRegisterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1.
    public var line: Int
    /// The column of the table or the member of the object; nil if the error concerns the whole line.
    public var field: String?
    /// The error in words, with the value and what is expected.
    public var message: String

    /// Creates an error.
    package init(line: Int, field: String? = nil, message: String) {
        self.line = line
        self.field = field
        self.message = message
    }

    public var description: String { "line \(line)\(field.map { ", \($0)" } ?? ""): \(message)" }
}
