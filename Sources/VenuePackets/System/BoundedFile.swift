import Glibc

/// Why a file cannot be read.
package enum BoundedFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It has more bytes than it may have; `bytes` is nil if nobody knows how many before the end.
    case tooLong(bytes: Int?, limit: Int)
    /// The system's reason.
    case unreadable(String)

    package var description: String {
        switch self {
        case .tooLong(let bytes, let limit):
            "has \(bytes.map { "\($0) bytes, " } ?? "")more than the \(limit) bytes that it may have"
        case .unreadable(let reason): "cannot be read: \(reason)"
        }
    }
}

/// Reads files whose size is looked at first: of one that is too long, nothing is read.
package enum BoundedFile {
    /// The bytes of a file, or of a pipe or device up to the limit.
    package static func read(_ path: String, limit: Int) throws(BoundedFileError) -> [UInt8] {
        let file = try reading { () throws(FileSystemError) in try OpenFile(path, O_RDONLY) }
        let size = try reading { () throws(FileSystemError) in try file.size() }
        guard size <= limit else { throw .tooLong(bytes: size, limit: limit) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        // A pipe has no size, and a file may grow meanwhile.
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
