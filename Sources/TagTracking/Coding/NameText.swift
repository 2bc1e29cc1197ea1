/// The names of tags, which come from gateways, registers and the tags themselves.
enum NameText {
    /// The length of the longest name in bytes of UTF-8.
    static let longest = 200

    /// Returns whether a text can be the name of a tag: it isn't empty, is at most as long as `longest`, and has no
    /// control characters, which are U+0000 to U+001F and U+007F to U+009F (the category Cc of Unicode).
    static func isName(_ text: String) -> Bool {
        (1...longest).contains(text.utf8.count)
            && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }
}
