import Foundation
import Glibc
import VenuePackets

/// An output file of a command. It is never an input of the command, and replaces an existing file only on request.
///
/// All commands write their files in this way. The content goes to a temporary file, which is renamed when it is
/// complete, so that a command that fails leaves the earlier file. Pipes and devices are written directly.
struct OutputFile: Sendable {
    /// The treatment of an existing file.
    enum Existing: Sendable {
        /// The file stays, and the command fails.
        case kept
        /// The file is replaced: `--overwrite`.
        case replaced
        /// The output is appended to the file.
        case extended
    }

    /// The error of a file that can't or must not be written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) \(reason)" }

        init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        /// Describes an error of the system; by default, the last one.
        init(path: String, error: Int32 = errno) {
            let advice = Self.advice(on: error).map { "; \($0)" } ?? ""
            self.init(path: path, reason: "cannot be written: \(String(cString: strerror(error)))\(advice)")
        }

        /// The advice for an error of the disk; nil for errors that include it.
        private static func advice(on error: Int32) -> String? {
            switch error {
            case ENOSPC, EDQUOT: "free some space"
            case EROFS: "give a path on a disk that is writable"
            case EIO: "check the disk"
            default: nil
            }
        }
    }

    var path: String
    var existing = Existing.kept
    /// The files and folders that the command reads.
    var inputs: [String] = []
    /// Whether the file contains locations of a person; then only its owner may read it.
    var isPrivate = false
    /// The advice if the file exists.
    var remedy = "use --overwrite to replace it"

    /// Checks that the file can and may be written, before the work that produces its content.
    ///
    /// Doesn't create the file, because the work may fail.
    func check() throws(Failure) {
        switch try OutputPlace(path) {
        case .descriptor(_, let file), .special(let file): try refuseInput(file)
        case .file(let file):
            try refuseInput(file)
            if existing == .kept { throw Failure(path: path, reason: "already exists: \(remedy)") }
            if existing == .extended, access(path, W_OK) != 0 { throw Failure(path: path) }
        case .nothing: break
        }
    }

    /// Repeats `check()` and opens the file for its content.
    func draft() throws(Failure) -> OutputDraft {
        try check()
        return try OutputDraft(of: self)
    }

    /// Writes the complete content.
    func write(_ bytes: [UInt8]) throws(Failure) {
        let draft = try draft()
        try draft.append(bytes)
        try draft.commit()
    }

    private func refuseInput(_ file: FileIdentity) throws(Failure) {
        for input in inputs {
            // A folder may be given for its venue.json.
            for path in [input, input + "/venue.json"] where FileIdentity(path: path) == file {
                throw Failure(path: self.path, reason: "is also an input of this command; give another output")
            }
        }
    }
}

/// The identity of a file, independent of its path.
struct FileIdentity: Hashable {
    private let device: UInt
    private let node: UInt
    let mode: mode_t

    static func == (first: FileIdentity, second: FileIdentity) -> Bool {
        first.device == second.device && first.node == second.node
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(node)
    }

    /// Nil if the file doesn't exist or can't be inspected.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, node, mode) = (UInt(status.st_dev), UInt(status.st_ino), status.st_mode)
    }

    var isFolder: Bool { mode & S_IFMT == S_IFDIR }
    var isRegular: Bool { mode & S_IFMT == S_IFREG }
    /// Whether the content can be read only once.
    var isPipe: Bool { mode & S_IFMT == S_IFIFO || mode & S_IFMT == S_IFSOCK }
}

/// The kind of file at the path of an output.
enum OutputPlace {
    /// A regular file.
    case file(FileIdentity)
    /// An open descriptor of this process, such as `/dev/stdout`.
    case descriptor(Int32, FileIdentity)
    /// A pipe or a device.
    case special(FileIdentity)
    /// No file.
    case nothing

    init(_ path: String) throws(OutputFile.Failure) {
        guard let file = FileIdentity(path: path) else {
            guard errno == ENOENT, !path.isEmpty else { throw OutputFile.Failure(path: path) }
            let folder = URL(filePath: path).absoluteURL.deletingLastPathComponent().path
            guard access(folder, W_OK) == 0 else { throw OutputFile.Failure(path: path) }
            self = .nothing
            return
        }
        if file.isFolder { throw OutputFile.Failure(path: path, error: EISDIR) }
        if let descriptor = OpenDescriptor.named(path) {
            self = .descriptor(descriptor, file)
        } else if file.isRegular {
            self = .file(file)
        } else {
            guard access(path, W_OK) == 0 else { throw OutputFile.Failure(path: path) }
            self = .special(file)
        }
    }
}

/// The paths by which Linux shows the open descriptors of a process.
enum OpenDescriptor {
    /// The descriptor of a path, such as 1 for `/dev/stdout`; nil for any other path.
    static func named(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdin": return STDIN_FILENO
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
                return Int32(path.dropFirst(folder.count))
            }
            return nil
        }
    }
}
