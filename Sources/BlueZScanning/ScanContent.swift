/// What of the heard a scan delivers.
public enum ScanContent: Hashable, Sendable, CaseIterable {
    /// The sightings of beacons, without the advertisements that held them.
    case beacons
    /// Every advertisement; one that holds a beacon is followed by its sighting.
    case everything
}
