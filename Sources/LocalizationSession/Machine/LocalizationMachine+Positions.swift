import IndoorPositioning
import IndoorVocabulary
import VenueModel

extension LocalizationMachine {
    /// The belief is carried no longer than this beyond the latest position: as long as one counts as an answer.
    private static var longestCarry: Duration { .seconds(10) }

    /// Where the device is at an instant; nil while the session is not running.
    ///
    /// Before the latest position it is found between the two beside it. After that the belief is carried on, with all
    /// that was sensed by then; the session itself stays as it is.
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
