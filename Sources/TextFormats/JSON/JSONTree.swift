/// A JSON document as written, including values that cannot be represented.
package enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])
    /// A number that doesn't fit a `Double`, such as `1e999`, or a string with an invalid escape.
    case unreadable

    /// Parses a document in one pass. The encoding is UTF-8, with or without a byte order mark.
    ///
    /// If an object contains a key twice, the first value is used.
    /// - Throws: `JSONDocumentError` if the bytes aren't JSON, or if the document exceeds the limits of depth and number
    ///   of values.
    package init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONDocumentError) {
        var reader = JSONReader(bytes, limits: limits)
        do throws(JSONSyntaxError) {
            self = try JSONTree(next: &reader)
            try reader.finish()
        } catch {
            throw JSONDocumentError(error, of: bytes)
        }
    }

    private init(next reader: inout JSONReader) throws(JSONSyntaxError) {
        switch try reader.kind() {
        case .null:
            try reader.null()
            self = .null
        case .bool: self = .bool(try reader.bool())
        case .number:
            let number = try reader.anyNumber()
            self = number.isFinite ? .number(number) : .unreadable
        case .string: self = try reader.representableText().map(JSONTree.string) ?? .unreadable
        case .array:
            var values: [JSONTree] = []
            try reader.enterArray()
            while try reader.nextElement() { values.append(try JSONTree(next: &reader)) }
            self = .array(values)
        case .object:
            var fields: [String: JSONTree] = [:]
            try reader.enterObject()
            while let key = try reader.nextName() {
                let value = try JSONTree(next: &reader)
                if fields[key] == nil { fields[key] = value }
            }
            self = .object(fields)
        }
    }

    /// Checks a document for a decoder that has no limits of its own.
    package static func check(_ bytes: [UInt8], limits: JSONLimits) throws(JSONDocumentError) {
        var reader = JSONReader(bytes, limits: limits)
        do throws(JSONSyntaxError) {
            try reader.skipValue()
            try reader.finish()
        } catch {
            throw JSONDocumentError(error, of: bytes)
        }
    }

    /// The value as a message quotes it; arrays, objects and long texts are abbreviated.
    package var summary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int(exactly: value).map(String.init) ?? "\(value)"
        case .string(let text): "the text \"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
        case .array: "an array"
        case .object: "an object"
        case .unreadable: "a number that is out of range, or an invalid string"
        }
    }
}

/// A JSON document that cannot be parsed.
package struct JSONDocumentError: Error, Hashable, Sendable {
    /// The problem with its line and column.
    package let problem: String
    /// The problem and its remedy.
    package var message: String { problem + "; correct it there" }

    /// Creates the error of a document.
    package init(_ error: JSONSyntaxError, of bytes: [UInt8]) {
        let before = bytes.prefix(error.byte)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let reason =
            switch error.problem {
            case .depth(let limit): "is nested deeper than \(limit) levels"
            case .values(let limit): "has more than \(limit) values and keys, the next"
            case .utf8: "is not UTF-8"
            default: "is not JSON"
            }
        problem = "\(reason) at line \(line), column \(error.byte - start + 1)"
    }
}

// MARK: - Writing

extension JSONTree {
    /// Returns the document as UTF-8: indented, with keys in alphabetical order and a final line break.
    ///
    /// A number that isn't finite is written as a string.
    package func lines() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: 0)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Returns the document in one line, without a line break.
    package func line() -> [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes, indentation: nil)
        return bytes
    }

    /// - Parameter indentation: the number of spaces before this value; nil to write no white space.
    private func write(to bytes: inout [UInt8], indentation: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let value): Self.write(value, to: &bytes)
        case .unreadable: Self.write(.infinity, to: &bytes)
        case .string(let text): JSONEscapes.append(text, to: &bytes, style: .letters)
        case .array(let values):
            Self.write(values, between: ("[", "]"), to: &bytes, indentation) { value, bytes, indentation in
                value.write(to: &bytes, indentation: indentation)
            }
        case .object(let fields):
            let sorted = fields.sorted { $0.key < $1.key }
            Self.write(sorted, between: ("{", "}"), to: &bytes, indentation) { field, bytes, indentation in
                JSONEscapes.append(field.key, to: &bytes, style: .letters)
                bytes.append(contentsOf: (indentation == nil ? ":" : " : ").utf8)
                field.value.write(to: &bytes, indentation: indentation)
            }
        }
    }

    private static func write(_ number: Double, to bytes: inout [UInt8]) {
        guard number.isFinite else {
            let text = number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
            return JSONEscapes.append(text, to: &bytes)
        }
        bytes.append(contentsOf: ShortestNumber.text(number).utf8)
    }

    private static func write<Element>(
        _ elements: [Element], between brackets: (String, String), to bytes: inout [UInt8], _ indentation: Int?,
        _ write: (Element, inout [UInt8], Int?) -> Void
    ) {
        let inner = indentation.map { $0 + 2 }
        func breakLine(_ indentation: Int?) {
            guard let indentation else { return }
            bytes.append(UInt8(ascii: "\n"))
            bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation))
        }
        bytes.append(contentsOf: brackets.0.utf8)
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            breakLine(inner)
            write(element, &bytes, inner)
        }
        // An empty container has an empty line.
        if elements.isEmpty, indentation != nil { bytes.append(UInt8(ascii: "\n")) }
        breakLine(indentation)
        bytes.append(contentsOf: brackets.1.utf8)
    }
}
