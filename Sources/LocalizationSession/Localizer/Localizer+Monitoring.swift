import IndoorPositioning
import IndoorVocabulary
import VenueModel

// Values for the monitoring of a session, in addition to `activityCounts` and `state`.
extension Localizer {
    /// The latest place of this or an earlier session, indoors or outdoors; nil before the first one.
    public var latestPlace: LocatedPlace? { located?.place }

    /// The time since ``latestPlace`` was emitted, on the clock of a live source or in a recording's instants; nil
    /// before the first place.
    package var timeSinceLatestPlace: Duration? { located.map { max(.zero, age(of: $0)) } }

    /// The consistency of the estimated position with the evidence of the last seconds; nil without a venue.
    ///
    /// See `PositioningEngine.consistencyRatio`.
    package var consistencyRatio: Double? { runtime.driver.machine.visit?.belief.consistencyRatio }

    /// The durations of the session's work; nil unless ``measureCycles(by:)`` was called.
    package var cycleTimes: CycleTimes? { runtime.meter?.times }

    /// Begins to measure the durations of the session's work. An earlier measurement is discarded.
    ///
    /// The measurement reads the clock up to four times for each reading. By default, a session measures nothing.
    /// - Parameter clock: returns the time of a clock that increases steadily, such as `ContinuousClock`; nil ends the
    ///   measurement.
    public func measureCycles(by clock: (@Sendable () -> Duration)?) {
        runtime.meter = clock.map { CycleMeter(clock: $0) }
    }
}
