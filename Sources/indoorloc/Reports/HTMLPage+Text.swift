import LocalizationFigures

extension HTMLPage {
    /// A list of sentences.
    static func list(_ items: [String]) -> String {
        "<ul>\n" + items.map { "<li>\(escaped($0))</li>\n" }.joined() + "</ul>\n"
    }

    /// A table with a row of headings, and some columns with text, which are aligned on the left.
    static func table(_ head: [String], _ rows: [[String]], textColumns: Set<Int>) -> String {
        func line(_ cells: [String], _ tag: String) -> String {
            let cells = cells.enumerated().map { column, text in
                "<\(tag)\(textColumns.contains(column) ? " style=\"text-align:left\"" : "")>\(escaped(text))</\(tag)>"
            }
            return "<tr>\(cells.joined())</tr>\n"
        }
        let body = rows.map { line($0, "td") }.joined()
        return "<div class=\"table\"><table>\n\(line(head, "th"))\(body)</table></div>\n"
    }
}
