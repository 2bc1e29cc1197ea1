import IndoorVocabulary

/// The durations of a session's work since the measurement began, as two histograms.
package struct CycleTimes: Hashable, Sendable {
    /// The numbers of durations between given bounds.
    package struct Histogram: Hashable, Sendable {
        /// The upper bounds of the buckets in seconds. A duration belongs to the first bucket whose bound it doesn't
        /// exceed; the last bucket has no bound.
        package static let bounds = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]
        /// The number of durations in each bucket, one more than there are bounds.
        package private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
        /// The sum of all durations in seconds.
        package private(set) var sum = 0.0
        /// The number of all durations.
        package var count: Int { counts.reduce(0, +) }

        /// Creates a histogram without durations.
        package init() {}

        /// Adds a duration.
        package mutating func add(_ duration: Duration) {
            let seconds = duration.seconds
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            sum += seconds
        }
    }

    /// The time that the session takes to handle a reading.
    package var readings = Histogram()
    /// The time of a scheduled step: the update of the belief, the position and its events.
    package var updates = Histogram()

    /// Creates histograms without durations.
    package init() {}
}

/// The measurement of a session's work with a clock from the caller.
struct CycleMeter: Sendable {
    /// Returns the time of a clock that advances while the session works.
    let clock: @Sendable () -> Duration
    private(set) var times = CycleTimes()

    init(clock: @escaping @Sendable () -> Duration) { self.clock = clock }

    mutating func endReading(begun: Duration) { times.readings.add(clock() - begun) }

    mutating func endUpdate(begun: Duration) { times.updates.add(clock() - begun) }
}
