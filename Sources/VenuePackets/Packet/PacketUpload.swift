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
        guard let text = String(validating: bytes.prefix(1 << 16).prefix { $0 != 0 }, as: UTF8.self) else {
            return false
        }
        var rest = text.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
        while rest.hasPrefix("<?") || rest.hasPrefix("<!") {
            let end = rest.hasPrefix("<!--") ? "-->" : ">"
            guard let place = rest.firstRange(of: end) else { return false }
            rest = rest[place.upperBound...].drop { $0.isWhitespace }
        }
        guard rest.hasPrefix("<svg"), let next = rest.dropFirst(4).first else { return false }
        return next.isWhitespace || next == ">"
    }
}
