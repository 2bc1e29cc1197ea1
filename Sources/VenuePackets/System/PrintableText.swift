/// What a text becomes where a person reads it: names come from packets and from the air, whoever wrote them.
package enum PrintableText {
    /// The text with each character that a terminal obeys, or that turns the direction of a line, written as an escape.
    ///
    /// - Parameter kept: characters that stay as they are.
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

    /// The text in one line, which cannot pass for several.
    package static func line(_ text: String) -> String { escaping(text) }

    /// Whether a character that is obeyed may begin with this byte; of most texts none does.
    private static func mayBegin(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xE2 }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // The control characters C0 and C1.
        case 0..<0x20, 0x7F..<0xA0: true
        // Direction of writing (Unicode Standard Annex 9), and separators of lines and paragraphs.
        case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// As JSON writes it.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
