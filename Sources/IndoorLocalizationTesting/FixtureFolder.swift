import FoundationEssentials

/// A folder of the package's `Fixtures`, located relative to the source file of the caller.
///
/// A missing fixture is always an error and never an empty result, because a test that reads nothing must fail.
public struct FixtureFolder: Hashable, Sendable {
    /// The reason a fixture is not available.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// No folder above the source file contains `Fixtures`.
        case noFixtures(above: String)
        /// The file or folder does not exist.
        case missing(String)
        /// The folder contains no file with that ending.
        case empty(String)

        public var description: String {
            switch self {
            case .noFixtures(let file): "No folder above \(file) contains Fixtures: use a complete checkout."
            case .missing(let path): "\(path) is missing: restore it, or correct the name."
            case .empty(let path): "\(path) contains no matching file: restore its files, or correct the ending."
            }
        }
    }

    /// The folder's path.
    public let path: String

    /// Locates a folder within `Fixtures`, such as `recordings/office`.
    ///
    /// - Parameter file: the source file above which the initializer looks for `Fixtures`.
    /// - Throws: `.noFixtures` or `.missing`.
    public init(_ name: String, file: StaticString = #filePath) throws(Failure) {
        var above = URL(filePath: "\(file)").deletingLastPathComponent()
        while !Self.isFolder(above.appending(path: "Fixtures").path) {
            guard above.path != "/", !above.path.isEmpty else { throw .noFixtures(above: "\(file)") }
            above = above.deletingLastPathComponent()
        }
        path = above.appending(path: "Fixtures").appending(path: name).path
        guard Self.isFolder(path) else { throw .missing(path) }
    }

    /// Returns the paths of all files below the folder, in alphabetical order.
    ///
    /// - Parameter ending: the ending of their names, such as `.jsonl`.
    /// - Throws: `.empty` if there is none.
    public func files(ending: String = "") throws(Failure) -> [String] {
        let names = FileManager.default.enumeratedNames(below: path)
        let files = names.filter { $0.hasSuffix(ending) && !Self.isFolder(path + "/" + $0) }
        guard !files.isEmpty else { throw .empty(path) }
        return files.sorted().map { path + "/" + $0 }
    }

    /// Returns the path of a file in the folder.
    ///
    /// - Throws: `.missing` if the file does not exist.
    public func file(_ name: String) throws(Failure) -> String {
        let file = path + "/" + name
        guard FileManager.default.fileExists(atPath: file) else { throw .missing(file) }
        return file
    }

    private static func isFolder(_ path: String) -> Bool {
        var isDirectory = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
    }
}

extension FileManager {
    /// Returns the relative paths of all files and folders below a folder; empty if it can't be read.
    fileprivate func enumeratedNames(below path: String) -> [String] {
        (try? subpathsOfDirectory(atPath: path)) ?? []
    }
}
