import Foundation
import IndoorLocalization

/// A calculation that a page requests: one at a time, for a limited processor time.
///
/// It runs on its own thread, because it would occupy one of the few threads that answer requests. A new request replaces
/// the earlier one, whose result nobody waits for.
final class PageCalculation: Sendable {
    /// The reason why a calculation has no result.
    enum End: Error, Hashable, Sendable {
        /// A newer request was received.
        case replaced
        /// The client has left.
        case cancelled
        /// The calculation needs more than the permitted processor time.
        case late(limit: Duration)
    }

    private let limit: Duration
    private let latest = Guarded(0)
    private let queue = DispatchQueue(label: "IndoorLocalization.PageCalculation", qos: .utility)

    /// - Parameter limit: the most processor time of a calculation. Unlike the time on a clock, other work on the machine
    ///   doesn't change it.
    init(limit: Duration = .seconds(60)) { self.limit = limit }

    /// The number of requests so far.
    var requests: Int { latest.withLock(\.self) }

    /// Returns the result of a calculation.
    ///
    /// - Parameter work: calculates; its argument throws when the calculation must end, and is to be called often.
    func run<Product: Sendable>(
        _ work: @escaping @Sendable (_ check: () throws(End) -> Void) throws(End) -> Product
    ) async throws(End) -> Product {
        // The request of a client that has left replaces no other.
        guard !Task.isCancelled else { throw .cancelled }
        let number = latest.withLock { latest in
            latest += 1
            return latest
        }
        let mark = CancellationMark()
        let result: Result<Product, End> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in
                    let start = Self.processorTime()
                    let check = { () throws(End) in
                        if mark.isSet.withLock(\.self) { throw .cancelled }
                        if self.requests != number { throw .replaced }
                        if Self.processorTime() - start > self.limit { throw .late(limit: self.limit) }
                    }
                    continuation.resume(
                        returning: Result { () throws(End) in
                            try check()
                            return try work(check)
                        })
                }
            }
        } onCancel: {
            mark.isSet.withLock { $0 = true }
        }
        return try result.get()
    }

    /// Returns the processor time of the current thread.
    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration(secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
    }
}

/// Whether the task of a calculation was cancelled. A class, because the cancelling thread and the calculation share it.
private final class CancellationMark: Sendable {
    let isSet = Guarded(false)
}
