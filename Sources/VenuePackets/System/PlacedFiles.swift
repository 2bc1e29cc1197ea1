import Glibc

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
