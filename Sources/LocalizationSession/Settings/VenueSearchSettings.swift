import IndoorVocabulary

/// Settings for the detection of the venue, and of indoors and outdoors.
public struct VenueSearchSettings: Hashable, Sendable {
    /// The maximum age of sightings that count as evidence for a venue; above 0 s, at most a day.
    package var window = Expert.window
    /// The ratio by which the beacons of the leading venue must exceed those of any other, as sums of amplitudes; in
    /// [1, 1000].
    package var lead = Expert.lead
    /// How long a venue must lead to be selected while the radio receives several venues; from 0 s to a day.
    package var contestedTime = Expert.contestedTime
    /// How long another venue must lead to replace the current one; from 0 s to a day.
    package var takeoverTime = Expert.takeoverTime
    /// The number of received beacons that another venue needs to replace the current one while a beacon of the current
    /// one is strong, in [1, 1000]. A single beacon could be moving.
    package var takeoverBeacons = Expert.takeoverBeacons
    /// The maximum 68 % radius in metres of satellite positions that count as evidence, in [0, 10000].
    package var gnssAccuracy = Expert.gnssAccuracy
    /// The number of consecutive satellite positions that must agree, in [1, 1000].
    package var gnssCount = Expert.gnssCount
    /// The maximum distance in metres at which satellite positions select the nearest venue, in [0, 100000]. With 0 m,
    /// the device must be within the radius of the venue.
    public var gnssSearchRadius = 500.0
    /// How long all beacons of the venue must have been weak before satellite positions count; from 0 s to a day.
    package var gnssSilence = Expert.gnssSilence
    /// The RSSI in dBm below which sightings are weak and don't contradict satellite positions outside the venue, in
    /// [-127, 0]. Across the street, the radio still receives weak beacons.
    package var gnssRSSILimit = Expert.gnssRSSILimit
    /// The distance in metres outside the venue from which satellite positions override its beacons, regardless of
    /// their RSSI, in [0, 10000000]. At such a distance, the beacons have moved or other beacons have the same
    /// identities.
    package var gnssFarDistance = Expert.gnssFarDistance
    /// Whether the session ignores satellite positions when it detects the venue and the outdoors.
    public var isLockedIndoors = false
    /// The maximum 68 % radius in metres of emitted outdoor positions, in [0, 10000].
    public var outdoorAccuracy = 50.0

    /// Creates the settings with their defaults.
    public init() {}
}

extension VenueSearchSettings {
    /// The settings for the detection of the venue.
    package static let list: [Setting<VenueSearchSettings>] = publicList + expertList

    private static let publicList: [Setting<VenueSearchSettings>] = [
        .number(
            "gnssSearchRadius", \.gnssSearchRadius, in: 0...100_000, unit: "m",
            "The maximum distance at which satellite positions select the nearest venue."),
        .flag(
            "isLockedIndoors", \.isLockedIndoors,
            "Whether the session ignores satellite positions when it detects the venue and the outdoors."),
        .number(
            "outdoorAccuracy", \.outdoorAccuracy, in: 0...10_000, unit: "m",
            "The maximum 68 % radius of emitted outdoor positions."),
    ]
}
