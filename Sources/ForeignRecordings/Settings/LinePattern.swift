/// The form of a line without a header: text with the names of columns in braces, such as `{identity} = {rssi} {time}`.
///
/// A column ends before the text that follows it in the pattern, and the last one at the end of the line. `{_}` is a
/// column that isn't read.
public struct LinePattern: Hashable, Sendable {
    /// The columns from left to right; nil for one that isn't read.
    let columns: [CSVColumn?]
    /// The text before each column, and the text after the last one.
    let texts: [[UInt8]]

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
}
