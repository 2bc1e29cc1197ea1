/// The fields of a line of CSV.
///
/// Source: Y. Shafranovich, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, RFC 4180, 2005. A
/// field in quotes must end on its line.
enum CSVLine {
    /// Returns the fields, without white space at their ends.
    static func fields(
        _ line: [UInt8], separator: UInt8
    ) throws(ForeignProblem) -> [String] {
        var fields: [String] = []
        var field: [UInt8] = []
        var (isQuoted, wasQuoted) = (false, false)
        var index = 0
        func finished() -> String {
            let text = String(decoding: field, as: UTF8.self)
            return wasQuoted ? text : String(FieldText.trimmed(text[...]))
        }
        while index < line.count {
            let byte = line[index]
            index += 1
            if isQuoted {
                guard byte == UInt8(ascii: "\"") else {
                    field.append(byte)
                    continue
                }
                // Two quotes stand for one.
                if index < line.count, line[index] == byte {
                    field.append(byte)
                    index += 1
                } else {
                    isQuoted = false
                }
            } else if byte == UInt8(ascii: "\""), FieldText.trimmed(String(decoding: field, as: UTF8.self)[...]).isEmpty
            {
                field = []
                (isQuoted, wasQuoted) = (true, true)
            } else if byte == separator {
                fields.append(finished())
                field = []
                wasQuoted = false
            } else if !wasQuoted || byte > 0x20 {
                field.append(byte)
            }
        }
        guard !isQuoted else { throw ForeignProblem(nil, .malformed("the closing quote of a field is missing")) }
        fields.append(finished())
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
