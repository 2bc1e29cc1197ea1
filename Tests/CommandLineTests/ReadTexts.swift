import Foundation
import Synchronization

/// Texts that a thread reads from a descriptor, and for which tests wait.
final class ReadTexts: Sendable {
    private struct State {
        var texts: [String] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let news = NSCondition()

    /// The texts read so far.
    var all: [String] { state.withLock { $0.texts } }

    /// Reads lines until the end.
    func follow(lines descriptor: Int32) {
        let own = dup(descriptor)
        Thread.detachNewThread { [self] in
            var rest: [UInt8] = []
            while let part = Self.read(own) {
                rest += part
                while let end = rest.firstIndex(of: 10) {
                    append(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeFirst(end + 1)
                }
            }
            end(own)
        }
    }

    /// Reads datagrams, each as a text, until an empty one.
    func follow(datagrams descriptor: Int32) {
        let own = dup(descriptor)
        Thread.detachNewThread { [self] in
            while let message = Self.read(own) { append(String(decoding: message, as: UTF8.self)) }
            end(own)
        }
    }

    /// Waits for a text from `index` on; returns nil after the time limit or at the end.
    func first(from index: Int, within seconds: Double, where isWanted: (String) -> Bool) -> String? {
        let deadline = Date(timeIntervalSinceNow: seconds)
        return news.withLock {
            while true {
                let (found, hasEnded) = state.withLock { state in
                    (state.texts.dropFirst(index).first(where: isWanted), state.hasEnded)
                }
                if found != nil || hasEnded { return found }
                guard news.wait(until: deadline) else { return nil }
            }
        }
    }

    /// Waits for the end; returns false after the time limit.
    func waitForEnd() -> Bool {
        let deadline = Date(timeIntervalSinceNow: Tool.bound)
        return news.withLock {
            while !state.withLock({ $0.hasEnded }) {
                guard news.wait(until: deadline) else { return false }
            }
            return true
        }
    }

    /// Waits for bytes and returns them; nil at the end.
    private static func read(_ descriptor: Int32) -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return count > 0 ? buffer[..<count] : nil
        }
    }

    private func append(_ text: String) {
        news.withLock {
            state.withLock { $0.texts.append(text) }
            news.broadcast()
        }
    }

    private func end(_ descriptor: Int32) {
        close(descriptor)
        news.withLock {
            state.withLock { $0.hasEnded = true }
            news.broadcast()
        }
    }
}
