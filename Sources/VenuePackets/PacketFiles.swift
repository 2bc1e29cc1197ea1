import FoundationEssentials

/// The files of a packet, wherever they are kept.
protocol PacketFiles: Sendable {
    /// Whether there is such a file.
    func contains(_ file: String) -> Bool
    /// The bytes of a file.
    ///
    /// - Throws: `PacketFileError` if it cannot be read or has more than `limit` bytes.
    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8]
}

/// What keeps a file of a packet from being read or written.
struct PacketFileError: Error, Hashable, Sendable {
    /// What is wrong and what to do.
    let message: String
    /// Where it is within the file's document.
    var path = "$"
    /// What the disk says, if it is not the packet that is wrong.
    var storage: VenueRepositoryError?
}

/// A packet kept as a folder.
struct PacketFolder: PacketFiles {
    /// The folder's absolute path.
    let path: String

    func contains(_ file: String) -> Bool {
        var isFolder = false
        return FileManager.default.fileExists(atPath: absolutePath(of: file), isDirectory: &isFolder) && !isFolder
    }

    func absolutePath(of file: String) -> String { path + "/" + file }

    func read(_ file: String, limit: Int) throws(PacketFileError) -> [UInt8] {
        let absolute = absolutePath(of: file)
        guard contains(file) else {
            if let refusal = LocalPath.refusal(absolute) { throw refusal }
            throw PacketFileError(message: "there is no \(file); a packet is a folder or a zip with that file")
        }
        do throws(BoundedFileError) { return try BoundedFile.read(absolute, limit: limit) } catch {
            throw PacketFileError(message: "\(file) \(error)")
        }
    }
}
