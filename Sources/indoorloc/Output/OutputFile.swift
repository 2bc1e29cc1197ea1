import Foundation
import Glibc
import IndoorLocalization
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
        guard file.isInput(of: inputs) else { return }
        throw Failure(path: path, reason: FileIdentity.refusalOfInput)
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

    /// The reason why an input can't be an output.
    static let refusalOfInput = "is also an input of this command; give another output"

    /// Whether the file is one of the inputs of a command, of which a folder may be given for its `venue.json`.
    func isInput(of paths: [String]) -> Bool {
        paths.contains { path in [path, path + "/venue.json"].contains { FileIdentity(path: $0) == self } }
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

/// An output file while it is written: a temporary file that `commit()` renames.
///
/// A class, as it owns the open file, and deletes a file that was not committed.
final class OutputDraft {
    /// The open file.
    let descriptor: Int32
    private let output: OutputFile
    /// The temporary and the final path; nil for a file that is written in place.
    private let names: (temporary: String, final: String)?
    private var isCommitted = false
    /// The offset at which the provisional part begins; nil without one.
    private var provisionalStart: off_t?
    /// Whether the file may be longer than what was written last.
    private var mayBeTooLong = false

    /// Opens the file, which `OutputFile.check()` has accepted.
    init(of output: OutputFile) throws(OutputFile.Failure) {
        self.output = output
        let opened: Int32
        switch try OutputPlace(output.path) {
        case .descriptor(let number, _):
            names = nil
            opened = fcntl(number, F_DUPFD_CLOEXEC, 0)
        case .special:
            names = nil
            opened = open(output.path, O_WRONLY | O_CLOEXEC)
        case .file(let file):
            guard output.existing == .replaced else {
                names = nil
                opened = open(output.path, O_WRONLY | O_APPEND | O_CLOEXEC)
                break
            }
            // The target of a symbolic link is replaced, not the link.
            let names = Self.names(for: Self.resolved(output.path))
            self.names = names
            opened = open(names.temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if opened >= 0 { fchmod(opened, file.mode & 0o777) }
        case .nothing:
            let names = Self.names(for: output.path)
            self.names = names
            let mode: mode_t = output.isPrivate ? 0o600 : 0o666
            opened = open(names.temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        }
        descriptor = opened
        guard opened >= 0 else { throw OutputFile.Failure(path: output.path) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isCommitted, descriptor >= 0, let names { unlink(names.temporary) }
    }

    /// Writes all bytes.
    func append(_ bytes: [UInt8]) throws(OutputFile.Failure) {
        let error = FileDescriptor.write(bytes[...], to: descriptor)
        if error != 0 { throw OutputFile.Failure(path: output.path, error: error) }
    }

    /// Begins a part of the file that later content replaces; returns false if the file isn't a new one.
    func beginProvisionalPart() -> Bool {
        guard names != nil else { return false }
        let offset = lseek(descriptor, 0, SEEK_CUR)
        guard offset >= 0 else { return false }
        provisionalStart = offset
        return true
    }

    /// Continues where the provisional part began. Its bytes stay in the file until others replace them, so that a
    /// program that is killed in between loses none.
    func endProvisionalPart() throws(OutputFile.Failure) {
        guard let start = provisionalStart.take() else { return }
        guard lseek(descriptor, start, SEEK_SET) == start else { throw OutputFile.Failure(path: output.path) }
        mayBeTooLong = true
    }

    /// Removes what is left of a provisional part behind the written content.
    func truncate() throws(OutputFile.Failure) {
        guard mayBeTooLong else { return }
        guard ftruncate(descriptor, lseek(descriptor, 0, SEEK_CUR)) == 0 else {
            throw OutputFile.Failure(path: output.path)
        }
        mayBeTooLong = false
    }

    /// Renames the file to its final path. More content may be written afterwards.
    ///
    /// - Throws: `OutputFile.Failure` if the system can't rename it, or if a file was created at that path in the
    ///   meantime.
    func commit() throws(OutputFile.Failure) {
        guard !isCommitted, let names else { return }
        // Some disks report an error of an earlier write only here. After an error, the earlier file must not be
        // replaced.
        while fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP {
            guard errno == EINTR else { throw OutputFile.Failure(path: output.path) }
        }
        if output.existing != .replaced {
            // Unlike rename, link never replaces an existing file.
            if link(names.temporary, names.final) == 0 {
                unlink(names.temporary)
                isCommitted = true
                return
            }
            if errno == EEXIST {
                try output.check()
                throw OutputFile.Failure(path: output.path, error: EEXIST)
            }
            // Some file systems don't support links.
        }
        guard rename(names.temporary, names.final) == 0 else { throw OutputFile.Failure(path: output.path) }
        isCommitted = true
    }

    private static func names(for path: String) -> (temporary: String, final: String) {
        let file = URL(filePath: path).absoluteURL
        let name = ".\(file.lastPathComponent.prefix(100)).\(UInt64.random(in: .min ... .max)).unfinished"
        return (file.deletingLastPathComponent().appending(path: name).path, file.path)
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}

/// The output of a venue packet: a zip file if the name ends in .zip, otherwise a folder.
struct PacketOutput {
    /// The error of a packet that can't or must not be written.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let reason: String
        var description: String { "the output \(path) \(reason)" }
    }

    let path: String
    /// The files and folders that the command reads, except a packet that may be replaced.
    var inputs: [String] = []

    private var isZip: Bool { path.lowercased().hasSuffix(".zip") }

    /// Whether a packet was read from this path.
    func isThePlace(of packet: VenuePacket) -> Bool {
        let place =
            switch packet.storage {
            case .folder(let path), .zip(let path): path
            }
        return Self.resolved(place) == Self.resolved(path)
    }

    private static func resolved(_ path: String) -> String {
        URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }

    /// The name of the file or folder without `.zip`.
    var name: String {
        let name = URL(filePath: path).lastPathComponent
        return isZip ? String(name.dropLast(4)) : name
    }

    /// Checks that a packet of this kind can be written, and that none exists unless it may be replaced.
    ///
    /// - Parameter remedy: what a person can do about an existing packet.
    func check(mayReplace: Bool, remedy: String) throws(Failure) {
        var isFolder = false
        guard exists(path, &isFolder) else { return }
        let own = FileIdentity(path: path)
        if inputs.contains(where: { FileIdentity(path: $0) == own }) {
            throw Failure(path: path, reason: FileIdentity.refusalOfInput)
        }
        if isZip, isFolder { throw Failure(path: path, reason: "is a folder, but its name ends in .zip") }
        if !isZip, !isFolder {
            throw Failure(path: path, reason: "is a file; give a folder, or a name that ends in .zip")
        }
        var isDirectory = false
        guard isZip || exists(path + "/venue.json", &isDirectory), !mayReplace else { return }
        throw Failure(path: path, reason: "already exists: \(remedy)")
    }

    /// Checks that no file of the packet is an input, and that none exists in its folder unless it may be replaced.
    ///
    /// - Parameter paths: the paths of the files within the packet.
    func check(_ paths: [String], mayReplace: Bool) throws(Failure) {
        guard !isZip else { return }
        for name in paths {
            let target = path + "/" + name
            guard let file = FileIdentity(path: target) else { continue }
            if file.isInput(of: inputs) { throw Failure(path: target, reason: FileIdentity.refusalOfInput) }
            if !mayReplace { throw Failure(path: target, reason: "already exists: use --overwrite to replace it") }
        }
    }

    private func exists(_ path: String, _ isFolder: inout Bool) -> Bool {
        var flag: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &flag)
        isFolder = flag.boolValue
        return exists
    }

    /// Writes a venue with the plan images of another packet.
    ///
    /// - Parameters:
    ///   - files: other files of the packet, by their names.
    ///   - mayReplace: whether existing files are replaced.
    func write(
        _ venue: Venue, plansOf packet: VenuePacket?, adding files: [(name: String, content: [UInt8])] = [],
        mayReplace: Bool
    ) throws {
        try write(Self.paths(of: venue) + files.map(\.name), mayReplace: mayReplace) { folder in
            // The document is written last, so that it never names a missing file.
            try packet?.copyPlans(of: venue, toFolder: folder)
            for file in files { try VenuePacketWriter.write(file.content, to: folder + "/" + file.name) }
            try VenuePacketWriter().write(venue, toFolder: folder)
        }
    }

    /// The paths of the files of a venue within its packet.
    static func paths(of venue: Venue) -> [String] {
        venue.filePaths.sorted() + VenuePacketWriter.paths(of: venue)
    }

    /// Writes a packet whose files a closure writes into a folder. After an error, no new part of the packet remains.
    ///
    /// - Parameters:
    ///   - paths: the paths of the files within the packet.
    ///   - mayReplace: whether existing files are replaced.
    func write(_ paths: [String], mayReplace: Bool, _ files: (String) throws -> Void) throws {
        try check(paths, mayReplace: mayReplace)
        guard isZip else {
            var placed = PlacedFiles()
            for name in paths { placed.note(path + "/" + name) }
            do { return try files(path) } catch {
                placed.remove()
                throw error
            }
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "indoorloc-\(UUID().uuidString)").path
        defer { DiskFolder.remove(folder) }
        // Other users of the machine can't change the files before they are packed.
        try DiskFolder.create(folder)
        try files(folder)
        try VenuePacketWriter().pack(folder: folder, toZip: path)
    }
}
