/// A session's settings, with their defaults.
public struct LocalizationSettings: Hashable, Sendable {
    /// Only this venue is accepted; nil accepts every known one.
    public var forcedVenue: VenueID?
    /// The model of this device, as the headers of recordings name it; nil if unknown.
    ///
    /// If the venue's survey was made with such a device, too, a session knows how it hears, and begins with that
    /// (``RadioMap/Fit/devices``) instead of any receiver.
    public var device: String?
    /// Sightings weaker than this are not used, in dBm; one exactly at the threshold is kept.
    public var rssiThreshold = -127.0
    /// Time between two positions, from 50 ms to a day.
    public var positionInterval = Duration.milliseconds(500)
    /// Which of these positions are told; by default all.
    public var positionFilter = PositionFilter()
    /// When the radio has listened for this long without a beacon of the venue, the venue is lost; above 0 s, at most a
    /// day. The rests of a radio do not count.
    public var venueLostTimeout = Duration.seconds(30)
    /// How the venue is told from others.
    public var venueSearch = VenueSearchSettings()
    /// How far satellite positions are used.
    public var satellites = SatelliteUse.highAccuracy
    /// How the floor is decided.
    public var floor = FloorSettings()
    /// How long a room or fence must hold before the device counts as in or out of it; from 0 s to a day.
    public var areaDwell = Duration.seconds(2)
    /// After leaving a fence whose packet gives no timeout, entering it again is silent for this long; from 0 s to a day.
    public var fenceTimeout = Duration.zero
    /// The first pause before a failed download or scan is tried again, above 0 s; it doubles up to a minute.
    public var retryPause = Duration.seconds(1)
    /// What an earlier session remembered of the place counts for this long, the less the older; from 0 s to a day.
    public var memoryTimeout = Duration.seconds(1800)
    /// How motion is told and judged.
    public var motion = DeadReckoningSettings()
    /// How positions are found.
    public var positioning = PositioningSettings()

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range, each with its key, what is allowed and what was found; empty if all is well.
    ///
    /// A session with any of them ends with a critical error as soon as it starts.
    public var problems: [String] {
        Self.list.problems(in: self)
    }

    /// The error of a session with these settings; nil if all is well.
    var error: LocalizationError? { LocalizationError(settingsProblems: problems) }
}
