import IndoorVocabulary
import TextFormats

/// Numbers and text as SVG contains them, with the same characters on every machine.
package enum SVGText {
    /// The largest magnitude that is written digit by digit; a larger one is clamped, because no drawing is that large.
    private static let largest = 1e12

    /// Returns the number with at most `decimals` decimals, without trailing zeros; "0" if it is not finite.
    static func number(_ value: Double, decimals: Int = 1) -> String {
        var text = fixed(value, decimals: decimals)
        guard text.contains(".") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// Returns the number with exactly `decimals` decimals, rounded half away from zero; "0" if it is not finite.
    package static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite else { return "0" }
        return FixedDecimals.text(min(max(value, -largest), largest), decimals) ?? "0"
    }

    /// Returns the number as a reader sees it, with a minus sign instead of a hyphen.
    static func label(_ value: Double, decimals: Int) -> String {
        let text = fixed(value, decimals: decimals)
        return text.hasPrefix("-") ? "\u{2212}" + text.dropFirst() : text
    }

    /// Returns the text with the characters escaped that XML doesn't allow in content or attributes.
    ///
    /// Control characters and noncharacters, which XML 1.0 forbids even when escaped, become U+FFFD. Line breaks become
    /// spaces, as SVG text has one line.
    package static func escaped(_ text: String) -> String { XMLText.escaped(text) }

    /// Returns the approximate width of a text in pixels, on the wide side of common sans-serif fonts.
    static func width(_ text: String, size: Double) -> Double {
        var width = 0.0
        for scalar in text.unicodeScalars {
            switch scalar {
            case "i", "l", "j", "I", ".", ",", ":", ";", "'", "|", "!", " ", "(", ")", "f", "t", "r": width += 0.38
            case "m", "w", "M", "W", "%", "@": width += 0.95
            case "A"..."Z": width += 0.7
            case _ where scalar.value >= 0x1100: width += 1
            default: width += 0.62
            }
        }
        return width * size
    }

    /// Returns the lines of a text that is broken at spaces to fit a width in pixels.
    static func lines(_ text: String, width limit: Double, size: Double) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            let longer = line.isEmpty ? String(word) : line + " " + word
            if !line.isEmpty, width(longer, size: size) > limit {
                lines.append(line)
                line = String(word)
            } else {
                line = longer
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Returns the text, shortened with an ellipsis to fit a width in pixels.
    static func shortened(_ text: String, width limit: Double, size: Double) -> String {
        guard width(text, size: size) > limit else { return text }
        var short = text
        while !short.isEmpty, width(short + "…", size: size) > limit { short.removeLast() }
        return short + "…"
    }
}
