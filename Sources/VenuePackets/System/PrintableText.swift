import TextFormats

/// Escapes text for display: names come from packets and radio advertisements, which anyone can write.
package enum PrintableText {
    /// Returns the text with escapes for control characters, and for invisible characters, which change the writing
    /// direction or make two names look the same.
    ///
    /// - Parameter kept: characters that stay unescaped.
    package static func escaping(_ text: String, kept: Set<Unicode.Scalar> = []) -> String {
        guard text.utf8.contains(where: mayBegin) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if isObeyed(scalar), !kept.contains(scalar) {
                result.append(contentsOf: escape(scalar).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the text as one line, which cannot be mistaken for several.
    package static func line(_ text: String) -> String { escaping(text) }

    /// Returns whether this byte may begin a character to escape; most texts contain no such byte.
    private static func mayBegin(_ byte: UInt8) -> Bool { byte < 0x20 || byte >= 0x7F }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // The control characters C0 and C1.
        case 0..<0x20, 0x7F..<0xA0: true
        case ..<0x7F: false
        // Line and paragraph separators.
        case 0x2028, 0x2029: true
        // Joiners and variation selectors, which the writing of Persian and Hindi and many symbols need.
        case 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: false
        // Writing direction (Unicode Standard Annex 9), byte order mark, soft hyphen, fillers, tags.
        default: scalar.properties.generalCategory == .format || scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    /// Returns a character as a JSON escape.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        UTF16.encode(scalar).map(Array.init)?.map { unit in
            "\\u" + HexDigits.text(unit, 4, uppercase: true)
        }.joined() ?? ""
    }
}
