import IndoorVocabulary

/// How the venue is told from others, and indoors from outdoors.
public struct VenueSearchSettings: Hashable, Sendable {
    /// Sightings older than this no longer speak for a venue; above 0 s, at most a day.
    public var window = Duration.seconds(3)
    /// A venue whose beacons are this many times as strong, as a sum of amplitudes, as any other's leads; in [1, 1000].
    public var lead = 2.0
    /// While several venues are heard, one must lead for this long to be chosen; from 0 s to a day.
    public var contestedTime = Duration.seconds(2)
    /// While in a venue, another one must lead for this long to take over; from 0 s to a day.
    public var takeoverTime = Duration.seconds(5)
    /// While a beacon of the venue is heard well, so many of another one must be heard for it to take over, in [1, 1000]:
    /// a single one may be carried about.
    public var takeoverBeacons = 2
    /// A satellite position counts only with a 68 % radius of at most this many metres, in [0, 10000].
    public var gnssAccuracy = 15.0
    /// So many satellite positions in a row must agree, in [1, 1000].
    public var gnssCount = 2
    /// Satellites find the nearest venue within this many metres, also where the device is not in it, in [0, 100000]; within
    /// 0 m, only one within whose radius the device is.
    public var gnssSearchRadius = 500.0
    /// Satellites speak only if no beacon of the venue was heard well for this long; from 0 s to a day.
    public var gnssSilence = Duration.seconds(5)
    /// Weaker sightings are not heard well, in dBm, in [-127, 0]: across the street beacons are still heard, and don't
    /// contradict satellites that see the device outside.
    public var gnssRSSILimit = -75.0
    /// Satellites that see the device this many metres outside of a venue contradict its beacons, however well they are
    /// heard, in [0, 10000000]: then they stand somewhere else than the packet says, or others have their numbers.
    public var gnssFarDistance = 300.0
    /// Whether satellites never tell that the device is outdoors, nor which venue it is in.
    public var isLockedIndoors = false
    /// Outdoors, satellite positions with a 68 % radius of at most this many metres are told, in [0, 10000].
    public var outdoorAccuracy = 50.0

    /// Creates the settings with their defaults.
    public init() {}
}

extension VenueSearchSettings {
    /// The settings of the search for a venue, each once.
    package static let list: [Setting<VenueSearchSettings>] = [
        .duration("window", \.window, above: .zero, "Sightings older than this no longer speak for a venue."),
        .number(
            "lead", \.lead, in: 1...1000,
            "A venue whose beacons are this many times as strong, as a sum of amplitudes, as any other's leads."),
        .duration(
            "contestedTime", \.contestedTime, from: .zero,
            "While several venues are heard, one must lead for this long to be chosen."),
        .duration(
            "takeoverTime", \.takeoverTime, from: .zero,
            "While in a venue, another one must lead for this long to take over."),
        .wholeNumber(
            "takeoverBeacons", \.takeoverBeacons, in: 1...1000,
            "While a beacon of the venue is heard well, so many of another one must be heard for it to take over."),
        .number(
            "gnssAccuracy", \.gnssAccuracy, in: 0...10_000, unit: "m",
            "A satellite position counts only with a 68 % radius of at most this."),
        .wholeNumber("gnssCount", \.gnssCount, in: 1...1000, "So many satellite positions in a row must agree."),
        .duration(
            "gnssSilence", \.gnssSilence, from: .zero,
            "Satellites speak only if no beacon of the venue was heard well for this long."),
        .number(
            "gnssRSSILimit", \.gnssRSSILimit, in: -127...0, unit: "dBm",
            "Weaker sightings don't contradict satellites that see the device outside."),
        .number(
            "gnssSearchRadius", \.gnssSearchRadius, in: 0...100_000, unit: "m",
            "Satellites find the nearest venue within this distance, also where the device is not in it."),
        .number(
            "gnssFarDistance", \.gnssFarDistance, in: 0...10_000_000, unit: "m",
            "Satellites that see the device this far outside of a venue contradict its beacons, however strong."),
        .flag(
            "isLockedIndoors", \.isLockedIndoors,
            "Whether satellites never tell that the device is outdoors, nor which venue it is in."),
        .number(
            "outdoorAccuracy", \.outdoorAccuracy, in: 0...10_000, unit: "m",
            "Outdoors, satellite positions with a 68 % radius of at most this are told."),
    ]
}
