import IndoorVocabulary

/// A state machine that a partition's worker runs. It converts readings into outputs, and has a state from which
/// another process can continue.
package protocol PartitionMachine: Sendable {
    /// The time at which ``advance(to:)`` has work; nil without any.
    var wakeAt: Instant? { get }

    /// Adds a reading.
    mutating func observe(_ reading: TagReading)

    /// Advances all tags to an instant, and returns the outputs in the order of their instants.
    mutating func advance(to now: Instant) -> [FleetOutput]

    /// Returns the state as bytes, from which another process creates a machine that continues.
    func snapshot() -> [UInt8]
}

extension FleetMachine: PartitionMachine {}
