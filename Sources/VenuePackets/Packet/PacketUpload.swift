import IndoorVocabulary

/// A file that a person adds to a packet. Its path has a hash of the content, so that a changed file gets another name: the
/// document of the packet, which refers to the earlier one, stays valid.
package struct PacketUpload: Hashable, Sendable {
    /// What the file is for.
    package enum Kind: Hashable, Sendable {
        case planImage, radioMap

        /// The maximum size of a file in bytes.
        package var limit: Int {
            switch self {
            case .planImage: 64 << 20
            case .radioMap: InputLimits.standard.radioMap
            }
        }

        /// The folder of the packet; empty for its root.
        package var folder: String { self == .planImage ? "plans" : "" }

        /// Why a file is refused, and what to do.
        package var refusal: String {
            switch self {
            case .planImage: "The file is not a PNG, JPEG, SVG, GIF or WebP image; export the plan as PNG."
            case .radioMap: "The file is not a radio map; give one that 'indoorloc survey' has written."
            }
        }
    }

    /// The path within the packet.
    package let path: String
    /// The content.
    package let bytes: [UInt8]

    /// Recognizes the kind of a file by its content; nil for a file of another kind.
    ///
    /// - Parameter name: the file's name at its origin, of which letters, digits, `-` and `_` are kept.
    package init?(_ bytes: [UInt8], _ kind: Kind, named name: String) {
        let ending: String
        switch kind {
        case .planImage:
            guard let found = PictureFormat(of: bytes)?.ending ?? (Self.isSVG(bytes) ? "svg" : nil) else { return nil }
            ending = found
        case .radioMap:
            guard (try? RadioMapFile.read(bytes, named: "")) != nil else { return nil }
            ending = bytes.starts(with: [0x1F, 0x8B]) ? "json.gz" : "json"
        }
        let hash = String(FNVHash.hash(of: bytes), radix: 16)
        let stem = kind == .radioMap ? "radio-map" : Self.stem(of: name)
        path = (kind.folder.isEmpty ? "" : kind.folder + "/") + "\(stem)-\(hash).\(ending)"
        self.bytes = bytes
    }

    /// Returns whether a name is that of an upload, or of one whose writing was interrupted.
    package static func isName(_ name: String, of kind: Kind) -> Bool {
        let parts = name.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, let dash = parts[0].lastIndex(of: "-") else { return false }
        let endings = kind == .radioMap ? ["json", "json.gz"] : ["svg"] + PictureFormat.allCases.map(\.ending)
        let hash = parts[0][dash...].dropFirst()
        // Few hashes begin with more zeros; a short number is more likely the name of a user's own file.
        return (12...16).contains(hash.count) && hash.allSatisfy { $0.isHexDigit && !$0.isUppercase }
            && (kind != .radioMap || parts[0][..<dash] == "radio-map")
            && endings.contains { parts[1] == $0 || (parts[1].hasPrefix($0 + ".") && FileDraft.isName(name)) }
    }

    /// Returns the beginning of a file's name, with characters that every file system and URL accepts.
    private static func stem(of name: String) -> String {
        let allowed = name.prefix { $0 != "." }.unicodeScalars.map { scalar -> Character in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain || scalar == "_" ? Character(scalar) : "-"
        }
        let stem = String(allowed.prefix(40)).lowercased()
        return stem.contains { $0 != "-" } ? stem : "plan"
    }

    /// Returns whether a text begins as an SVG image: its first element, after comments and declarations, is `svg`.
    private static func isSVG(_ bytes: [UInt8]) -> Bool {
        // The limit may cut a character, which the decoding then replaces.
        let text = String(decoding: bytes.prefix(1 << 16).prefix { $0 != 0 }, as: UTF8.self)
        var rest = text.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
        while rest.hasPrefix("<?") || rest.hasPrefix("<!") {
            let end = rest.hasPrefix("<!--") ? rest.firstRange(of: "-->")?.upperBound : endOfDeclaration(rest)
            guard let end else { return false }
            rest = rest[end...].drop { $0.isWhitespace }
        }
        guard rest.hasPrefix("<svg"), let next = rest.dropFirst(4).first else { return false }
        return next.isWhitespace || next == ">"
    }

    /// Returns the end of a declaration of XML with which a text begins; nil without an end.
    ///
    /// A document type may have declarations of its own in brackets, as Adobe Illustrator writes it.
    private static func endOfDeclaration(_ text: Substring) -> String.Index? {
        guard let end = text.firstIndex(of: ">") else { return nil }
        guard text.hasPrefix("<!DOCTYPE"), text[..<end].contains("[") else { return text.index(after: end) }
        var rest = text
        while let bracket = rest.firstIndex(of: "]") {
            rest = rest[rest.index(after: bracket)...].drop { $0.isWhitespace }
            if rest.first == ">" { return rest.dropFirst().startIndex }
        }
        return nil
    }
}
