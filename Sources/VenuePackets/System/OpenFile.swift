import CFolders
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

    /// Returns when the whole file is on disk.
    package func synchronize() throws(FileSystemError) {
        while fsync(descriptor) != 0 {
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
