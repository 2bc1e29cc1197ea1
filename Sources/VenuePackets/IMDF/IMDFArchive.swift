import FoundationEssentials

/// The files of an archive: a zip or a folder with `manifest.json` and a GeoJSON file per feature type.
struct IMDFArchive {
    static let manifestFile = "manifest.json"

    /// How large an archive may be: what comes from outside must not exhaust the machine.
    enum Limit {
        /// Bytes of one file: airports have some 10 MB of units.
        static let file = 32 << 20
        /// Bytes of all files that are read.
        static let total = 64 << 20
        /// Corners of the units and fixtures of a level, multiplied for each two whose boxes meet, and added up: each is
        /// cut along the others. The units of an airport's level have 2,000,000.
        static let cornerPairs = 10_000_000
        /// Pairs of units and fixtures of a level whose boxes meet: an airport's level has some 5,000.
        static let pairs = 20_000
        /// Corners of the units, fixtures and openings of a level: each is compared with the nodes of the ways.
        static let corners = 50_000
        /// Features of one file: the walls of a level are compared with each other.
        static let features = 50_000
    }

    private let files: any PacketFiles
    /// Every file of the archive, in alphabetical order.
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
            // What packers of a desktop leave beside the files is no part of the archive.
            names = archive.files.filter { !$0.hasPrefix("__MACOSX/") && !$0.hasSuffix(".DS_Store") }.sorted()
        }
    }

    private static func list(_ folder: String) throws(PacketFileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            throw PacketFileError(message: "\(folder) cannot be listed: \(error.systemReason)")
        }
    }

    func contains(_ file: String) -> Bool { files.contains(file) }

    /// The bytes of a file.
    ///
    /// - Parameter used: the bytes that have been read from this archive before.
    func read(_ file: String, used: Int) throws(PacketFileError) -> [UInt8] {
        try files.read(file, limit: min(Limit.file, Limit.total - used))
    }
}
