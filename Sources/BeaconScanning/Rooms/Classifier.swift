/// A classifier that estimates from scans which of the trained rooms the device is in.
///
/// The caller passes scans in the order of their instants.
public protocol Classifier: Sendable {
    /// Estimates the room of a scan; returns nil if there is no valid answer, for example with too few beacons or
    /// without training.
    mutating func classify(_ scan: RoomScan) -> RoomEstimate?

    /// Forgets the rooms of earlier scans, for example after the device was elsewhere.
    mutating func forgetRooms()
}

extension Classifier {
    /// Does nothing, because a classifier without memory has nothing to forget.
    public mutating func forgetRooms() {}
}
