import IndoorVocabulary
import VenueModel

/// The rules of a fleet, or of a partition of it: readings of many tags in, positions and events out.
///
/// The machine is a value with time and randomness as inputs: the same calls give the same outputs.
public struct FleetMachine: Sendable {
    /// The time at which ``advance(to:)`` has work; nil without any.
    public var wakeAt: Instant? { nil }

    /// Creates a machine without tags.
    ///
    /// - Parameters:
    ///   - venue: the venue, with its receivers.
    ///   - epoch: the number of the start, greater than that of each earlier one with the same tags.
    ///   - seed: the seed of all random numbers.
    public init(
        venue: Venue, settings: FleetSettings = FleetSettings(), register: TagRegister = TagRegister(),
        epoch: UInt64 = 1, seed: UInt64 = 0
    ) {}

    /// Adds a reading.
    public mutating func observe(_ reading: TagReading) {}

    /// Advances all tags to an instant, and returns the outputs in the order of their instants.
    ///
    /// A long step skips positions, never readings: each tag has at most one position for each call.
    public mutating func advance(to now: Instant) -> [FleetOutput] { [] }
}
