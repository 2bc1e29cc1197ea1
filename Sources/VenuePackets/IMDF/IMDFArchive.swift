import FoundationEssentials

/// The files of an archive: a zip or a folder with `manifest.json` and one GeoJSON file per feature type.
struct IMDFArchive {
    static let manifestFile = "manifest.json"

    /// The size limits of an archive, which protect the machine from malicious files.
    enum Limit {
        /// The size of one file in bytes: airports have about 10 MB of units.
        static let file = 32 << 20
        /// The total size of all files that are read, in bytes.
        static let total = 64 << 20
        /// The sum of the products of corner counts over all pairs of units and fixtures of a level whose boxes
        /// overlap, because each of them is cut along the other. An airport's level has 2,000,000.
        static let cornerPairs = 10_000_000
        /// Pairs of units and fixtures of a level whose boxes overlap: an airport's level has about 5,000.
        static let pairs = 20_000
        /// Corners of the units, fixtures and openings of a level: each is compared with the nodes of the paths.
        static let corners = 50_000
        /// Features of one file: the walls of a level are compared with each other.
        static let features = 50_000
    }

    private let files: any PacketFiles
    /// All files of the archive, in alphabetical order.
    let names: [String]

    /// Opens a folder or a zip.
    init(path: String) throws(PacketFileError) {
        let absolute = LocalPath.absolute(path)
        var isFolder = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            throw PacketFileError(message: "there is no \(absolute); give an IMDF archive: its zip or its folder")
        }
        if isFolder {
            files = PacketFolder(path: absolute)
            names = try Self.list(absolute)
        } else {
            let archive = try PacketArchive(path: absolute, marker: Self.manifestFile)
            files = archive
            // Files that desktop archivers add don't belong to the archive.
            names = archive.files.filter { !$0.hasPrefix("__MACOSX/") && !$0.hasSuffix(".DS_Store") }.sorted()
        }
    }

    /// Creates an archive from its files, whose names are in alphabetical order.
    init(_ files: any PacketFiles, names: [String]) { (self.files, self.names) = (files, names) }

    private static func list(_ folder: String) throws(PacketFileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            throw PacketFileError(message: "\(folder) cannot be listed: \(error.systemReason)")
        }
    }

    func contains(_ file: String) -> Bool { files.contains(file) }

    /// Returns the bytes of a file.
    ///
    /// - Parameter used: the number of bytes that were already read from this archive.
    func read(_ file: String, used: Int) throws(PacketFileError) -> [UInt8] {
        try files.read(file, limit: min(Limit.file, Limit.total - used))
    }
}
