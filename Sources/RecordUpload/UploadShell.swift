import IndoorVocabulary
import LocalizationSession

/// The state of an actor that does what an `UploadMachine` decides.
package struct UploadRuntime: Sendable {
    package fileprivate(set) var machine: UploadMachine
    fileprivate let clock: SessionClock
    fileprivate var sending: Task<Void, Never>?
    /// The number of the sending whose answer counts; it changes when one begins and when one is cancelled.
    fileprivate var sendingNumber = 0
    fileprivate var wake: (at: Instant, task: Task<Void, Never>)?
    /// The number of stops, by which a start notices one that came while it waited for the queue.
    fileprivate var stops = 0

    /// Creates the state of an actor that isn't started.
    ///
    /// - Parameters:
    ///   - settings: settings without `problems`.
    ///   - clock: the clock that measures the pauses.
    ///   - seed: the seed of the random part of the pauses after failures.
    package init(_ settings: UploadSettings, clock: some Clock<Duration>, seed: UInt64) {
        machine = UploadMachine(settings, seed: seed)
        self.clock = SessionClock(clock)
    }

    fileprivate var now: Instant { Instant.zero.advanced(by: clock.elapsed()) }

    /// Cancels what is going on, for an actor that ends.
    package func cancel() {
        sending?.cancel()
        wake?.task.cancel()
    }
}

/// An actor that sends the elements of a queue to a destination: one after the other, again after a failure, with pauses
/// that grow.
package protocol UploadShell: Actor {
    /// The state of the sending. Only the protocol's own methods use it.
    var upload: UploadRuntime { get set }

    /// Sends the first elements of the queue, and removes them once the destination has confirmed them.
    ///
    /// - Parameters:
    ///   - size: the maximum number of elements.
    ///   - anew: whether elements that were sent together before must be divided.
    /// - Returns: the number of the elements that still wait.
    func sendNext(_ size: Int, anew: Bool) async throws -> Int
    /// Removes the elements that were sent last, as no destination will ever accept them.
    ///
    /// - Returns: the number of the elements that still wait.
    func rejectLast() async throws -> Int
    /// Reports the error of an attempt.
    func report(_ error: UploadError)
}

extension UploadShell {
    /// Handles an event of the queue, or a request of the caller.
    package func run(_ event: UploadMachine.Event) {
        for directive in upload.machine.handle(event, at: upload.now) {
            switch directive {
            case .send(let size, let anew):
                begin { try await $0.sendNext(size, anew: anew) }
            case .cancel:
                upload.sending?.cancel()
                upload.sendingNumber += 1
            case .reject: begin(evenIfCancelled: true) { try await $0.rejectLast() }
            case .report(let error): report(error)
            }
        }
        setAlarm()
    }

    /// The number of stops so far, for `startSending`.
    package var stopCount: Int { upload.stops }

    /// Starts, unless a stop came since the caller began to read the number of waiting elements.
    ///
    /// - Parameter stops: the `stopCount` before the number was read.
    package func startSending(waiting: Int, unlessStoppedSince stops: Int) {
        if upload.stops == stops { run(.start(waiting: waiting)) }
    }

    /// Stops: once this returns, nothing more is sent.
    package func stopSending() async {
        upload.stops += 1
        run(.stop)
        await upload.sending?.value
    }

    /// Begins a piece of work after the one before has ended.
    ///
    /// - Parameter evenIfCancelled: whether the work is done although it was cancelled before its turn, as a rejection is:
    ///   otherwise, the rejected elements would be sent once more.
    private func begin(
        evenIfCancelled: Bool = false, _ work: @escaping @Sendable (isolated Self) async throws -> Int
    ) {
        upload.sendingNumber += 1
        let (number, earlier) = (upload.sendingNumber, upload.sending)
        upload.sending = Task {
            // A cancelled one may still be on its way, and would confirm or reject the elements of this one.
            await earlier?.value
            await finish(number, evenIfCancelled: evenIfCancelled, work)
        }
    }

    /// Does the work, and handles its answer unless it was cancelled: a later one may have begun since.
    private func finish(
        _ number: Int, evenIfCancelled: Bool, _ work: @Sendable (isolated Self) async throws -> Int
    ) async {
        guard evenIfCancelled || number == upload.sendingNumber else { return }
        let answer: UploadMachine.Event
        do { answer = .removed(waiting: try await work(self)) } catch {
            answer = .failed(error as? UploadError ?? UploadError(.queue, "\(error)"))
        }
        if number == upload.sendingNumber { run(answer) }
    }

    /// Sets an alarm for the next wake-up time of the state machine.
    private func setAlarm() {
        let next = upload.machine.nextWake
        guard next != upload.wake?.at else { return }
        upload.wake?.task.cancel()
        upload.wake = next.map { next in
            let clock = upload.clock
            return (
                next,
                Task { [weak self] in
                    do { try await clock.sleep(until: Instant.zero.duration(to: next)) } catch { return }
                    await self?.wakeUp(at: next)
                }
            )
        }
    }

    private func wakeUp(at instant: Instant) {
        guard upload.wake?.at == instant else { return }  // replaced meanwhile
        upload.wake = nil
        run(.tick)
    }
}
