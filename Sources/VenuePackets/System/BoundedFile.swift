import Glibc

/// An error in reading a file whose size is limited.
package enum BoundedFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file is larger than the limit; `bytes` is nil if the size isn't known before the end of the file.
    case tooLong(bytes: Int?, limit: Int)
    /// The system's reason.
    case unreadable(String)

    package var description: String {
        switch self {
        case .tooLong(let bytes, let limit):
            "has \(bytes.map { "\($0) bytes, " } ?? "")more than the limit of \(limit) bytes"
        case .unreadable(let reason): "cannot be read: \(reason)"
        }
    }
}

/// Reads files up to a size limit; a file that is known to be larger isn't read at all.
package enum BoundedFile {
    /// Returns the bytes of a file, or of a pipe or device, up to the limit.
    package static func read(_ path: String, limit: Int) throws(BoundedFileError) -> [UInt8] {
        try read(limit: limit) { () throws(FileSystemError) in try OpenFile(path, O_RDONLY) }
    }

    /// Returns the bytes of a regular file below a folder, as `OpenFile.init(_:below:)` opens it, up to the limit.
    package static func read(
        _ file: String, below folder: String, limit: Int
    ) throws(BoundedFileError) -> [UInt8] {
        try read(limit: limit) { () throws(FileSystemError) in try OpenFile(file, below: folder) }
    }

    /// Returns the bytes of a regular file up to the limit.
    static func read(regular path: String, limit: Int) throws(BoundedFileError) -> [UInt8] {
        try read(limit: limit) { () throws(FileSystemError) in try OpenFile(regular: path) }
    }

    private static func read(
        limit: Int, _ opened: () throws(FileSystemError) -> OpenFile
    ) throws(BoundedFileError) -> [UInt8] {
        let file = try reading(opened)
        let size = try reading { () throws(FileSystemError) in try file.size() }
        guard size <= limit else { throw .tooLong(bytes: size, limit: limit) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        // A pipe has no size, and a file may grow while it is read.
        while let piece = try reading({ () throws(FileSystemError) in try file.read() }) {
            guard bytes.count + piece.count <= limit else { throw .tooLong(bytes: nil, limit: limit) }
            bytes += piece
        }
        return bytes
    }

    private static func reading<Result>(
        _ body: () throws(FileSystemError) -> Result
    ) throws(BoundedFileError) -> Result {
        do throws(FileSystemError) { return try body() } catch { throw .unreadable(error.reason) }
    }
}
