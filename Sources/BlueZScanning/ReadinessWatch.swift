import CBlueZ
import Dispatch
import IndoorVocabulary

/// Calls back on a queue whenever a descriptor has something to be read.
///
/// A thread waits in poll(2), from the beginning to the end of the watch. It is no `DispatchSource`: on Linux, those of
/// descriptors spoil the library's tables where they come and go on several threads, and the process crashes
/// (swift-corelibs-libdispatch on GitHub, number 949, open in 2026); a radio that rests between passes comes and goes all the time.
package final class ReadinessWatch: Sendable {
    /// Ends the wait; negative where no descriptor was free for it.
    private let alarm: Int32
    private let isOver = Guarded(false)

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - whenReady: called on the queue.
    ///   - whenDone: called on the queue once nobody looks at the descriptor any more, which may then be closed.
    package init(
        _ descriptor: Int32, on queue: DispatchQueue, whenReady: @escaping @Sendable () -> Void,
        whenDone: @escaping @Sendable () -> Void
    ) {
        alarm = cbluez_open_alarm()
        DispatchQueue(label: "IndoorLocalization.ReadinessWatch", qos: .userInitiated).async { [self] in
            while cbluez_wait(descriptor, alarm, alarm < 0 ? Self.patience : -1) >= 0, !hasEnded {
                // Level-triggered: the descriptor is looked at again only when what it had was taken.
                queue.sync { if !hasEnded { whenReady() } }
            }
            queue.async(execute: whenDone)
        }
    }

    deinit { cbluez_close(alarm) }

    /// Ends the watch: once this returns on the queue, `whenReady` is not called any more.
    package func cancel() {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { cbluez_raise_alarm(alarm) }
    }

    private var hasEnded: Bool { isOver.withLock { $0 } }

    /// How often the end is looked for where nothing can tell of it, in milliseconds.
    private static let patience: Int32 = 100
}
