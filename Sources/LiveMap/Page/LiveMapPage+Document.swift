import FoundationEssentials
import TextFormats

extension LiveMapPage {
    /// Returns a page in one HTML file, which shows a document without a server or a network.
    ///
    /// The file has the style sheets, the modules as one script, and the document as JSON. Its Content Security Policy
    /// permits this script, these style sheets and images in `data:` URLs, and nothing else. The same document gives
    /// identical bytes.
    ///
    /// - Throws: `LiveMapPageError.content` if a number of the document is not finite.
    package static func document(_ document: LiveMapDocument) throws(LiveMapPageError) -> [UInt8] {
        let sources = Dictionary(
            uniqueKeysWithValues: files.map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) })
        return Array(try html(of: sources, content: json(of: document)).utf8)
    }

    /// Returns the page in one file.
    ///
    /// - Parameters:
    ///   - sources: the texts of the page's files by name.
    ///   - content: a JSON text that is safe within a script element.
    static func html(of sources: [String: String], content: String) throws(LiveMapPageError) -> String {
        guard var page = sources["index.html"] else { throw .missingFile("index.html", usedBy: "the document") }
        var styles: [String] = []
        while let (link, name) = reference(in: page, before: "<link rel=\"stylesheet\" href=\"", after: "\">") {
            guard let style = sources[name] else { throw .missingFile(name, usedBy: "index.html") }
            styles.append("\n" + style)
            page.replaceSubrange(link, with: "<style>\n\(style)</style>")
        }
        guard let (module, entry) = reference(in: page, before: "<script type=\"module\" src=\"", after: "\"></script>")
        else { throw .missingFile("main.js", usedBy: "index.html") }
        let script = "\n" + (try PageLinker(modules: sources).script(of: entry))
        page.replaceSubrange(
            module,
            with: "<script type=\"application/json\" id=\"document\">\(content)</script>\n<script>\(script)</script>")

        let charset = "<meta charset=\"utf-8\">\n"
        guard let head = page.firstRange(of: charset) else { throw .missingFile("charset", usedBy: "index.html") }
        let hashes = styles.map { " '\(digest($0))'" }.joined()
        let policy =
            "default-src 'none'; script-src '\(digest(script))'; style-src\(hashes); img-src data: blob:; "
            + "base-uri 'none'; form-action 'none'"
        page.insert(
            contentsOf: "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n", at: head.upperBound)
        return page
    }

    /// Returns a document as JSON that is safe within a script element: no text in it can end the element or, in old
    /// browsers, a line.
    static func json(of document: LiveMapDocument) throws(LiveMapPageError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let encoded: Data
        do {
            encoded = try encoder.encode(document)
        } catch {
            throw .content(String(describing: error))
        }
        return String(decoding: escaped(encoded), as: UTF8.self)
    }

    /// Replaces the bytes of "<", U+2028 and U+2029 by escape sequences of JSON. The function compares bytes instead of
    /// characters, because "<" and a combining character together form a different character.
    private static func escaped(_ json: Data) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count + json.count / 64)
        for byte in json {
            let isSeparator = (byte == 0xA8 || byte == 0xA9) && bytes.suffix(2) == [0xE2, 0x80]
            if byte == UInt8(ascii: "<") {
                bytes.append(contentsOf: "\\u003C".utf8)
            } else if isSeparator {
                bytes.removeLast(2)
                bytes.append(contentsOf: (byte == 0xA8 ? "\\u2028" : "\\u2029").utf8)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Returns the first text between two others, with the range of all three.
    private static func reference(
        in page: String, before: String, after: String
    ) -> (range: Range<String.Index>, name: String)? {
        guard let start = page.firstRange(of: before), let end = page[start.upperBound...].firstRange(of: after)
        else { return nil }
        return (start.lowerBound..<end.upperBound, String(page[start.upperBound..<end.lowerBound]))
    }

    private static func digest(_ text: String) -> String {
        "sha256-" + Base64Text.text(of: SHA256.digest(of: Array(text.utf8)))
    }
}
