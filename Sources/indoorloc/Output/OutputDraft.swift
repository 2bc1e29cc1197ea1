import Foundation
import Glibc

/// The content of an output while it is written: beside the file whose name it takes with `commit()`.
///
/// A class, as it owns the open file, and removes what never became whole.
final class OutputDraft {
    /// Where to write.
    let descriptor: Int32
    private let output: OutputFile
    /// The file under its passing name, and the name that it is to have; nil for what is written in place.
    private let names: (passing: String, final: String)?
    private var isCommitted = false

    /// Opens the file; `OutputFile.check()` has found nothing against it.
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
            // Behind a link the file itself is replaced.
            let names = Self.names(for: Self.resolved(output.path))
            self.names = names
            opened = open(names.passing, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if opened >= 0 { fchmod(opened, file.mode & 0o777) }
        case .nothing:
            let names = Self.names(for: output.path)
            self.names = names
            let mode: mode_t = output.isPrivate ? 0o600 : 0o666
            opened = open(names.passing, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        }
        descriptor = opened
        guard opened >= 0 else { throw OutputFile.Failure(path: output.path) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if !isCommitted, descriptor >= 0, let names { unlink(names.passing) }
    }

    /// Writes all of the bytes.
    func append(_ bytes: [UInt8]) throws(OutputFile.Failure) {
        let error = FileDescriptor.write(bytes[...], to: descriptor)
        if error != 0 { throw OutputFile.Failure(path: output.path, error: error) }
    }

    /// Gives the file its name. More may be written afterwards.
    ///
    /// - Throws: if the system can't, or if a file of that name has come up meanwhile, which is not replaced.
    func commit() throws(OutputFile.Failure) {
        guard !isCommitted, let names else { return }
        if output.existing != .replaced {
            // Other than a renaming, a link never replaces what is there.
            if link(names.passing, names.final) == 0 {
                unlink(names.passing)
                isCommitted = true
                return
            }
            if errno == EEXIST {
                try output.check()
                throw OutputFile.Failure(path: output.path, error: EEXIST)
            }
            // Some file systems have no links.
        }
        guard rename(names.passing, names.final) == 0 else { throw OutputFile.Failure(path: output.path) }
        isCommitted = true
    }

    private static func names(for path: String) -> (passing: String, final: String) {
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
