import TextFormats

/// The path and the query of a request.
package struct HTTPTarget: Hashable, Sendable {
    /// The maximum length of a target in bytes.
    static let longest = 2_048

    /// The decoded path, which begins with a slash.
    package let path: String
    /// The decoded parameters of the query.
    package let query: [String: String]

    /// Decodes the target of a request line (RFC 3986).
    ///
    /// - Throws: `HTTPProblem` if the target is too long, isn't a path, has an invalid percent-encoding, a control
    ///   character, a relative part, or a parameter twice.
    init(_ text: String) throws(HTTPProblem) {
        guard text.utf8.count <= Self.longest else {
            throw HTTPProblem(414, "The URL is longer than \(Self.longest) bytes.")
        }
        guard text.hasPrefix("/") else {
            throw HTTPProblem(400, "The request target must be a path that begins with /.")
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = try Self.decoded(parts[0])
        // The path is split as bytes, because a slash and a combining character together form a different character.
        let names = path.utf8.split(separator: UInt8(ascii: "/"))
        guard !names.contains(where: { $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }),
            !path.utf8.contains(UInt8(ascii: "\\"))
        else {
            throw HTTPProblem(400, "The path must not have the parts . and .., or a backslash.")
        }
        var query: [String: String] = [:]
        for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decoded(sides[0])
            let value = sides.count > 1 ? try Self.decoded(sides[1]) : ""
            guard query.updateValue(value, forKey: name) == nil else {
                throw HTTPProblem(400, "The parameter '\(name)' occurs twice.")
            }
        }
        self.query = query
    }

    private static func decoded(_ text: Substring) throws(HTTPProblem) -> String {
        guard let bytes = EscapedText.unescaped(text.utf8, mark: UInt8(ascii: "%")) else {
            throw HTTPProblem(400, "The URL has an invalid percent-encoding: % needs two hexadecimal digits.")
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw HTTPProblem(400, "The URL is not UTF-8.")
        }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw HTTPProblem(400, "The URL has a control character.")
        }
        return decoded
    }
}
