/// Escapes text for display: names come from packets and radio advertisements, which anyone can write.
package enum PrintableText {
    /// Returns the text with control characters and characters that change the writing direction as escapes.
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
    private static func mayBegin(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xE2 }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // The control characters C0 and C1.
        case 0..<0x20, 0x7F..<0xA0: true
        // Writing direction (Unicode Standard Annex 9), and line and paragraph separators.
        case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns a character as a JSON escape.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
