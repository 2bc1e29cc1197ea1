import Dispatch

/// Calls back on a queue whenever a descriptor has something to be read.
final class ReadinessWatch {
    private let source: any DispatchSourceRead

    /// Begins to watch.
    ///
    /// - Parameters:
    ///   - whenReady: called on the queue.
    ///   - whenDone: called on the queue once nobody looks at the descriptor any more, which may then be closed.
    init(
        _ descriptor: Int32, on queue: DispatchQueue, whenReady: @escaping @Sendable () -> Void,
        whenDone: @escaping @Sendable () -> Void
    ) {
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler(handler: whenReady)
        source.setCancelHandler(handler: whenDone)
        source.activate()
    }

    /// Ends the watch.
    func cancel() { source.cancel() }
}
