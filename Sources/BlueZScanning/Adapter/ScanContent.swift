/// The readings that a scan delivers.
public enum ScanContent: Hashable, Sendable, CaseIterable {
    /// The sightings of beacons, without the advertisements that contain them.
    case beacons
    /// Every advertisement. The sighting follows an advertisement that contains a beacon.
    case everything
}
