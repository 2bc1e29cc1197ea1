/// Tells from a scan which of the trained rooms the device is in.
///
/// A value: whoever holds it hands it scans in the order of their instants.
public protocol Classifier: Sendable {
    /// Which room a scan speaks for; nil if it allows no valid answer, as with too few beacons or no training.
    mutating func classify(_ scan: RoomScan) -> RoomEstimate?

    /// Forgets which room earlier scans spoke for, as when the device was elsewhere in between.
    mutating func forgetRooms()
}

extension Classifier {
    /// Does nothing: a classifier that takes each scan by itself has nothing to forget.
    public mutating func forgetRooms() {}
}
