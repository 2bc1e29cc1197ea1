/// Chooses the text of a label that is written in several languages.
///
/// In order: the wished language, its kin (`en` for `en-GB` and the other way round), the archive's own language, its
/// kin, the first language in alphabetical order.
struct IMDFLabels: Hashable, Sendable {
    /// The wished language as a BCP 47 tag; nil for the archive's own.
    let language: String?
    /// The language of the manifest; nil if it names none.
    let archiveLanguage: String?

    /// A text, and whether it is in the language that was wished for.
    struct Choice: Hashable, Sendable {
        var text: String
        var isWished: Bool
    }

    /// The best text of a label; nil if it holds none.
    func choose(_ label: JSONTree?) -> Choice? {
        guard case .object(let fields)? = label else { return nil }
        let texts = fields.compactMap { tag, value -> (tag: String, text: String)? in
            guard case .string(let text) = value, text.contains(where: { !$0.isWhitespace }) else { return nil }
            return (tag.lowercased(), text)
        }.sorted { $0.tag < $1.tag }
        let wished = language ?? archiveLanguage
        for tag in [wished, archiveLanguage].compactMap({ $0?.lowercased() }) {
            let match =
                texts.first { $0.tag == tag }
                ?? texts.first { Self.primary($0.tag) == Self.primary(tag) }
            if let match { return Choice(text: match.text, isWished: tag == wished?.lowercased()) }
        }
        return texts.first.map { Choice(text: $0.text, isWished: wished == nil) }
    }

    private static func primary(_ tag: String) -> Substring { tag.prefix { $0 != "-" && $0 != "_" } }
}
