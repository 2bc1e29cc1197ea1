import FoundationEssentials
import Glibc

/// Operations on files that other processes see either completed or not at all.
package enum DiskFile {
    /// The access permissions, before the umask, of a file that describes a building but doesn't contain anyone's
    /// location.
    package static let openMode: mode_t = 0o666

    /// Creates a file, or replaces one, which keeps its access permissions. The content is on disk when this function
    /// returns.
    ///
    /// - Parameter mode: the access permissions of a new file, of which the umask removes some.
    /// - Throws: `FileSystemError`; then an earlier file stays.
    package static func replace(_ path: String, with bytes: [UInt8], mode: mode_t = openMode) throws(FileSystemError) {
        let draft = try FileDraft(of: path, mode: mode)
        try draft.write(bytes)
        try draft.finish()
    }

    /// Copies a file from its current position to its end.
    static func copy(_ source: OpenFile, to path: String, mode: mode_t) throws(FileSystemError) {
        let draft = try FileDraft(of: path, mode: mode)
        while let bytes = try source.read() { try draft.write(bytes) }
        try draft.finish()
    }

    /// Writes bytes to a path: into a pipe or a device directly, because replacing it would affect all its users;
    /// replaces any other file.
    static func write(_ bytes: [UInt8], to path: String) throws(FileSystemError) {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
            return try replace(path, with: bytes)
        }
        try OpenFile(path, O_WRONLY | O_NOCTTY).write(bytes)
    }
}

/// A file that is being written; it gets its name when it is complete.
///
/// A class because it owns the open file and removes an incomplete one. The file has an unpredictable name and never
/// existed before: in a folder that others can write, an existing file could be a link to a file of this user.
final class FileDraft {
    private static let ending = ".unfinished"
    private let path: String
    private let file: OpenFile
    private var isFinished = false

    /// Returns whether a name is that of a file whose writing was interrupted.
    static func isName(_ name: String) -> Bool { name.hasSuffix(ending) }

    /// Creates the file beside its place.
    ///
    /// - Parameter mode: the access permissions, of which the umask removes some; an earlier file keeps its own.
    init(of path: String, mode: mode_t) throws(FileSystemError) {
        self.path = path
        let temporary = "\(path).\(UInt64.random(in: .min ... .max))\(Self.ending)"
        do throws(FileSystemError) {
            file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
            var earlier = stat()
            if stat(path, &earlier) == 0, earlier.st_mode & S_IFMT == S_IFREG {
                try file.setMode(earlier.st_mode & 0o777)
            }
        } catch {
            throw FileSystemError(path: path, reason: error.reason)
        }
    }

    deinit { if !isFinished { unlink(file.path) } }

    /// The descriptor, for a library that writes to it.
    var descriptor: Int32 { file.descriptor }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(FileSystemError) {
        do throws(FileSystemError) { try file.write(bytes) } catch {
            throw FileSystemError(path: path, reason: error.reason)
        }
    }

    /// Gives the file its name.
    ///
    /// - Parameter isDurable: whether the content is on disk when this function returns.
    func finish(isDurable: Bool = true) throws(FileSystemError) {
        do throws(FileSystemError) {
            if isDurable {
                try file.synchronize()
                guard try DiskFolder.place(file.path, at: path) else { throw .system(path) }
            } else {
                guard rename(file.path, path) == 0 else { throw .system(path) }
            }
            isFinished = true
        } catch {
            throw FileSystemError(path: path, reason: error.reason)
        }
    }
}

/// Operations on folders that other processes see either completed or not at all.
package enum DiskFolder {
    /// The access permissions, before the umask, of a folder that describes a building but doesn't contain anyone's
    /// location.
    package static let openMode: mode_t = 0o777

    /// Creates a folder, and its parent folders if they are missing.
    ///
    /// - Parameter mode: the access permissions of new folders, of which the umask removes some. By default, only their
    ///   owner has access, because the data of a device shows its location.
    package static func create(_ path: String, mode: mode_t = 0o700) throws(FileSystemError) {
        // `mkdir` is called because Foundation sets the mode after it has created a folder, regardless of the umask.
        if mkdir(path, mode) == 0 { return }
        let parent = parent(of: path)
        if errno == ENOENT, !parent.isEmpty, parent != path {
            try create(parent, mode: mode)
            if mkdir(path, mode) == 0 { return }
        }
        let number = errno
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw FileSystemError(path: path, reason: String(cString: strerror(number)))
        }
    }

    /// Returns a folder and those above it that don't exist yet, the deepest first; empty if the folder exists.
    package static func missing(_ path: String) -> [String] {
        var missing: [String] = []
        var path = path
        while path.hasSuffix("/"), path.count > 1 { path.removeLast() }
        while !path.isEmpty, path != ".", access(path, F_OK) != 0, errno == ENOENT {
            missing.append(path)
            path = parent(of: path)
        }
        return missing
    }

    /// Removes empty folders, such as those that a failed operation created; keeps all other folders.
    package static func removeEmpty(_ folders: [String]) {
        for folder in folders { rmdir(folder) }
    }

    /// Returns the names in a folder in alphabetical order; empty if the folder doesn't exist.
    package static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Returns whether the path is a folder; a symbolic link to a folder isn't one.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes a file, or a folder with its contents, as far as possible.
    package static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// Renames a file or folder, replacing a file at the target; the change is on disk when this function returns.
    ///
    /// - Returns: false if the target is an existing folder, which stays unchanged.
    @discardableResult package static func place(_ path: String, at target: String) throws(FileSystemError) -> Bool {
        guard rename(path, target) == 0 else {
            if errno == EEXIST || errno == ENOTEMPTY { return false }
            throw .system(target)
        }
        try synchronize(parent(of: target))
        return true
    }

    /// Renames a database with the files that SQLite keeps beside it, replacing an earlier one at the target.
    package static func place(database path: String, at target: String) throws(FileSystemError) {
        for ending in ["", "-wal", "-shm"] where access(path + ending, F_OK) == 0 {
            try place(path + ending, at: target + ending)
        }
    }

    /// Returns the path of the parent folder.
    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Returns when the names in a folder are on disk.
    package static func synchronize(_ folder: String) throws(FileSystemError) {
        try OpenFile(folder, O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Returns when a folder and its contents are on disk.
    static func synchronizeAll(_ folder: String) throws(FileSystemError) {
        for name in names(in: folder) {
            let path = folder + "/" + name
            if isFolder(path) { try synchronizeAll(path) } else { try OpenFile(path, O_RDONLY).synchronize() }
        }
        try synchronize(folder)
    }

    /// Returns the total size of all files in a folder, in bytes.
    static func size(_ folder: String) -> Int {
        names(in: folder).reduce(0) { sum, name in
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { return sum }
            return sum + (status.st_mode & S_IFMT == S_IFDIR ? size(path) : Int(status.st_size))
        }
    }
}

/// The new files of an operation, which are removed if it fails before they are complete together.
package struct PlacedFiles {
    private var files: [String] = []
    private var folders: [String] = []

    /// Creates a list without files.
    package init() {}

    /// Notes a file that is about to be placed, and the folders that are missing for it. An existing file isn't new.
    package mutating func note(_ file: String) {
        guard access(file, F_OK) != 0 else { return }
        files.append(file)
        folders = DiskFolder.missing(DiskFolder.parent(of: file)) + folders
    }

    /// Removes the files, and the new folders that become empty.
    package func remove() {
        files.forEach(DiskFolder.remove)
        DiskFolder.removeEmpty(folders)
    }
}
