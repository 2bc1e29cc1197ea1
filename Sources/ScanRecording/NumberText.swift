import IndoorVocabulary

/// The shortest text that represents a number exactly.
package enum NumberText {
    /// Returns the number without a trailing `.0`; `nan` and `inf` for values that JSON cannot represent.
    package static func shortest(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns seconds with as many decimals as the nanoseconds need.
    package static func seconds(_ instant: Instant) -> String {
        let (whole, rest) = instant.nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        var text = (instant.nanoseconds < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        let digits = String(rest)
        text += "." + String(repeating: "0", count: 9 - digits.utf8.count) + digits
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }
}
