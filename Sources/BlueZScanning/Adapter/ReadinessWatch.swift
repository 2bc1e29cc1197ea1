import CBlueZ
import Dispatch
import IndoorVocabulary

/// A watch that calls back on a queue whenever a descriptor is readable.
///
/// A thread waits in poll(2) from the start to the end of the watch. The watch doesn't use a `DispatchSource`: on
/// Linux, creating and canceling descriptor sources on several threads corrupts the library's tables, and the process
/// crashes (swift-corelibs-libdispatch on GitHub, number 949, open in 2026). A radio with a duty cycle starts and ends
/// watches all the time.
package final class ReadinessWatch: Sendable {
    /// The descriptor that ends the wait; negative if no descriptor was free.
    private let alarm: Int32
    private let isOver = Guarded(false)

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - whenReady: Called on the queue whenever the descriptor is readable.
    ///   - whenDone: Called on the queue when the watch no longer uses the descriptor, which may then be closed.
    package init(
        _ descriptor: Int32, on queue: DispatchQueue, whenReady: @escaping @Sendable () -> Void,
        whenDone: @escaping @Sendable () -> Void
    ) {
        alarm = cbluez_open_alarm()
        DispatchQueue(label: "IndoorLocalization.ReadinessWatch", qos: .userInitiated).async { [self] in
            while cbluez_wait(descriptor, alarm, alarm < 0 ? Self.pollInterval : -1) >= 0, !hasEnded {
                // Level-triggered: the handler must read the data before the next poll.
                queue.sync { if !hasEnded { whenReady() } }
            }
            queue.async(execute: whenDone)
        }
    }

    deinit { cbluez_close(alarm) }

    /// Ends the watch. If called on the queue, `whenReady` isn't called after this function returns.
    package func cancel() {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { cbluez_raise_alarm(alarm) }
    }

    private var hasEnded: Bool { isOver.withLock { $0 } }

    /// The interval at which the thread checks for the end if there is no alarm descriptor, in milliseconds.
    private static let pollInterval: Int32 = 100
}
