import FoundationEssentials

/// A folder of the package's `Fixtures`, found from the place of the source file that asks.
///
/// What is missing is an error, never an empty answer: a test that reads nothing must fail.
public struct FixtureFolder: Hashable, Sendable {
    /// Why a fixture cannot be had.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// No folder above the source file holds `Fixtures`.
        case noFixtures(above: String)
        /// There is no such file or folder.
        case missing(String)
        /// The folder holds no file with that ending.
        case empty(String)

        public var description: String {
            switch self {
            case .noFixtures(let file): "No folder above \(file) holds Fixtures: run from a whole checkout."
            case .missing(let path): "\(path) is missing: restore it, or correct the name."
            case .empty(let path): "\(path) holds no such file: a test over it would test nothing."
            }
        }
    }

    /// The folder's path.
    public let path: String

    /// Finds a folder within `Fixtures`, such as `recordings/office`.
    ///
    /// - Parameter file: the source file above which `Fixtures` is looked for.
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

    /// The paths of all files below the folder, in alphabetical order.
    ///
    /// - Parameter ending: what their names end with, such as `.jsonl`.
    /// - Throws: `.empty` if there is none.
    public func files(ending: String = "") throws(Failure) -> [String] {
        let names = FileManager.default.enumeratedNames(below: path)
        let files = names.filter { $0.hasSuffix(ending) && !Self.isFolder(path + "/" + $0) }
        guard !files.isEmpty else { throw .empty(path) }
        return files.sorted().map { path + "/" + $0 }
    }

    /// The path of a file of the folder.
    ///
    /// - Throws: `.missing` if there is none of that name.
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
    /// The names of all files and folders below a folder, relative to it; empty if it can't be read.
    fileprivate func enumeratedNames(below path: String) -> [String] {
        (try? subpathsOfDirectory(atPath: path)) ?? []
    }
}
