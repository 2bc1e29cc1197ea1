/// A session's settings, with their defaults.
public struct LocalizationSettings: Hashable, Sendable {
    /// Only this venue is accepted; nil accepts every known one.
    public var forcedVenue: VenueID?
    /// Sightings weaker than this are not used, in dBm; one exactly at the threshold is kept.
    public var rssiThreshold = -127.0
    /// Time between two positions, at least 50 ms.
    public var positionInterval = Duration.milliseconds(500)
    /// Without a beacon of the venue for this long, the venue is lost.
    public var venueLostTimeout = Duration.seconds(30)
    /// How the venue is told from others.
    public var venueSearch = VenueSearchSettings()
    /// How the floor is decided.
    public var floor = FloorSettings()
    /// How long a room or fence must hold before the device counts as in or out of it.
    public var areaDwell = Duration.seconds(2)
    /// The first pause before a failed download is tried again; it doubles up to a minute.
    public var retryPause = Duration.seconds(1)
    /// How positions are found.
    public var positioning = PositioningSettings()

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range, each with its key and what is allowed; empty if all is well.
    public var problems: [String] {
        var problems: [String] = []
        if !rssiThreshold.isFinite || rssiThreshold > 0 { problems.append("rssiThreshold must be 0 dBm or below") }
        if positionInterval < .milliseconds(50) { problems.append("positionInterval must be at least 50 ms") }
        if venueLostTimeout <= .zero { problems.append("venueLostTimeout must be above 0 s") }
        if areaDwell < .zero { problems.append("areaDwell must not be negative") }
        if retryPause <= .zero { problems.append("retryPause must be above 0 s") }
        if !(0.5...1).contains(floor.settleProbability) {
            problems.append("floor.settleProbability must be in [0.5, 1]")
        }
        if !(0.5...1).contains(floor.switchProbability) {
            problems.append("floor.switchProbability must be in [0.5, 1]")
        }
        if positioning.particleCount < 100 { problems.append("positioning.particleCount must be at least 100") }
        return problems
    }
}
