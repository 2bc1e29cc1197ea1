import FoundationEssentials
import Glibc

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
    static func isFolder(_ path: String) -> Bool {
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
