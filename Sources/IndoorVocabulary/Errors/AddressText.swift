/// Addresses in messages.
package enum AddressText {
    /// Returns the text of an address with an ellipsis in place of each part that may be a password.
    ///
    /// Users write passwords into parts of an address that should not contain one: `HOST/?password=…`, or `USER:…@HOST`
    /// in a scheme without users. A password may contain slashes, colons, question marks and `@`; in case of doubt, the
    /// function hides more.
    package static func withoutSecrets(_ text: String) -> String {
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        let rest = text[start...]
        let query = rest.firstIndex { "?#".contains($0) }
        guard let at = rest.lastIndex(of: "@") else { return query.map { text[...$0] + "…" } ?? text }
        if let query, query < at { return text[..<start] + "…" }
        let hidden = rest[..<at].firstIndex(of: ":").map { text[...$0] + "…" + text[at...] } ?? text
        return query == nil ? hidden : withoutQuery(hidden)
    }

    private static func withoutQuery(_ text: String) -> String {
        text.firstIndex { "?#".contains($0) }.map { text[...$0] + "…" } ?? text
    }
}
