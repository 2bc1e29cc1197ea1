import BeaconScanning
import IndoorVocabulary
import VenueModel

/// An actor that converts readings, answers and wake-ups to events of a machine, and carries out its directives.
///
/// A conforming actor stores the runtime and emits the outputs. The machine makes all decisions.
package protocol SessionShell: Actor {
    /// The machine that decides.
    associatedtype Machine: SessionMachine

    /// The machine with its tasks.
    var runtime: SessionRuntime<Machine> { get set }

    /// Emits an output: a directive without work.
    func emit(_ output: SessionDriver<Machine>.Step)
    /// Emits an error that the machine doesn't handle. The scan continues.
    func emit(_ error: LocalizationError)
    /// Notes a reading before the machine receives it. By default, this does nothing.
    func note(_ reading: DecodedReading)
    /// Notes a directive before it is carried out. By default, this does nothing.
    func note(_ directive: Machine.Directive)
    /// Emits outputs that depend on the machine's new state, after all directives. By default, this does nothing.
    func settle()
}

extension SessionShell {
    package func note(_ reading: DecodedReading) {}
    package func note(_ directive: Machine.Directive) {}
    package func settle() {}

    /// Passes an event to the machine, and carries out its directives.
    package func handle(_ event: Machine.Event) async { await perform(runtime.handle(event)) }

    /// Passes an event that may begin a session to the machine. Without a session, time starts at zero.
    package func begin(with event: Machine.Event) async {
        if runtime.driver.machine.isOver { runtime.begin(for: self) }
        await handle(event)
    }

    /// Handles a reading, after all wake-ups that are due before it.
    func receive(_ reading: SensorReading, from sender: SessionTimeline.Sender, of number: Int) async {
        guard runtime.isCurrent(sender, number) else { return }
        let (decoded, delay) = runtime.receive(reading, of: sender)
        note(decoded)
        let instant = decoded.reading.instant
        while runtime.isCurrent(sender, number), let steps = runtime.wake(before: instant) {
            await perform(steps)
        }
        guard runtime.isCurrent(sender, number) else { return }
        await perform(runtime.deliver(decoded, delay: delay))
        if sender == .source { runtime.waits.note(instant) }
    }

    /// Handles the end of a sender. An end without an error follows all wake-ups that are due until then.
    func finish(_ sender: SessionTimeline.Sender, _ error: (any Error)?, of number: Int) async {
        guard runtime.isCurrent(sender, number) else { return }
        if sender == .source { runtime.isScanning = false }
        let end = runtime.timeline.now
        if error == nil {
            var ending = SessionEnding(at: end)
            while runtime.isCurrent(sender, number), let steps = runtime.driver.wake(for: &ending) {
                await perform(steps)
            }
            guard runtime.isCurrent(sender, number) else { return }
        }
        await perform(runtime.driver.handle(Machine.ended(sender, error), at: end))
    }

    /// Emits an error of a part of the source. The scan continues.
    func report(_ error: LocalizationError, of number: Int) {
        if runtime.isCurrent(.source, number) { emit(error) }
    }

    /// Handles an answer, unless its request was replaced or cancelled.
    func receive(_ answer: VenueAnswer, of number: Int) async {
        if runtime.fetch.isCurrent(number) { await handle(Machine.answered(answer)) }
    }

    func receive(_ update: VenueUpdate, of number: Int) async {
        if runtime.updates.isCurrent(number) { await handle(Machine.updated(update)) }
    }

    /// Handles the result of a computation, unless that was replaced or cancelled.
    func receive(prepared event: Machine.Event, of number: Int) async {
        if runtime.preparation.isCurrent(number) { await handle(event) }
    }

    func wakeUp(_ number: Int) async {
        guard let wake = runtime.alarm.ring(number) else { return }
        await perform(runtime.wake(upTo: wake) ?? [])
    }

    private func perform(_ steps: [SessionDriver<Machine>.Step]) async {
        let session = runtime.scan.number
        for step in steps {
            note(step.directive)
            guard let work = runtime.driver.machine.work(for: step.directive) else {
                emit(step)
                continue
            }
            // On a recording, time doesn't advance until the result is available.
            guard let task = carryOut(work), runtime.source.pace == .recorded else { continue }
            await task.value
            guard runtime.scan.isCurrent(session) else { return }  // stopped meanwhile
        }
        settle()
        if runtime.driver.machine.isOver {
            runtime.updates.cancel()
            runtime.waits.endAll()
        }
        runtime.setAlarm(for: self)
    }

    /// Starts a piece of work; returns its task if the machine waits for the result.
    private func carryOut(_ work: SessionWork<Machine.Event>) -> Task<Void, Never>? {
        switch work {
        case .startScanning: runtime.startScanning(for: self)
        case .startReceiving: runtime.startReceiving(for: self)
        case .stopScanning: runtime.stopScanning()
        case .cancelFetch: runtime.cancelFetch()
        case .keep(let schedule):
            do { try runtime.keep(schedule, for: self) } catch { emit(error) }
        case .fetch(let request): return runtime.ask(request, for: self)
        case .prepare(let compute): return runtime.prepare(compute, for: self)
        }
        return nil
    }
}

/// The work of a shell.
package enum SessionWork<Event: Sendable>: Sendable {
    /// Start a scan, which replaces an earlier one.
    case startScanning
    /// Start the satellite receiver, in addition to the scan.
    case startReceiving
    /// Stop the scan and the satellite receiver.
    case stopScanning
    /// Send a request to the venue source, which replaces an earlier one.
    case fetch(VenueRequest)
    /// Compute an event outside the actor and deliver it to the machine; replaces an earlier computation.
    case prepare(@Sendable () async -> Event)
    /// Cancel the request and the computation, and discard their results.
    case cancelFetch
    /// Set the duty cycle of a steerable source.
    case keep(ScanSchedule)
}
