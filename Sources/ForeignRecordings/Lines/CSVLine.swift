import TextFormats

/// The fields of a line of CSV. A field in quotes must end on its line.
enum CSVLine {
    /// Returns the problem of a line that isn't UTF-8; nil if it is. Without the invalid bytes, different names would become
    /// one.
    static func problem(ofText line: [UInt8], endsFile: Bool = false) -> ForeignProblem? {
        guard line.contains(where: { $0 >= 0x80 }), String(validating: line, as: UTF8.self) == nil else { return nil }
        return ForeignProblem(nil, .unsupported("isn't UTF-8", remedy: "Save the file as UTF-8"), endsFile: endsFile)
    }

    /// Returns the fields, without white space at their ends.
    static func fields(_ line: [UInt8], separator: UInt8) throws(ForeignProblem) -> [String] {
        guard let fields = CSVText.fields(line, separator: separator) else {
            throw ForeignProblem(nil, .malformed("the closing quote of a field is missing"))
        }
        return fields
    }

    /// Returns the separator of a header: comma, semicolon or tab, whichever is most frequent; a comma if there is
    /// none.
    static func separator(of header: [UInt8]) -> UInt8 {
        let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
        let counts = candidates.map { candidate in header.count { $0 == candidate } }
        let most = counts.max() ?? 0
        return zip(candidates, counts).first { $0.1 == most }?.0 ?? candidates[0]
    }
}
