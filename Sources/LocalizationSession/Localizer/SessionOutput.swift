import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// An output of a session with its instant, from ``Localizer/outputs`` or a ``SessionReplay``.
public struct SessionOutput: Hashable, Sendable {
    /// The kinds of outputs.
    public enum Content: Hashable, Sendable {
        /// The session changed its state.
        case state(LocalizationState)
        /// A position of the device in a venue.
        case position(Position)
        /// A position of the device while no floor is known.
        case outdoorPosition(OutdoorPosition)
        /// An estimate of the device's motion; a replay emits it on request only.
        indirect case motion(MotionEstimate)
        /// The device entered or left a room or a fence.
        case event(LocalizationEvent)
        /// The device approached or left a beacon or a place that has an interaction.
        case interaction(InteractionEvent)
        /// The session found a venue by its coordinate, or the venue source stored a newer version of a venue.
        case downloadedVenue(Venue)
        /// An error occurred; the state shows whether the session continues.
        case error(LocalizationError)
        /// A reason for the absence of positions has lasted 5 s, has changed, or has ended; see ``SessionDiagnosis``.
        indirect case diagnosis(SessionDiagnosis)
    }

    /// The instant at which the session emitted the output.
    public var instant: Instant
    /// The content of the output.
    public var content: Content

    /// Creates an output.
    package init(instant: Instant, content: Content) {
        self.instant = instant
        self.content = content
    }
}

extension SessionOutput.Content {
    /// Creates the output of a directive. Returns nil for directives that the shell carries out, and for headings and
    /// attitudes, which motion estimates contain.
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
        case .diagnose(let diagnosis): self = .diagnosis(diagnosis)
        case .emitMotion(.heading), .emitMotion(.attitude): return nil
        case .startScanning, .startReceiving, .stopScanning, .fetchCatalogue, .fetchPacket, .prepareBelief,
            .cancelFetch,
            .schedule:
            return nil
        }
    }

    /// Returns the output with its wall-clock time, if it is of a kind that has one.
    ///
    /// - Parameter source: returns the source's instant for an instant of the session.
    func timed(by clock: @autoclosure () -> WallClock?, at source: (Instant) -> Instant = { $0 }) -> Self {
        switch self {
        case .event(let event): .event(event.timed(by: clock(), at: source(event.instant)))
        case .interaction(let event): .interaction(event.timed(by: clock(), at: source(event.instant)))
        case .state, .position, .outdoorPosition, .motion, .downloadedVenue, .error, .diagnosis: self
        }
    }
}
