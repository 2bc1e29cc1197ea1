import Glibc
import IndoorVocabulary

/// The cycles on their way to the thread of a sender.
///
/// A class, because the sender and its thread share it.
final class NMEAMailbox: Sendable {
    private struct State: Sendable {
        var cycles: [[UInt8]] = []
        var isEnding = false
        var hasEnded = false
        /// Resumed at the end of the thread.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// The read end of a pipe, which is readable after a call of `put(_:)` or `end()`.
    let descriptor: Int32
    private let other: Int32
    private let state = Guarded(State())

    /// - Throws: the number of the system's error.
    init(for destination: NMEADestination) throws(NMEAError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unreachable(destination, number: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, other) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(other)
    }

    /// Adds a cycle. If the mailbox is full because the thread is busy, the oldest cycle is lost.
    func put(_ cycle: [UInt8]) {
        state.withLock { state in
            if state.cycles.count == CycleQueue.capacity { state.cycles.removeFirst() }
            state.cycles.append(cycle)
        }
        ring()
    }

    /// Ends the thread once all cycles are written, or after a time limit.
    func end() {
        state.withLock { $0.isEnding = true }
        ring()
    }

    /// Returns the new cycles, and whether the thread is to end.
    func take() -> (cycles: [[UInt8]], isEnding: Bool) {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
        return state.withLock { state in
            defer { state.cycles = [] }
            return (state.cycles, state.isEnding)
        }
    }

    /// Waits until `noteEnd()`.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    /// Ends all calls of `waitForEnd()`.
    func noteEnd() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.hasEnded = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func ring() {
        var byte: UInt8 = 1
        // If the pipe is full, the thread wakes up anyway.
        _ = write(other, &byte, 1)
    }
}
