/// The distances of a time interval, prepared for weighing.
package struct RangeEvidence: Sendable {
    /// The distances to one anchor by one technology.
    struct Measured: Sendable {
        /// Index in the anchor field.
        var anchor: Int
        /// Number of the technology.
        var technology: Int
        /// The median distance in metres.
        var distance: Double
        /// Standard deviation of the distance along a free path in metres.
        var deviation: Double
        /// Weight of the distance as evidence, in (0, 1].
        var share: Double
    }

    /// The distances, ordered by technology and anchor; not empty.
    var measured: [Measured]
    /// Mean age of the readings in seconds.
    var age: Double
}
