import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// An output of a session, with its instant: an element of `Localizer.outputs`, and of what a `SessionReplay` returns.
public struct SessionOutput: Hashable, Sendable {
    /// The kinds of outputs.
    public enum Content: Hashable, Sendable {
        /// The session has a new state.
        case state(LocalizationState)
        /// A position of the device in a venue.
        case position(Position)
        /// A position of the device while no floor is known.
        case outdoorPosition(OutdoorPosition)
        /// An estimate of the device's motion; a replay emits it on request only.
        indirect case motion(MotionEstimate)
        /// The device entered or left a room or a fence.
        case event(LocalizationEvent)
        /// The device came near to a beacon or a place that has an interaction, or went away from it.
        case interaction(InteractionEvent)
        /// The data of a venue that was found by its coordinate, or a newer version of a venue.
        case downloadedVenue(Venue)
        /// An error; the state tells whether the session goes on.
        case error(LocalizationError)
    }

    /// When the session emitted it.
    public var instant: Instant
    /// The output itself.
    public var content: Content

    /// Creates an output.
    public init(instant: Instant, content: Content) {
        self.instant = instant
        self.content = content
    }
}

extension SessionOutput.Content {
    /// Creates the output of a directive; nil for the work of a shell, and for headings and attitudes, which estimates
    /// contain.
    init?<Belief>(_ directive: LocalizationMachine<Belief>.Directive) {
        switch directive {
        case .publish(let state): self = .state(state)
        case .emit(let position): self = .position(position)
        case .emitOutdoor(let position): self = .outdoorPosition(position)
        case .emitMotion(.motion(let estimate)): self = .motion(estimate)
        case .emitEvent(let event): self = .event(event)
        case .emitInteraction(let event): self = .interaction(event)
        case .announceVenue(let venue): self = .downloadedVenue(venue)
        case .report(let error): self = .error(error)
        case .emitMotion(.heading), .emitMotion(.attitude): return nil
        case .startScanning, .startReceiving, .stopScanning, .fetchCatalogue, .fetchPacket, .prepareBelief,
            .cancelFetch,
            .schedule:
            return nil
        }
    }

    /// The output with its time on a wall clock, if it has one.
    ///
    /// - Parameter source: the source's own instant at an instant of the session.
    func timed(by clock: @autoclosure () -> WallClock?, at source: (Instant) -> Instant = { $0 }) -> Self {
        switch self {
        case .event(let event): .event(event.timed(by: clock(), at: source(event.instant)))
        case .interaction(let event): .interaction(event.timed(by: clock(), at: source(event.instant)))
        case .state, .position, .outdoorPosition, .motion, .downloadedVenue, .error: self
        }
    }
}
