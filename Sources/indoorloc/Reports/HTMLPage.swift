import Foundation

/// A self-contained HTML page without scripts and network access.
struct HTMLPage {
    let title: String
    private var body = ""

    init(title: String) {
        self.title = title
        body = "<h1>\(Self.escaped(title))</h1>\n"
    }

    /// The page as one document.
    var document: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>\(Self.escaped(title))</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
        table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; }
        th, td { border-bottom: 1px solid #8886; padding: 0.2rem 0.7rem 0.2rem 0; text-align: left; vertical-align: top; }
        td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
        .wide { overflow-x: auto; }
        svg { max-width: 100%; height: auto; }
        </style>
        </head>
        <body>
        \(body)</body>
        </html>

        """
    }

    mutating func heading(_ text: String) { body += "<h2>\(Self.escaped(text))</h2>\n" }

    mutating func paragraph(_ text: String) { body += "<p>\(Self.escaped(text))</p>\n" }

    mutating func list(_ items: [String]) {
        body += "<ul>\n" + items.map { "<li>\(Self.escaped($0))</li>\n" }.joined() + "</ul>\n"
    }

    /// Adds an SVG document as a figure.
    mutating func figure(svg: String) {
        // An XML declaration isn't allowed within a page.
        let start = svg.range(of: "<svg")?.lowerBound ?? svg.startIndex
        body += "<figure class=\"wide\">\n\(svg[start...])</figure>\n"
    }

    /// Adds a table; columns with only numbers are aligned on the right.
    mutating func table(_ head: [String], _ rows: [[String]]) {
        func isNumber(_ text: String) -> Bool { text.isEmpty || text == "–" || Double(text) != nil }
        let numeric = head.indices.map { column in rows.allSatisfy { isNumber($0[column]) } }
        func line(_ cells: [String], _ tag: String) -> String {
            let cells = cells.enumerated().map { column, text in
                "<\(tag)\(numeric[column] ? " class=\"n\"" : "")>\(Self.escaped(text))</\(tag)>"
            }
            return "<tr>" + cells.joined() + "</tr>\n"
        }
        body += "<div class=\"wide\"><table>\n<thead>\(line(head, "th"))</thead>\n<tbody>\n"
        body += rows.map { line($0, "td") }.joined() + "</tbody>\n</table></div>\n"
    }

    /// Returns the text with the characters escaped that HTML interprets.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case _ where character.value < 0x20 && character != "\n" && character != "\t": escaped += "\u{fffd}"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
