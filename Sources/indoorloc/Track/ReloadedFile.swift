import IndoorLocalization
import TextFormats
import VenuePackets

/// The content of a file of a running fleet, such as its register. It is read again on request, and when the file changes.
///
/// A file that can't be used changes nothing, and the log has the reason.
package final class ReloadedFile<Content: Sendable>: Sendable {
    private struct State: Sendable {
        /// The content that was read last.
        var latest: Content
        /// The number of contents so far.
        var number = 0
        /// The number of the content that was taken, or that this process has written.
        var taken = 0
        /// The state of the file that was read last, or was tried.
        var stamp: FileStamp?
        /// Whether the file couldn't be used at the last attempt.
        var hasFailed = false
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
    private let state: Guarded<State>

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
        state = Guarded(State(latest: content, stamp: FileStamp(path)))
    }

    /// The content that was read last.
    package var current: Content { state.withLock { $0.latest } }

    /// Returns the content that was read since the last call; nil if there is none.
    package func take() -> Content? {
        state.withLock { state in
            guard state.taken != state.number else { return nil }
            state.taken = state.number
            return state.latest
        }
    }

    /// Returns the content that was read last, unless a reader has it already. Each of several readers has a number of its
    /// own; for a single one, there is `take()`.
    ///
    /// - Parameter number: the number of the reader's content, which becomes that of the returned one; nil for none.
    package func content(after number: inout Int?) -> Content? {
        let (latest, current) = state.withLock { ($0.latest, $0.number) }
        guard number != current else { return nil }
        number = current
        return latest
    }

    /// Records content that this process has written, which isn't read again.
    func wrote(_ content: Content) {
        state.withLock {
            let number = $0.number + 1
            $0 = State(latest: content, number: number, taken: number, stamp: FileStamp(path))
        }
    }

    /// Reads the file; returns whether it could be used.
    @discardableResult package func reload() -> Bool {
        do {
            var content: Content
            var isStored: Bool
            repeat {
                let number = state.withLock { $0.number }
                let stamp = FileStamp(path)
                content = try read()
                isStored = state.withLock { [content] state in
                    // This process has written the file meanwhile: what was read may be what it has replaced.
                    guard state.number == number else { return false }
                    state = State(latest: content, number: number + 1, taken: state.taken, stamp: stamp)
                    return true
                }
            } while !isStored
            changed.yield()
            StandardError.line("--\(option) \(path): read again, \(count(content))", .notice)
            return true
        } catch {
            state.withLock { $0.hasFailed = true }
            StandardError.line("\(error); \(consequence)", .warning)
            return false
        }
    }

    /// Reads the file if it couldn't be used, such as after a change of another file on which its content depends.
    func reloadAfterFailure() {
        if state.withLock({ $0.hasFailed }) { reload() }
    }

    /// Checks the file until the task is cancelled, and reads it after it has changed and is complete.
    ///
    /// - Parameter act: called after the file was read and can be used.
    package func watch(_ act: @Sendable () -> Void = {}) async {
        var seen = state.withLock { $0.stamp }
        while (try? await Task.sleep(for: Self.interval)) != nil {
            let current = FileStamp(path)
            // A file that changed since the last check may be incomplete, and is read after the next check.
            if let current, current == seen, current != state.withLock({ $0.stamp }) {
                state.withLock { $0.stamp = current }
                if reload() { act() }
            }
            seen = current
        }
    }
}
