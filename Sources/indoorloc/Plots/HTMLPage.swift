import LocalizationFigures

/// The parts of an HTML page without scripts and external resources.
enum HTMLPage {
    /// A page for which browsers load no other resource, regardless of its content.
    ///
    /// - Parameters:
    ///   - meta: names and values in the head.
    ///   - body: elements.
    static func page(title: String, meta: KeyValuePairs<String, String> = [:], body: String) -> String {
        let data = meta.map { "<meta name=\"\(escaped($0))\" content=\"\(escaped($1))\">\n" }.joined()
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            \(data)<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(escaped(title))</title>
            <style>
            body{max-width:1120px;margin:2em auto;padding:0 1em;font:15px/1.5 sans-serif;color:#1f2328;background:#fff}
            table{border-collapse:collapse}th,td{padding:.25em .8em;text-align:right;border-bottom:1px solid #d0d7de}
            th:first-child,td:first-child{text-align:left}figure{margin:1.5em 0;overflow-x:auto}
            .table{overflow-x:auto}.narrow{display:none}li,td,th{overflow-wrap:break-word}
            @media (max-width:640px){body{margin:1em auto}.wide{display:none}.narrow{display:block}
            th,td{padding:.25em .4em}h1{font-size:1.5em}h2{font-size:1.25em}}
            @media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#2a313a}
            a{color:#58a6ff}}
            </style>
            </head>
            <body>
            \(body)</body>
            </html>

            """
    }

    /// A heading of a level from 1.
    static func heading(_ text: String, level: Int = 1) -> String { "<h\(level)>\(escaped(text))</h\(level)>\n" }

    static func paragraph(_ text: String) -> String { "<p>\(escaped(text))</p>\n" }

    static func link(to path: String, _ text: String) -> String {
        "<a href=\"\(escaped(path))\">\(escaped(text))</a>"
    }

    /// A figure within the page, and the same one for the width of a telephone, of which a browser shows one; empty without a
    /// figure.
    static func figure(_ make: (FigureLayout) -> Figure?) -> String {
        FigureLayout.allCases.compactMap { layout in
            make(layout).map {
                "<figure class=\"\(layout == .wide ? "wide" : "narrow")\">\n\($0.svg)</figure>\n"
            }
        }.joined()
    }

    /// A table with a row of headings; the first cell of each row is its heading.
    static func table(_ head: [String], _ rows: [[String]]) -> String {
        let headings = head.map { "<th scope=\"col\">\(escaped($0))</th>" }.joined()
        let lines = rows.map { row in
            let cells = row.dropFirst().map { "<td>\(escaped($0))</td>" }.joined()
            return "<tr><th scope=\"row\">\(escaped(row.first ?? ""))</th>\(cells)</tr>\n"
        }
        return "<div class=\"table\"><table>\n<tr>\(headings)</tr>\n\(lines.joined())</table></div>\n"
    }

    /// The text with the characters escaped that HTML doesn't allow in content or attributes.
    static func escaped(_ text: String) -> String { SVGText.escaped(text) }

    /// The text before `escaped(_:)`.
    static func unescaped(_ text: String) -> String {
        let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        return names.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
}
