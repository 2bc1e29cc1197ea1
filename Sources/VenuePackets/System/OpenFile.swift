import CFolders
import FoundationEssentials
import Glibc

/// An open file or folder, which can be locked against other users.
///
/// A class because it owns the descriptor. Locks are `flock` locks: a lock belongs to this open file, excludes other
/// processes as well as other values in this process, and ends with the process.
package final class OpenFile: Sendable {
    package let path: String
    let descriptor: Int32

    /// Opens a file; child processes don't inherit it.
    ///
    /// - Throws: `FileSystemError` if the system cannot open it.
    package init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileSystemError) {
        self.path = path
        descriptor = open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .system(path) }
    }

    /// Opens a regular file below a folder for reading; child processes don't inherit it.
    ///
    /// Anyone who can write into the folder can put a link, a pipe or a device there. Therefore a link that leaves the
    /// folder isn't followed, and the call doesn't wait for the other end of a pipe.
    /// - Parameter file: the file's path within the folder. The path of the folder itself may contain links.
    /// - Throws: `FileSystemError` if the system can't open it, or if it is no regular file of the folder.
    package init(_ file: String, below folder: String) throws(FileSystemError) {
        path = folder + "/" + file
        descriptor = try Self.descriptor(of: file, below: folder, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .irregular(path) }
    }

    /// Opens a regular file, or a link to one, for reading; the call doesn't wait for the other end of a pipe.
    ///
    /// - Throws: `FileSystemError` if the system can't open it, or if it is not a regular file.
    package convenience init(regular path: String) throws(FileSystemError) {
        try self.init(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .irregular(path) }
    }

    deinit { close(descriptor) }

    /// Returns the reason why a file below a folder can't be used; nil if it can. The file needn't be readable.
    ///
    /// - Throws: `FileSystemError` if the system finds no such file.
    static func irregularity(of file: String, below folder: String) throws(FileSystemError) -> FileSystemError? {
        let path = folder + "/" + file
        let descriptor = try descriptor(of: file, below: folder, cfolders_path)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path) }
        return status.st_mode & S_IFMT == S_IFREG ? nil : .irregular(path)
    }

    private static func descriptor(
        of file: String, below folder: String, _ flags: Int32
    ) throws(FileSystemError) -> Int32 {
        let root = open(folder, cfolders_path | O_DIRECTORY | O_CLOEXEC)
        guard root >= 0 else { throw .system(folder) }
        defer { close(root) }
        let descriptor = cfolders_open_below(root, file, flags)
        guard descriptor >= 0 else {
            guard errno == EXDEV || errno == ELOOP else { throw .system(folder + "/" + file) }
            throw FileSystemError(
                path: folder + "/" + file,
                reason: "is a symbolic link that leaves the folder; replace it by the file")
        }
        return descriptor
    }

    /// A path at which this process can open the file again, even after the file was renamed or removed.
    var openPath: String { "/proc/self/fd/\(descriptor)" }

    /// Acquires the exclusive lock; returns false if another user holds or shares it.
    package func lock() -> Bool { flock(descriptor, LOCK_EX | LOCK_NB) == 0 }

    /// Releases the lock, although something may still hold this value.
    func unlock() { flock(descriptor, LOCK_UN) }

    /// Waits until no user holds the exclusive lock, then acquires the shared lock.
    func awaitSharedLock() {
        while flock(descriptor, LOCK_SH) != 0, errno == EINTR {}
    }

    /// Whether the path still refers to this file, which may have been renamed or removed while waiting for the lock.
    var isInPlace: Bool {
        var own = stat()
        var named = stat()
        guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0 else { return false }
        return own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    /// Returns whether both values are open on the same file, whatever its path.
    func isSameFile(as other: OpenFile) -> Bool {
        var (own, others) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, fstat(other.descriptor, &others) == 0 else { return false }
        return own.st_ino == others.st_ino && own.st_dev == others.st_dev
    }

    /// Returns the size of the file in bytes.
    package func size() throws(FileSystemError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path) }
        return Int(status.st_size)
    }

    /// Returns the next bytes; nil at the end.
    package func read() throws(FileSystemError) -> [UInt8]? {
        let size = 1 << 17
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            repeat { count = Glibc.read(descriptor, buffer.baseAddress, size) } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw .system(path) }
        return count == 0 ? nil : bytes
    }

    /// Writes all bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(FileSystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let slice = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, slice.baseAddress, slice.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(path)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes all bytes.
    package func write(_ bytes: [UInt8]) throws(FileSystemError) {
        try bytes.withUnsafeBufferPointer { buffer throws(FileSystemError) in
            try write(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Truncates the file and moves to its end.
    func truncate(to size: Int) throws(FileSystemError) {
        guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) >= 0 else {
            throw .system(path)
        }
    }

    /// Returns when the whole file is on disk, or at once on a file system that doesn't offer this.
    package func synchronize() throws(FileSystemError) {
        // A shared folder of VirtualBox and some network file systems can't synchronize the names in a folder. These
        // errors don't tell of a failed write, unlike the others.
        while fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP {
            guard errno == EINTR else { throw .system(path) }
        }
    }

    /// Sets the access permissions.
    package func setMode(_ mode: mode_t) throws(FileSystemError) {
        guard fchmod(descriptor, mode) == 0 else { throw .system(path) }
    }

    /// Returns the modification time in seconds.
    func modified() throws(FileSystemError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path) }
        return status.st_mtim.tv_sec
    }

    /// Sets the modification time.
    func setModified(_ seconds: Int) throws(FileSystemError) {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        guard futimens(descriptor, times) == 0 else { throw .system(path) }
    }
}

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

/// An operation on a file or folder of this machine that failed.
package struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file or folder.
    package var path: String
    /// The reason, such as "No such file or directory".
    package var reason: String

    /// Creates an error.
    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { PrintableText.line("\(path): \(reason)") }

    /// The error that the system has just reported for a path, from `errno`.
    static func system(_ path: String) -> FileSystemError {
        FileSystemError(path: path, reason: String(cString: strerror(errno)))
    }

    /// The error of a pipe, device or folder in place of a file.
    static func irregular(_ path: String) -> FileSystemError {
        FileSystemError(path: path, reason: "is not a regular file; replace it by one")
    }
}

extension Error {
    /// The system's message if Foundation wraps a system error, such as "No such file or directory".
    ///
    /// Foundation's own description of such an error is a domain, a code and a dictionary, which don't help a user.
    package var systemReason: String {
        if let error = self as? FileSystemError { return error.reason }
        if let error = self as? POSIXError { return String(cString: strerror(error.code.rawValue)) }
        return (self as? CocoaError)?.underlying?.systemReason ?? "\(self)"
    }

    /// Returns the system's message for a file that cannot be read.
    ///
    /// Foundation doesn't read devices and reports each of them as not permitted.
    package func systemReason(reading path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFCHR, S_IFBLK].contains(status.st_mode & S_IFMT) else {
            return systemReason
        }
        return "it is a device; give a file"
    }
}
