/// Comma-separated values.
///
/// Source: Y. Shafranovich, *Common Format and MIME Type for Comma-Separated Values (CSV) Files*, RFC 4180, 2005.
package enum CSVText {
    private static let quote = UInt8(ascii: "\"")

    /// Returns a field, with quotes around it if it has a quote or a comma. It must have no control characters.
    ///
    /// It is handled by scalars: a combining mark after a quotation mark must not hide it.
    package static func field(_ text: some Sequence<Unicode.Scalar>) -> String {
        let isQuoted = text.contains { $0 == "\"" || $0 == "," }
        var field = String.UnicodeScalarView()
        if isQuoted { field.append("\"") }
        for scalar in text {
            if scalar == "\"" { field.append(scalar) }
            field.append(scalar)
        }
        if isQuoted { field.append("\"") }
        return String(field)
    }

    /// Returns a text of any origin as a field that no spreadsheet program runs as a formula: one that begins with `=`,
    /// `+`, `-` or `@` gets an apostrophe before it. Control characters become spaces.
    ///
    /// Source of the apostrophe: OWASP, *CSV Injection*.
    package static func safeField(_ text: String) -> String {
        var safe: [Unicode.Scalar] = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? " " : scalar
        }
        // The character may follow spaces, which some programs remove first.
        if let first = safe.first(where: { $0 != " " }), ["=", "+", "-", "@"].contains(first) {
            safe.insert("'", at: 0)
        }
        return field(safe)
    }

    /// Returns the fields of one line; nil if the closing quote of a field is missing.
    ///
    /// Quotes enclose a field if nothing but white space is before them. White space behind such a field is skipped, and
    /// a field without quotes gets no white space at its ends. Invalid UTF-8 is replaced.
    package static func fields(_ line: [UInt8], separator: UInt8) -> [String]? {
        var fields: [String] = []
        var field: [UInt8] = []
        var (isQuoted, wasQuoted) = (false, false)
        var index = 0
        func finished() -> String {
            let text = String(decoding: field, as: UTF8.self)
            return wasQuoted ? text : String(trimmed(text[...]))
        }
        while index < line.count {
            let byte = line[index]
            index += 1
            if isQuoted {
                guard byte == quote else {
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
            } else if byte == quote, trimmed(String(decoding: field, as: UTF8.self)[...]).isEmpty {
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
        guard !isQuoted else { return nil }
        fields.append(finished())
        return fields
    }

    /// Returns a text without the white space at its ends.
    package static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

/// A reader of the records of a CSV file, whose fields may contain line breaks.
///
/// Lines may also end without a carriage return. Empty lines and a byte order mark at the beginning are skipped.
package struct CSVReader: Sendable {
    /// A record with the line on which it begins, from 1.
    package struct Record: Sendable {
        package var line: Int
        package var fields: [String]
    }

    /// The defect of a record.
    package struct Failure: Error, Hashable, Sendable {
        /// The line, from 1.
        package var line: Int
        package var message: String
    }

    private let bytes: [UInt8]
    private var offset: Int
    private var line = 1

    /// Creates a reader.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = ByteOrderMark.length(in: bytes)
    }

    /// Returns the next record; nil at the end.
    package mutating func next() throws(Failure) -> Record? {
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

    private func failure(_ message: String) -> Failure { Failure(line: line, message: message) }

    private mutating func field() throws(Failure) -> String {
        let begin = line
        var content: [UInt8] = []
        if offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") {
            offset += 1
            while true {
                guard offset < bytes.count else {
                    throw Failure(line: begin, message: "the closing quote of a field is missing")
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
            throw Failure(line: begin, message: "a field isn't UTF-8")
        }
        return text
    }

    /// Skips the separator after a field; returns whether the record ends.
    private mutating func endOfField() throws(Failure) -> Bool {
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
