import IndoorLocalization

/// The marks of the ground truth that a user sets on the live map of a recorded session.
///
/// A class, as the server of the map and the recording share it.
final class LiveMarks: Sendable {
    private typealias Receiver = @Sendable (MarkedPlace, ContinuousClock.Instant) -> Void

    private let venue: Venue
    private let receiver = Guarded<Receiver?>(nil)

    /// - Parameter venue: the venue of the places.
    init(venue: Venue) { self.venue = venue }

    /// Begins to pass on marks when the recording has begun.
    func begin(_ receive: @escaping @Sendable (MarkedPlace, ContinuousClock.Instant) -> Void) {
        receiver.withLock { $0 = receive }
    }

    /// Passes on a mark; returns a sentence with the reason if that isn't possible.
    func mark(_ place: MarkedPlace) -> String? {
        let now = ContinuousClock.now
        if let problem = place.problem(in: venue) { return "The mark isn't stored: \(problem)." }
        guard let receive = receiver.withLock({ $0 }) else {
            return "The mark isn't stored, because no reading was recorded yet. Mark the place again later."
        }
        receive(place, now)
        return nil
    }
}
