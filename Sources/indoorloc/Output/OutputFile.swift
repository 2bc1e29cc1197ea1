import Foundation
import Glibc
import VenuePackets

/// A file that a command writes: never one that it reads, and none that is there unless it was told to.
///
/// All commands write their files through this rule. The content is written beside the file and takes its name when it is
/// whole, so that a command that fails leaves what was there. Pipes and devices are written into as they are.
struct OutputFile: Sendable {
    /// What becomes of a file that is there already.
    enum Existing: Sendable {
        /// It stays, and the command is refused.
        case kept
        /// It is replaced: `--overwrite`.
        case replaced
        /// What is written goes behind its end.
        case extended
    }

    /// A file that cannot be written, or must not be.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "\(path) \(reason)" }

        init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        /// The system's last error.
        init(path: String, error: Int32 = errno) {
            self.init(path: path, reason: "cannot be written: \(String(cString: strerror(error)))")
        }
    }

    let path: String
    var existing = Existing.kept
    /// Files and folders that the command reads.
    var inputs: [String] = []
    /// Whether it tells where somebody was: then its owner alone may read it.
    var isPrivate = false
    /// How to go on where the file is there already.
    var remedy = "say --overwrite to replace it"

    /// Refuses a file that cannot or must not be written, before the work whose result belongs there.
    ///
    /// Nothing is created, as the work may fail, too.
    func check() throws(Failure) {
        switch try OutputPlace(path) {
        case .descriptor(_, let file), .special(let file): try refuseInput(file)
        case .file(let file):
            try refuseInput(file)
            if existing == .kept { throw Failure(path: path, reason: "is there already: \(remedy)") }
            if existing == .extended, access(path, W_OK) != 0 { throw Failure(path: path) }
        case .nothing: break
        }
    }

    /// Opens the place for the content, after `check()` once more.
    func draft() throws(Failure) -> OutputDraft {
        try check()
        return try OutputDraft(of: self)
    }

    /// Writes the whole content.
    func write(_ bytes: [UInt8]) throws(Failure) {
        let draft = try draft()
        try draft.append(bytes)
        try draft.commit()
    }

    private func refuseInput(_ file: FileIdentity) throws(Failure) {
        for input in inputs {
            // A folder may stand for its venue.json.
            for path in [input, input + "/venue.json"] where FileIdentity(path: path) == file {
                throw Failure(path: self.path, reason: "is read by this command, too; give another output")
            }
        }
    }
}

/// Which file a path leads to, whatever it is called there.
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

    /// Nil if there is nothing, or nothing that one may look at.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, node, mode) = (UInt(status.st_dev), UInt(status.st_ino), status.st_mode)
    }

    var isFolder: Bool { mode & S_IFMT == S_IFDIR }
    var isRegular: Bool { mode & S_IFMT == S_IFREG }
    /// Whether what is read of it is gone.
    var isPipe: Bool { mode & S_IFMT == S_IFIFO || mode & S_IFMT == S_IFSOCK }
}

/// What is at the place where an output belongs.
enum OutputPlace {
    /// A regular file.
    case file(FileIdentity)
    /// A file that this process was given open, such as `/dev/stdout`.
    case descriptor(Int32, FileIdentity)
    /// A pipe or a device.
    case special(FileIdentity)
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

/// The names under which Linux shows the files that a process has open.
enum OpenDescriptor {
    /// The number that a path stands for, such as 1 for `/dev/stdout`; nil for any other path.
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
