import Glibc
import IndoorLocalization
import TextFormats

/// The content of a file of a running fleet, such as its register. It is read again on request, and when the file changes.
///
/// A file that can't be used changes nothing, and the log has the reason.
final class ReloadedFile<Content: Sendable>: Sendable {
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
    private static var interval: Duration { .seconds(2) }

    private let path: String
    private let option: String
    private let consequence: String
    /// A signal for each content that was read again.
    let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation
    private let read: @Sendable () throws -> Content
    private let count: @Sendable (Content) -> String
    private let waiting = Guarded<Content?>(nil)
    private let latest: Guarded<Content>
    private let mark: Guarded<Mark?>
    private let hasFailed = Guarded(false)

    /// Creates the content of a file that was just read.
    ///
    /// - Parameters:
    ///   - option: the option of the command that gives the path.
    ///   - noun: the name of the content in the log, such as "register".
    ///   - plural: whether the noun is a plural.
    ///   - content: the content at the start.
    ///   - read: reads the file.
    ///   - count: returns the size of the content for the log, such as "3 tags".
    init(
        _ path: String, option: String, noun: String, _ content: Content, plural: Bool = false,
        read: @escaping @Sendable () throws -> Content,
        count: @escaping @Sendable (Content) -> String
    ) {
        (self.path, self.option, self.read, self.count) = (path, option, read, count)
        consequence = "the earlier \(noun) \(plural ? "stay" : "stays") in use"
        (changes, changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        latest = Guarded(content)
        mark = Guarded(Mark(path))
    }

    /// The content that was read last.
    var current: Content { latest.withLock { $0 } }

    /// Returns the content that was read since the last call; nil if there is none.
    func take() -> Content? {
        waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
    }

    /// Reads the file; returns whether it could be used.
    @discardableResult func reload() -> Bool {
        do {
            let seen = Mark(path)
            let content = try read()
            hasFailed.withLock { $0 = false }
            mark.withLock { $0 = seen }
            latest.withLock { $0 = content }
            waiting.withLock { $0 = content }
            changed.yield()
            StandardError.line("--\(option) \(path): read again, \(count(content))", .notice)
            return true
        } catch {
            hasFailed.withLock { $0 = true }
            StandardError.line("\(error); \(consequence)", .warning)
            return false
        }
    }

    /// Reads the file if it couldn't be used, such as after a change of another file on which its content depends.
    func reloadAfterFailure() {
        if hasFailed.withLock({ $0 }) { reload() }
    }

    /// Checks the file until the task is cancelled, and reads it after it has changed and is complete.
    ///
    /// - Parameter act: called after the file was read and can be used.
    func watch(_ act: @Sendable () -> Void = {}) async {
        var seen = mark.withLock { $0 }
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let current = Mark(path)
            // A file that changed since the last check may be incomplete, and is read after the next check.
            if let current, current == seen, current != mark.withLock({ $0 }) {
                mark.withLock { $0 = current }
                if reload() { act() }
            }
            seen = current
        }
    }
}
