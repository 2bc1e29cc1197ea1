import FoundationEssentials
import Glibc

/// What is done to folders of the cache, so that others see all of it or nothing.
enum DiskFolder {
    /// Creates a folder and those above it, if need be.
    static func create(_ path: String) throws(FileSystemError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw FileSystemError(path: path, reason: error.systemReason)
        }
    }

    /// The names in a folder, in alphabetical order; none if there is no such folder.
    static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// Whether it is a folder; a link to one is none.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes a file or a folder with all that is in it, as far as that is possible.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// Gives a file or folder its name, in place of whatever file had it; the disk has it when this returns.
    ///
    /// - Returns: false if a folder of that name is there, which is left alone.
    @discardableResult static func place(_ path: String, at target: String) throws(FileSystemError) -> Bool {
        guard rename(path, target) == 0 else {
            if errno == EEXIST || errno == ENOTEMPTY { return false }
            throw .system(target)
        }
        try synchronize(parent(of: target))
        return true
    }

    /// The path of the folder that a path is in.
    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// Returns when the disk has a folder's names.
    static func synchronize(_ folder: String) throws(FileSystemError) {
        try OpenFile(folder, O_RDONLY | O_DIRECTORY).synchronize()
    }

    /// Returns when the disk has all that is in a folder.
    static func synchronizeAll(_ folder: String) throws(FileSystemError) {
        for name in names(in: folder) {
            let path = folder + "/" + name
            if isFolder(path) { try synchronizeAll(path) } else { try OpenFile(path, O_RDONLY).synchronize() }
        }
        try synchronize(folder)
    }

    /// Bytes of all files in a folder.
    static func size(_ folder: String) -> Int {
        names(in: folder).reduce(0) { sum, name in
            let path = folder + "/" + name
            var status = stat()
            guard lstat(path, &status) == 0 else { return sum }
            return sum + (status.st_mode & S_IFMT == S_IFDIR ? size(path) : Int(status.st_size))
        }
    }
}
