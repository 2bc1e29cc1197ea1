import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// The longest prediction beyond the latest position.
    private static var longestCarry: Duration { .seconds(10) }

    /// Returns the position of the device at an instant; nil while the session emits no positions.
    ///
    /// Up to the latest position, the method interpolates between two positions. After it, the method predicts the
    /// position from all readings so far, without changing the session.
    package func position(at instant: Instant) -> Position? {
        guard case .localizationRunning(let running) = state, let visit, let latest = visit.history.latest else {
            return nil
        }
        if instant <= latest.instant { return visit.history.position(at: instant) }
        guard latest.instant.duration(to: instant) <= Self.longestCarry else { return nil }
        var later = visit
        later.belief.advance(to: instant)
        later.findFloor(at: instant)
        return later.position(on: running.mapID, at: instant)
    }
}
