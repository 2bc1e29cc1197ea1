import TextFormats

extension TagKey {
    /// The key for a topic of MQTT or a path of a URL: letters, digits and `-._~:` of ASCII, and every other byte as
    /// `%` and two hexadecimal digits (RFC 3986, section 2.1).
    ///
    /// Different keys have different texts, none of which has a character with a meaning in topics (`/`, `+`, `#`, `$`).
    public var escaped: String {
        EscapedText.escaped(description, mark: UInt8(ascii: "%"), plain: "-._~:")
    }

    /// Creates a key from the text of ``escaped``; nil if the text is empty or has another form.
    public init?(escaped: some StringProtocol) {
        guard let bytes = EscapedText.unescaped(Substring(escaped).utf8, mark: UInt8(ascii: "%")),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        self.init(text)
    }
}
