/// The producing end of a live stream of readings, for a source that wraps another one.
///
/// The stream keeps the newest readings that its reader has not fetched; older ones are lost. The feed reports losses
/// in the same way as the sources for radios: with a ``RadioEvent`` that repeats the radio's latest status and has the
/// number of lost readings in its detail. It reports at most once per second, measured by the instants of the readings,
/// and when the stream ends. Before the first reading of a radio, there is no status to repeat; the feed then reports
/// the losses after that reading.
package final class ReadingFeed: Sendable {
    package typealias Stream = AsyncThrowingStream<SensorReading, any Error>

    /// The number of readings that may wait to be fetched, by default: as many as in the buffers of the sources for
    /// radios.
    package static let capacity = 65_536
    /// The time over which losses are summed up for a report.
    private static let interval = Duration.seconds(1)

    private struct Losses: Sendable {
        /// The radio's latest status; nil before the first reading of a radio.
        var radio: RadioEvent?
        /// The instant of the latest reading.
        var latest = Instant.zero
        var count = 0
        /// The time of the first lost reading that no report covers; nil if there is none.
        var since: Instant?

        /// Counts a reading that was delivered; returns a report if one is due.
        mutating func note(_ reading: SensorReading, isLost: Bool) -> RadioEvent? {
            latest = reading.instant
            switch reading {
            case .radio(let event): radio = event
            case .sighting, .advertisement:
                // A reading shows that the radio scans; not every source reports this status.
                if radio?.status.isFailure ?? true {
                    radio = RadioEvent(instant: latest, status: .scanning, adapter: radio?.adapter)
                }
            case .motion, .step, .pressure, .gnss, .fix, .range: break
            }
            if isLost { lose() }
            guard let since, since.duration(to: latest) >= ReadingFeed.interval else { return nil }
            return report()
        }

        mutating func lose() {
            count += 1
            since = since ?? latest
        }

        /// Returns the report of all losses since the last one; nil if there are none.
        mutating func report() -> RadioEvent? {
            guard count > 0, var event = radio else { return nil }
            event.instant = latest
            event.detail =
                count == 1
                ? "1 reading was lost because it was not read in time."
                : "\(count) readings were lost because they were not read in time."
            count = 0
            since = nil
            return event
        }
    }

    private let continuation: Stream.Continuation
    private let losses = Guarded(Losses())

    private let onLoss: @Sendable (SensorReading) -> Void

    private init(_ continuation: Stream.Continuation, _ onLoss: @escaping @Sendable (SensorReading) -> Void) {
        self.continuation = continuation
        self.onLoss = onLoss
    }

    /// Creates a stream and its producing end.
    ///
    /// - Parameter onLoss: called with each lost reading, including lost reports of losses.
    package static func makeStream(
        capacity: Int = capacity, onLoss: @escaping @Sendable (SensorReading) -> Void = { _ in }
    ) -> (stream: Stream, feed: ReadingFeed) {
        let (stream, continuation) = Stream.makeStream(bufferingPolicy: .bufferingNewest(capacity))
        return (stream, ReadingFeed(continuation, onLoss))
    }

    /// Returns a stream of the readings that `produce` yields in a separate task.
    ///
    /// The stream ends when `produce` returns, and with its error. The task is cancelled when the reader stops reading
    /// the stream.
    ///
    /// - Parameter onLoss: called with each lost reading, including lost reports of losses.
    package static func readings(
        capacity: Int = capacity, onLoss: @escaping @Sendable (SensorReading) -> Void = { _ in },
        producedBy produce: @escaping @Sendable (ReadingFeed) async throws -> Void
    ) -> Stream {
        .produced(bufferingPolicy: .bufferingNewest(capacity)) { continuation in
            let feed = ReadingFeed(continuation, onLoss)
            // Report the losses before the stream ends, with or without an error.
            defer { feed.reportLosses() }
            try await produce(feed)
        }
    }

    /// Calls `body` when the stream has ended, or when its reader has stopped reading.
    package func whenTerminated(_ body: @escaping @Sendable () -> Void) {
        continuation.onTermination = { _ in body() }
    }

    /// Delivers a reading, followed by a report of losses if one is due.
    package func yield(_ reading: SensorReading) {
        // Yield without the lock, because this can resume a waiting reader.
        let isLost = displaces(reading)
        if let report = losses.withLock({ $0.note(reading, isLost: isLost) }) { deliver(report) }
    }

    /// Reports the remaining losses and ends the stream, with an error if there is one.
    package func finish(throwing error: (any Error)? = nil) {
        reportLosses()
        continuation.finish(throwing: error)
    }

    private func reportLosses() {
        if let report = losses.withLock({ $0.report() }) { deliver(report) }
    }

    private func deliver(_ report: RadioEvent) {
        if displaces(.radio(report)) { losses.withLock { $0.lose() } }
    }

    /// Yields a reading; returns whether it displaced the oldest one, which is lost.
    private func displaces(_ reading: SensorReading) -> Bool {
        guard case .dropped(let oldest) = continuation.yield(reading) else { return false }
        onLoss(oldest)
        return true
    }
}

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
    /// Returns a stream of the elements that `produce` yields in a separate task.
    ///
    /// The stream ends when `produce` returns, and with its error. The task is cancelled when the consumer stops
    /// reading the stream.
    package static func produced(
        bufferingPolicy: Continuation.BufferingPolicy = .unbounded,
        by produce: @escaping @Sendable (Continuation) async throws -> Void
    ) -> AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream(bufferingPolicy: bufferingPolicy) { continuation in
            let task = Task {
                do {
                    try await produce(continuation)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Returns a stream of the results of `transform` for each element of this stream.
    ///
    /// The new stream has no buffer and no task: it fetches an element of this stream when its consumer requests one.
    /// Unread elements remain in this stream, which counts its own losses.
    package func transformed<Output: Sendable>(
        _ transform: @escaping @Sendable (Element) -> [Output]
    ) -> AsyncThrowingStream<Output, any Error> {
        let waiting = Guarded<ArraySlice<Output>>([])
        return AsyncThrowingStream<Output, any Error> {
            while true {
                if let next = waiting.withLock({ $0.popFirst() }) { return next }
                // A new iterator continues where the last one stopped, because all iterators of a stream share its
                // elements.
                var iterator = makeAsyncIterator()
                guard let element = try await iterator.next() else { return nil }
                let outputs = transform(element)
                waiting.withLock { $0 = outputs[...] }
            }
        }
    }
}
