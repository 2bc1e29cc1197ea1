/// What of the heard a scan delivers.
public enum ScanContent: Hashable, Sendable, CaseIterable {
    /// Advertisements that hold a beacon, each followed by its sighting.
    case beacons
    /// Every advertisement; one that holds a beacon is followed by its sighting.
    case everything
}
