/// A measured distance between the device and an anchor: a fixed radio at a known place.
public struct RangeReading: Hashable, Sendable {
    /// The time of the measurement.
    public var instant: Instant
    /// The identifier of the anchor in its venue, of 1 to 128 bytes in UTF-8.
    public var anchor: String
    /// The distance in metres in space, from -100 to 10,000. Timing errors can make a short distance negative.
    public var distance: Double
    /// The standard deviation in metres that the driver reports for the distance, from 0.0001 to 1000; nil if unknown.
    public var deviation: Double?
    /// The technology of the measurement.
    public var technology: RangeTechnology

    /// Creates a measured distance.
    public init(
        instant: Instant, anchor: String, distance: Double, deviation: Double? = nil, technology: RangeTechnology
    ) {
        self.instant = instant
        self.anchor = anchor
        self.distance = distance
        self.deviation = deviation
        self.technology = technology
    }

    /// The distances in metres that a reading can have.
    package static let distances = -100.0...10_000.0
    /// The standard deviations in metres that a reading can have.
    package static let deviations = 1e-4...1000.0
    /// The maximum length of an anchor's or a technology's name, in bytes.
    package static let longestName = 128

    /// Whether distance and deviation are in their ranges.
    package var hasMeasurement: Bool {
        Self.distances.contains(distance) && deviation.map(Self.deviations.contains) ?? true
    }
}
