/// Text for the macros of man(7), which groff and mandoc format.
enum ManualText {
    /// The names of characters that formatters replace or interpret.
    private static let names: [Unicode.Scalar: String] = [
        "\\": "\\(rs", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", "\"": "\\(dq",
    ]

    /// Text within a line. Each character is printed as it is.
    static func escaped(_ text: some StringProtocol) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            if let name = names[scalar] {
                escaped += name
            } else if scalar.isASCII {
                escaped.unicodeScalars.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
    }

    /// A line of text, which is never interpreted as a macro.
    static func line(_ text: some StringProtocol) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }

    /// The words of a paragraph as lines that the formatter fills, one sentence per line.
    ///
    /// A formatter sets the space between sentences itself if a line ends with the end of a sentence.
    static func filled(_ text: some StringProtocol) -> String {
        let words = text.split(whereSeparator: \.isWhitespace)
        var lines: [String] = [""]
        for (index, word) in words.enumerated() {
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
            if word.hasSuffix("."), index < words.count - 1 { lines.append("") }
        }
        return lines.map { line($0) }.joined(separator: "\n")
    }

    /// Lines that the formatter doesn't fill, without their common indentation.
    static func laidOut(_ text: some StringProtocol) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        let indentation = lines.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return ".nf\n" + lines.map { line($0.dropFirst(indentation)) }.joined(separator: "\n") + "\n.fi"
    }

    static func bold(_ text: some StringProtocol) -> String { "\\fB\(escaped(text))\\fR" }
    static func italic(_ text: some StringProtocol) -> String { "\\fI\(escaped(text))\\fR" }
}
