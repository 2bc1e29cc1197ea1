import TextFormats

/// The form of a line without a header: text with the names of columns in braces, such as `{identity} = {rssi} {time}`.
///
/// A column ends before the text that follows it in the pattern, and the last one at the end of the line. `{_}` is a
/// column that isn't read.
public struct LinePattern: Hashable, Sendable {
    /// The columns from left to right; nil for one that isn't read.
    let columns: [CSVColumn?]
    /// The text before each column, and the text after the last one.
    private let texts: [[UInt8]]

    /// Creates a form; nil if a name is unknown or repeated, or if nothing separates two columns.
    public init?(_ text: String) {
        var columns: [CSVColumn?] = []
        var texts: [[UInt8]] = []
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            guard let close = rest[open...].firstIndex(of: "}") else { return nil }
            let name = rest[rest.index(after: open)..<close]
            let column = CSVColumn(rawValue: String(name))
            guard column != nil || name == "_", column == nil || !columns.contains(column) else { return nil }
            guard columns.isEmpty || open != rest.startIndex else { return nil }
            texts.append(Array(rest[..<open].utf8))
            columns.append(column)
            rest = rest[rest.index(after: close)...]
        }
        guard columns.contains(where: { $0 != nil }) else { return nil }
        texts.append(Array(rest.utf8))
        (self.columns, self.texts) = (columns, texts)
    }

    /// The names of the columns, `_` for one that isn't read.
    var names: [String] { columns.map { $0?.rawValue ?? "_" } }

    /// Returns the fields of a line, without white space around them.
    func fields(_ line: [UInt8]) throws(ForeignProblem) -> [String] {
        var fields: [String] = []
        var rest = line[...]
        guard rest.starts(with: texts[0]) else {
            let text = String(decoding: texts[0].prefix(40), as: UTF8.self)
            throw ForeignProblem(nil, .malformed("expected \"\(text)\" at its beginning, as --line has it"))
        }
        rest = rest.dropFirst(texts[0].count)
        for (column, text) in zip(columns, texts.dropFirst()) {
            guard let end = Self.end(of: rest, before: text, isLast: fields.count + 1 == columns.count) else {
                throw Self.mismatch(column?.rawValue, text)
            }
            let field = String(decoding: rest[..<end], as: UTF8.self)
            fields.append(String(CSVText.trimmed(field[...])))
            rest = rest[end...].dropFirst(text.count)
        }
        return fields
    }

    /// Returns the end of a field before a text; nil if the text doesn't follow.
    private static func end(of line: ArraySlice<UInt8>, before text: [UInt8], isLast: Bool) -> Int? {
        if isLast {
            let end = line.endIndex - text.count
            return end >= line.startIndex && line[end...].elementsEqual(text) ? end : nil
        }
        guard let first = text.first else { return nil }
        return line.indices.first { line[$0] == first && line[$0...].starts(with: text) }
    }

    private static func mismatch(_ field: String?, _ text: [UInt8]) -> ForeignProblem {
        let text = String(decoding: text.prefix(40), as: UTF8.self)
        return ForeignProblem(field, .malformed("expected \"\(text)\" behind it, as --line has it"))
    }
}
