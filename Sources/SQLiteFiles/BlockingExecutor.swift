import Dispatch

/// An executor for an actor that waits for a disk or for a lock of another program.
///
/// The tasks of a program share a few threads, one for each processor. These threads must not wait. Each actor that
/// owns a database file has its own executor, so that a slow disk delays only that actor.
package final class BlockingExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates an executor whose thread has a name in debuggers.
    package init(label: String) { queue = DispatchQueue(label: label) }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
