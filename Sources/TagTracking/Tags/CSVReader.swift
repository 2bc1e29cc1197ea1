import IndoorVocabulary

/// A reader of the records of a CSV file.
///
/// Source: Y. Shafranovich, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, RFC 4180, 2005. Lines may
/// also end without a carriage return. Empty lines are skipped.
struct CSVReader {
    /// A record with the line on which it begins, from 1.
    struct Record {
        var line: Int
        var fields: [String]
    }

    private let bytes: [UInt8]
    private var offset: Int
    private var line = 1

    /// Creates a reader. A byte order mark at the beginning is skipped.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = ByteOrderMark.length(in: bytes)
    }

    /// Returns the next record; nil at the end.
    mutating func next() throws(TagRegisterError) -> Record? {
        while offset < bytes.count {
            var record = Record(line: line, fields: [])
            var isComplete = false
            while !isComplete {
                record.fields.append(try field())
                isComplete = try endOfField()
            }
            if record.fields != [""] { return record }
        }
        return nil
    }

    private func failure(_ message: String) -> TagRegisterError { TagRegisterError(line: line, message: message) }

    private mutating func field() throws(TagRegisterError) -> String {
        let begin = line
        var content: [UInt8] = []
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") {
            offset += 1
            while true {
                guard offset < bytes.count else {
                    throw TagRegisterError(line: begin, message: "the closing quote of a field is missing")
                }
                let byte = bytes[offset]
                offset += 1
                if byte == UInt8(ascii: "\"") {
                    // Two quotes stand for one.
                    guard offset < bytes.count, bytes[offset] == byte else { break }
                    offset += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                content.append(byte)
            }
        } else {
            let end = bytes[offset...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\n") } ?? bytes.count
            content = Array(bytes[offset..<end])
            if content.last == UInt8(ascii: "\r"), end == bytes.count || bytes[end] == UInt8(ascii: "\n") {
                content.removeLast()
            }
            offset = end
            guard !content.contains(UInt8(ascii: "\"")) else {
                throw failure("a quote within a field requires quotes around the field, and is written twice")
            }
        }
        guard let text = String(validating: content, as: UTF8.self) else {
            throw TagRegisterError(line: begin, message: "a field isn't UTF-8")
        }
        return text
    }

    /// Skips the separator after a field; returns whether the record ends.
    private mutating func endOfField() throws(TagRegisterError) -> Bool {
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\r"),
            offset + 1 == bytes.count || bytes[offset + 1] == UInt8(ascii: "\n")
        {
            offset += 1
        }
        guard offset < bytes.count else { return true }
        defer { offset += 1 }
        switch bytes[offset] {
        case UInt8(ascii: ","): return false
        case UInt8(ascii: "\n"):
            line += 1
            return true
        default: throw failure("a comma or the end of the line must follow the closing quote of a field")
        }
    }
}
