import BeaconScanning
import IndoorVocabulary
import VenueModel

/// A machine that a `SessionShell` drives: the events that every session has, and the work that a shell does for it.
package protocol SessionMachine: TimedMachine {
    /// The event of a reading that arrived.
    ///
    /// - Parameter delay: the time since the reading was sensed, relative to the quickest delivery of the session.
    static func delivered(_ reading: DecodedReading, delay: Duration) -> Event
    /// The event of the end of a sender.
    ///
    /// - Parameter error: the reason; nil if the sender has nothing more to deliver.
    static func ended(_ sender: SessionTimeline.Sender, _ error: (any Error)?) -> Event
    /// The event of an answer to a request.
    static func answered(_ answer: VenueAnswer) -> Event
    /// The event of an update that the venue source emitted by itself.
    static func updated(_ update: VenueUpdate) -> Event

    /// The work that a directive asks for; nil if the directive is an output of the session.
    func work(for directive: Directive) -> SessionWork<Event>?
}

/// A state machine that schedules its own wake-ups.
package protocol TimedMachine: Sendable {
    /// An input of the machine.
    associatedtype Event: Sendable
    /// Work for the shell, or an output.
    associatedtype Directive: Hashable, Sendable

    /// The event of a wake-up.
    static var tick: Event { get }
    /// The instant of the next tick; nil if the machine waits for other events only.
    var nextWake: Instant? { get }
    /// Whether no session is running.
    var isOver: Bool { get }
    /// Handles an event and returns the directives for the shell.
    mutating func handle(_ event: Event, at now: Instant) -> [Directive]
    /// Moves all due instants to a timeline with another origin.
    mutating func shift(by duration: Duration)
}

/// A machine and its wake-ups on one timeline.
///
/// The driver delivers wake-ups that are due before a reading at their own instants, before that reading. Wake-ups that
/// are due at the reading's instant wait, because more readings may have the same instant. The same readings therefore
/// give the same outputs, however late they are delivered.
package struct SessionDriver<Machine: TimedMachine>: Sendable {
    /// A directive with its instant.
    package struct Step: Sendable {
        package var instant: Instant
        package var directive: Machine.Directive
    }

    package private(set) var machine: Machine
    /// The session's latest instant. Late readings are handled at this instant, so that time never decreases.
    private var latest: Instant?

    /// Creates a driver of a machine.
    package init(_ machine: Machine) { self.machine = machine }

    /// Passes an event to the machine.
    package mutating func handle(_ event: Machine.Event, at instant: Instant) -> [Step] {
        if machine.isOver { latest = nil }  // the next session has a time of its own
        let now = max(latest ?? instant, instant)
        latest = now
        return machine.handle(event, at: now).map { Step(instant: now, directive: $0) }
    }

    /// Delivers the next wake-up if it is due before `instant`; nil if none is.
    package mutating func wake(before instant: Instant) -> [Step]? {
        guard let wake = machine.nextWake, wake < instant else { return nil }
        return handle(Machine.tick, at: wake)
    }

    /// Delivers the next wake-up if it is due at or before `instant`; nil if none is.
    package mutating func wake(upTo instant: Instant) -> [Step]? {
        guard let wake = machine.nextWake, wake <= instant else { return nil }
        return handle(Machine.tick, at: wake)
    }

    /// Delivers the next wake-up that is due at the end of the readings; nil if none is, or after the last one.
    package mutating func wake(for ending: inout SessionEnding) -> [Step]? {
        guard ending.rounds < SessionEnding.limit, let steps = wake(upTo: ending.instant) else { return nil }
        ending.rounds += 1
        return steps
    }

    /// Moves the session's latest instant and all due instants to a timeline with another origin.
    package mutating func shift(by duration: Duration) {
        guard duration != .zero else { return }
        latest = latest?.advanced(by: duration)
        machine.shift(by: duration)
    }
}

/// The end of a session's readings, at which wake-ups that are due are delivered before the session ends.
///
/// These wake-ups may identify the venue or the floor before the last position. Their number is limited, because each
/// one can schedule the next at the same instant.
package struct SessionEnding: Sendable {
    /// One to find the venue, one to find the floor, and one for the last position.
    fileprivate static let limit = 3

    fileprivate let instant: Instant
    fileprivate var rounds = 0

    package init(at instant: Instant) { self.instant = instant }
}

/// A request to a venue source.
package enum VenueRequest: Hashable, Sendable {
    case catalogue
    case packet(VenueID)
}

/// An answer of a venue source.
package enum VenueAnswer: Sendable {
    case catalogue([VenueSummary])
    case catalogueFailed(LocalizationError)
    /// The fraction of a packet that has arrived.
    case progress(VenueID, Double)
    case packet(VenueID, Venue)
    case packetFailed(VenueID, LocalizationError)
}

extension VenueSource {
    /// Sends the answer to a request, for a packet preceded by its progress.
    func answer(_ request: VenueRequest, _ send: @escaping @Sendable (VenueAnswer) async -> Void) async {
        let answer: VenueAnswer
        switch request {
        case .catalogue:
            do { answer = .catalogue(try await catalogue()) } catch { answer = .catalogueFailed(failure(error)) }
        case .packet(let id):
            do {
                answer = .packet(id, try await packet(for: id, reporting: { await send(.progress(id, $0)) }))
            } catch {
                answer = .packetFailed(id, failure(error))
            }
        }
        await send(answer)
    }

    /// Returns the packet of a venue. Reports its progress in order beforehand, from any thread on which the source
    /// sends it.
    private func packet(
        for id: VenueID, reporting report: @escaping @Sendable (Double) async -> Void
    ) async throws -> Venue {
        let (fractions, continuation) = AsyncStream.makeStream(of: Double.self)
        let reporting = Task { for await fraction in fractions { await report(fraction) } }
        let result: Result<Venue, any Error>
        do { result = .success(try await packet(for: id, progress: { continuation.yield($0) })) } catch {
            result = .failure(error)
        }
        continuation.finish()
        await reporting.value
        return try result.get()
    }

    private func failure(_ error: any Error) -> LocalizationError {
        LocalizationError(reporting: error, code: .generic, "a venue request failed")
    }
}

extension CurrentTask {
    /// Sends a request to a venue source, which replaces the request before.
    ///
    /// - Parameter answer: receives an answer and the number of this task, which may have been replaced meanwhile.
    /// - Returns: the task, which ends after the last answer was handled.
    mutating func ask<Shell: Actor>(
        _ venues: any VenueSource, _ request: VenueRequest, for shell: Shell,
        answer: @escaping @Sendable (isolated Shell, VenueAnswer, Int) async -> Void
    ) -> Task<Void, Never> {
        begin { number in
            Task { [weak shell] in
                await venues.answer(request) { [weak shell] received in
                    if let shell { await answer(shell, received, number) }
                }
            }
        }
    }
}
