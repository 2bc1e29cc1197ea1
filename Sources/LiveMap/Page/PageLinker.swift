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
