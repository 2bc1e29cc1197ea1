import Dispatch
import IndoorVocabulary

/// A timer that resumes the readers whose subscription has messages.
///
/// libnats calls no function when a message arrives for a subscription that is read without a separate thread. One
/// timer checks all waiting subscriptions, which takes less than a microsecond for each.
final class NATSPulse: Sendable {
    private struct Waiter: Sendable {
        var subscription: OrderedSubscription
        var deadline: ContinuousClock.Instant
        var continuation: CheckedContinuation<Void, Never>
    }

    /// The longest delay between the arrival of a message and the resumption of its reader, in milliseconds.
    private static let period = 4

    private let waiters = Guarded<[Waiter]>([])
    private let timer: PulseTimer

    init() {
        let timer = DispatchSource.makeTimerSource(
            queue: DispatchQueue(label: "IndoorLocalization.NATSPulse", qos: .userInitiated))
        self.timer = PulseTimer(source: timer)
        timer.schedule(
            deadline: .now(), repeating: .milliseconds(Self.period), leeway: .milliseconds(1))
        timer.setEventHandler { [weak self] in self?.resumeReady() }
        timer.activate()
    }

    deinit { timer.source.cancel() }

    /// Waits until the subscription has a message, or until the deadline.
    func wait(for subscription: OrderedSubscription, until deadline: ContinuousClock.Instant) async {
        await withCheckedContinuation { continuation in
            waiters.withLock {
                $0.append(Waiter(subscription: subscription, deadline: deadline, continuation: continuation))
            }
        }
    }

    private func resumeReady() {
        let ready = waiters.withLock { waiters in
            guard !waiters.isEmpty else { return [Waiter]() }
            let now = ContinuousClock.now
            var ready: [Waiter] = []
            waiters.removeAll { waiter in
                guard waiter.subscription.isReady || waiter.deadline <= now else { return false }
                ready.append(waiter)
                return true
            }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }
}

/// `@unchecked`, since Dispatch doesn't declare that a source can be cancelled on any thread.
private struct PulseTimer: @unchecked Sendable {
    let source: any DispatchSourceTimer
}
