/// A decoder of the lines or objects of one text format.
protocol RecordContent: Sendable {
    /// Decodes a line or an object.
    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem)

    /// Adds the entries that are still incomplete, at the end of the file.
    mutating func finish(into output: inout ForeignOutput) throws(ForeignProblem)

    /// What the decoder understood of the file, a line each.
    var understood: [String] { get }

    /// The first columns of a table that the decoder leaves out.
    var unread: [String] { get }
}

extension RecordContent {
    mutating func finish(into output: inout ForeignOutput) {}

    var understood: [String] { [] }

    var unread: [String] { [] }
}
