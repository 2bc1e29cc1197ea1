/// Functions for text from any source in the content or attributes of an XML document.
package enum XMLText {
    /// Returns the text with escapes for the characters that XML doesn't allow in content or attributes.
    ///
    /// Control characters and noncharacters, which XML 1.0 forbids even when escaped, become U+FFFD. Line breaks become
    /// spaces, because names have one line.
    package static func escaped(_ text: String) -> String {
        if isPlain(text) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\r", "\t": result += " "
            case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value): result += "\u{fffd}"
            // Replace directional overrides, which would reorder the text around a name.
            case "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}": result += "\u{fffd}"
            case "\u{fffe}", "\u{ffff}": result += "\u{fffd}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Returns whether a text has only characters of ASCII that stay as they are.
    private static func isPlain(_ text: String) -> Bool {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"):
                return false
            case 0x20...0x7e: continue
            default: return false
            }
        }
        return true
    }
}
