import Foundation
import Glibc

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
