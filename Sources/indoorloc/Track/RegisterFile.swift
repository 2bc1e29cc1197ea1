import Glibc
import IndoorLocalization
import TagTracking

/// The register of a running fleet. It is read again on request, and when its file changes.
///
/// A file that can't be used changes nothing, and the log has the reason.
final class RegisterFile: Sendable {
    /// The metadata that changes when a file is replaced or written.
    private struct Mark: Hashable, Sendable {
        var device: UInt
        var inode: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        /// Reads the mark of a file; nil if there is none.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode, size) = (UInt(status.st_dev), UInt(status.st_ino), Int(status.st_size))
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    /// The interval between two checks of the file.
    private static let interval = Duration.seconds(2)

    private let options: FleetOptions
    private let waiting = Guarded<TagRegister?>(nil)
    private let mark: Guarded<Mark?>

    /// Creates the register of a fleet that has just read it.
    init(_ options: FleetOptions) {
        self.options = options
        mark = Guarded(options.tags.flatMap(Mark.init))
    }

    /// Returns the register that was read since the last call; nil if there is none.
    func take() -> TagRegister? {
        waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
    }

    /// Reads the file.
    func reload() {
        guard let path = options.tags else {
            return StandardError.line("there is no register (--tags) to read again", .notice)
        }
        do {
            let read = Mark(path)
            let register = try options.register()
            mark.withLock { $0 = read }
            waiting.withLock { $0 = register }
            StandardError.line("--tags \(path): read again, \(register.entries.count.counting("tag"))", .notice)
        } catch {
            StandardError.line("\(error); the earlier register stays in use", .warning)
        }
    }

    /// Checks the file until the task is cancelled, and reads it after it has changed and is complete.
    func watch() async {
        guard let path = options.tags else { return }
        var seen = mark.withLock { $0 }
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let current = Mark(path)
            // A file that changed since the last check may be incomplete, and is read after the next check.
            if let current, current == seen, current != mark.withLock({ $0 }) {
                mark.withLock { $0 = current }
                reload()
            }
            seen = current
        }
    }
}
