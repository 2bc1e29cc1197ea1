import Dispatch
import Foundation
import IndoorVocabulary

/// Threads for work that takes long or waits for a disk, which the threads of tasks shouldn't do.
///
/// A thread inherits the priority of the one that creates it. The system may create a thread for tasks when one continues, so
/// that a second thread, of the usual priority, passes on what the first one reports.
package enum BackgroundThread {
    /// How a thread competes with others for the processors.
    package enum Priority: Hashable, Sendable {
        /// It uses only processor time that nothing else needs.
        case lowest
        /// It competes as all others do.
        case usual
    }

    /// The steps of a piece of work.
    package struct Progress: Hashable, Sendable {
        package var done: Int
        /// The number of all steps.
        package var steps: Int

        /// Creates the steps.
        package init(done: Int = 0, steps: Int = 1) { (self.done, self.steps) = (done, steps) }
    }

    /// The lowest priority of Linux (man 2 setpriority). There, it belongs to the thread that calls the function.
    private static let lowest: Int32 = 19

    /// What the thread has to pass on.
    private final class Mailbox<Value: Sendable>: Sendable {
        let news = DispatchSemaphore(value: 0)
        private let content = Guarded<(reports: [Progress], value: Value?)>(([], nil))

        func put(_ report: Progress) {
            content.withLock { $0.reports.append(report) }
            news.signal()
        }

        func put(_ value: Value) {
            content.withLock { $0.value = value }
            news.signal()
        }

        func take() -> (reports: [Progress], value: Value?) {
            content.withLock { content in
                defer { content.reports = [] }
                return content
            }
        }
    }

    /// Runs work on a thread of its own, and returns its value.
    ///
    /// - Parameters:
    ///   - reported: receives the progress that the work reports, in its order, and all of it before this function returns.
    ///   - work: the work, which gets a function that reports its progress.
    package static func run<Value: Sendable>(
        at priority: Priority, reported: @escaping @Sendable (Progress) async -> Void = { _ in },
        _ work: @escaping @Sendable (_ report: (Progress) -> Void) -> Value
    ) async -> Value {
        let (reports, reporting) = AsyncStream.makeStream(of: Progress.self)
        let passing = Task { for await report in reports { await reported(report) } }
        let result: Value = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let mailbox = Mailbox<Value>()
                let thread = Thread {
                    if priority == .lowest { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, lowest) }
                    mailbox.put(work { mailbox.put($0) })
                }
                thread.stackSize = 8 << 20
                thread.start()
                while true {
                    mailbox.news.wait()
                    let (reports, value) = mailbox.take()
                    for report in reports { reporting.yield(report) }
                    if let value { return continuation.resume(returning: value) }
                }
            }
        }
        reporting.finish()
        await passing.value
        return result
    }
}
