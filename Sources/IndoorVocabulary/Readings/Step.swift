/// A step that the device detected.
public struct Step: Hashable, Sendable {
    /// When the foot touched the ground.
    public var instant: Instant
    /// Length in metres; nil if unknown.
    public var length: Double?
    /// Direction of the step in degrees clockwise from the plan's top; nil if unknown.
    public var heading: Double?

    /// Creates a step.
    public init(instant: Instant, length: Double? = nil, heading: Double? = nil) {
        self.instant = instant
        self.length = length
        self.heading = heading
    }
}
