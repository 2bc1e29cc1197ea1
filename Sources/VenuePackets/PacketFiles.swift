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

/// How large the parts of a packet may be: what a reader takes from outside must not exhaust the machine.
enum PacketLimit {
    /// Bytes of `venue.json`: room for some 50,000 beacons.
    static let venueFile = 16 << 20
    /// Bytes of a radio map, uncompressed.
    static let radioMap = 256 << 20
    /// Bytes of all that is unpacked from one zip: the image and tiles of a large building.
    static let unpacked = 4 << 30
    /// Files in one zip; tiles are a zip of their own within it.
    static let entries = 10_000
    /// Corners of one polygon: the check for crossings is quadratic at worst; no room has that many corners.
    static let corners = 5_000
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
        do {
            // Mapped, a file that is too large costs nothing.
            let data = try Data(contentsOf: URL(filePath: absolute), options: .mappedIfSafe)
            guard data.count <= limit else {
                throw PacketFileError(
                    message: "\(file) has \(data.count) bytes, more than the \(limit) that it may have")
            }
            return [UInt8](data)
        } catch let error as PacketFileError {
            throw error
        } catch {
            throw PacketFileError(message: "\(file) cannot be read: \(error.systemReason(reading: absolute))")
        }
    }
}
