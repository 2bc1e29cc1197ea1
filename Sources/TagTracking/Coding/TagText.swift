/// The one rule for the texts that can be names of tags, whoever gives them: a tag, a gateway or a register.
enum TagText {
    /// The length of the longest name in bytes of UTF-8.
    static let longest = 200

    /// Returns a text if it can be the name of a tag; otherwise nil.
    ///
    /// A name isn't empty, is at most as long as ``longest``, and has no control characters, which are U+0000 to U+001F and
    /// U+007F to U+009F (the category Cc of Unicode).
    static func name(_ text: String) -> String? {
        guard (1...longest).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) })
        else { return nil }
        return text
    }
}
