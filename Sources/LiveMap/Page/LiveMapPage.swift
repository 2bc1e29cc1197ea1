import CLiveMapPage
import FoundationEssentials
import TextFormats

/// The files of the page that shows a live map.
package enum LiveMapPage: Sendable {
    /// A file of the page.
    package struct File: Hashable, Sendable {
        /// The name below the page's folder, such as "main.js".
        package let name: String
        /// The content of the file.
        package let bytes: [UInt8]
        /// The media type, such as `text/css; charset=utf-8`.
        package let mediaType: String
        /// The entity tag with its quotation marks: a part of the SHA-256 digest of the bytes.
        package let etag: String

        init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
            mediaType = LiveMapPage.mediaType(of: name)
            etag = "\"" + HexDigits.text(of: SHA256.digest(of: bytes).prefix(12), uppercase: false) + "\""
        }
    }

    /// All files, in order of their names. The first page is "index.html".
    package static let files: [File] = (0..<live_map_file_count()).map { index in
        let file = live_map_file_at(index)
        return File(
            name: String(cString: file.name), bytes: Array(UnsafeBufferPointer(start: file.bytes, count: file.count)))
    }

    /// Returns a file of the page; nil if there is none with this name.
    package static func file(named name: String) -> File? {
        files.first { $0.name == name }
    }

    private static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "json": "application/json"
        default: "application/octet-stream"
        }
    }
}

/// The reason why the page can't be made into one document.
package enum LiveMapPageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file of the page is missing.
    case missingFile(String, usedBy: String)
    /// A module imports a name that the other module doesn't export.
    case missingExport(String, of: String, usedBy: String)
    /// A module has an import, an export or a text that the linker doesn't support.
    case unsupportedSyntax(file: String, line: Int, text: String)
    /// Modules import each other in a circle.
    case cycle([String])
    /// A value can't be written as JSON, such as a number that is not finite.
    case content(String)

    /// The error in words.
    package var description: String {
        switch self {
        case .missingFile(let name, let user): "The page has no file \(name), which \(user) uses."
        case .missingExport(let name, let module, let user): "\(module) doesn't export \(name), which \(user) imports."
        case .unsupportedSyntax(let file, let line, let text):
            "\(file):\(line): the linker of the page doesn't support \"\(text)\". Use the forms that PageLinker lists."
        case .cycle(let names): "The modules import each other: \(names.joined(separator: ", "))."
        case .content(let reason): "The content of the live map can't be written as JSON: \(reason)"
        }
    }
}

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

/// A linker that joins the page's modules into one script, because browsers don't import modules from a file on disk.
///
/// A module may use these forms, each on one line and without indentation:
/// - `import { name, … } from "./module.js";`
/// - `export function`, `export async function`, `export class` and `export const`
///
/// Other forms of import and export, cycles, and texts that end a script element are errors. Each module becomes a
/// function that is called once, after the modules that it imports. The output depends only on the modules.
struct PageLinker {
    /// The sources by name, such as "main.js".
    let modules: [String: String]

    /// Returns the script of a module and all that it imports.
    ///
    /// - Throws: `LiveMapPageError` with the module and the line that the linker doesn't support.
    func script(of entry: String) throws(LiveMapPageError) -> String {
        var linked = LinkedModules()
        try link(entry, importedBy: "index.html", path: [], into: &linked)
        return "(() => {\n\"use strict\";\n" + linked.text + "})();\n"
    }

    /// The modules in order of their evaluation.
    private struct LinkedModules {
        var numbers: [String: Int] = [:]
        var exports: [String: [String]] = [:]
        var text = ""
    }

    private func link(
        _ name: String, importedBy importer: String, path: [String], into linked: inout LinkedModules
    ) throws(LiveMapPageError) {
        guard linked.numbers[name] == nil else { return }
        guard !path.contains(name) else { throw LiveMapPageError.cycle(path + [name]) }
        guard let source = modules[name] else { throw LiveMapPageError.missingFile(name, usedBy: importer) }
        var imports: [String] = []
        var exports: [String] = []
        var body = ""
        for (index, line) in source.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let unsupported = LiveMapPageError.unsupportedSyntax(file: name, line: index + 1, text: String(line))
            if Self.isKeyword("import", at: line) {
                guard let (names, module) = Self.importParts(line) else { throw unsupported }
                try link(module, importedBy: name, path: path + [name], into: &linked)
                let known = linked.exports[module] ?? []
                if let unknown = names.first(where: { !known.contains($0) }) {
                    throw LiveMapPageError.missingExport(unknown, of: module, usedBy: name)
                }
                imports.append("const { \(names.joined(separator: ", ")) } = module\(linked.numbers[module] ?? 0);\n")
                body += "\n"
            } else if Self.isKeyword("export", at: line) {
                guard let exported = Self.exportedName(line) else { throw unsupported }
                exports.append(exported)
                body += line.dropFirst("export ".count) + "\n"
            } else {
                let lowercase = line.lowercased()
                guard !lowercase.contains("</script"), !lowercase.contains("<!--"), !Self.importsInCode(line) else {
                    throw unsupported
                }
                body += line + "\n"
            }
        }
        let number = linked.numbers.count
        linked.numbers[name] = number
        linked.exports[name] = exports
        linked.text += "// \(name)\nconst module\(number) = (() => {\n" + imports.joined() + body
        linked.text += "return { \(exports.joined(separator: ", ")) };\n})();\n"
    }

    /// Whether a line begins with a keyword.
    private static func isKeyword(_ keyword: String, at line: Substring) -> Bool {
        guard line.hasPrefix(keyword) else { return false }
        guard let next = line.dropFirst(keyword.count).first else { return true }
        return !next.isLetter && !next.isNumber && next != "_" && next != "$"
    }

    /// Returns the names and the module of an import; nil for an unsupported form.
    private static func importParts(_ line: Substring) -> (names: [String], module: String)? {
        let open = "import { "
        guard line.hasPrefix(open), let close = line.firstIndex(of: "}") else { return nil }
        let names = line[line.index(line.startIndex, offsetBy: open.count)..<close].split(separator: ",").map(trimmed)
        let rest = line[line.index(after: close)...]
        let from = " from \"./"
        guard !names.isEmpty, names.allSatisfy(isName), rest.hasPrefix(from), rest.hasSuffix("\";") else { return nil }
        let module = rest.dropFirst(from.count).dropLast(2)
        return module.isEmpty || module.contains("\"") ? nil : (names, String(module))
    }

    /// Returns the name that a line exports; nil for an unsupported form.
    private static func exportedName(_ line: Substring) -> String? {
        for form in ["export function ", "export async function ", "export class ", "export const "]
        where line.hasPrefix(form) {
            let name = String(
                line.dropFirst(form.count).prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" })
            return isName(name) ? name : nil
        }
        return nil
    }

    /// Whether a line has an import outside of a comment: an indented, dynamic or meta import. Documentation comments
    /// name types as `import("./module.js")`, always after a brace or a parenthesis.
    private static func importsInCode(_ line: Substring) -> Bool {
        let text = trimmed(line)
        guard !text.hasPrefix("*"), !text.hasPrefix("/*"), !text.hasPrefix("//") else { return false }
        var code = Substring(text)
        var outside = ""
        while let start = code.firstRange(of: "/*") {
            outside += code[..<start.lowerBound]
            guard let end = code[start.upperBound...].firstRange(of: "*/") else { return false }
            code = code[end.upperBound...]
        }
        outside += code
        return outside.contains("import(") || outside.contains("import.meta") || outside.hasPrefix("import ")
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, !first.isNumber else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
