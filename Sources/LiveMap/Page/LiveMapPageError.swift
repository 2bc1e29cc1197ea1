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
