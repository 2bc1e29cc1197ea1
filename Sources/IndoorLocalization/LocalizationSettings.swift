/// A session's settings, with their defaults.
public struct LocalizationSettings: Hashable, Sendable {
    /// Only this venue is accepted; nil accepts every known one.
    public var forcedVenue: VenueID?
    /// Sightings weaker than this are not used, in dBm; one exactly at the threshold is kept.
    public var rssiThreshold = -127.0
    /// Time between two positions, from 50 ms to a day.
    public var positionInterval = Duration.milliseconds(500)
    /// Without a beacon of the venue for this long, the venue is lost; above 0 s, at most a day.
    public var venueLostTimeout = Duration.seconds(30)
    /// How the venue is told from others.
    public var venueSearch = VenueSearchSettings()
    /// How the floor is decided.
    public var floor = FloorSettings()
    /// How long a room or fence must hold before the device counts as in or out of it; from 0 s to a day.
    public var areaDwell = Duration.seconds(2)
    /// The first pause before a failed download or scan is tried again, above 0 s; it doubles up to a minute.
    public var retryPause = Duration.seconds(1)
    /// How positions are found.
    public var positioning = PositioningSettings()

    /// Creates the settings with their defaults.
    public init() {}

    /// What is out of range, each with its key, what is allowed and what was found; empty if all is well.
    ///
    /// A session with any of them ends with a critical error as soon as it starts.
    public var problems: [String] {
        var check = SettingsCheck()
        check.number("rssiThreshold", rssiThreshold, in: -127...0, "dBm")
        check.duration("positionInterval", positionInterval, from: .milliseconds(50))
        check.duration("venueLostTimeout", venueLostTimeout, above: .zero)
        check.duration("areaDwell", areaDwell, from: .zero)
        check.duration("retryPause", retryPause, above: .zero)
        check.duration("venueSearch.window", venueSearch.window, above: .zero)
        check.number("venueSearch.lead", venueSearch.lead, in: 1...1000, "")
        check.duration("venueSearch.contestedTime", venueSearch.contestedTime, from: .zero)
        check.duration("venueSearch.takeoverTime", venueSearch.takeoverTime, from: .zero)
        check.number("venueSearch.gnssAccuracy", venueSearch.gnssAccuracy, in: 0...10_000, "m")
        check.number("venueSearch.gnssCount", Double(venueSearch.gnssCount), in: 1...1000, "")
        check.duration("venueSearch.gnssSilence", venueSearch.gnssSilence, from: .zero)
        check.number("venueSearch.gnssRSSILimit", venueSearch.gnssRSSILimit, in: -127...0, "dBm")
        check.number("floor.settleProbability", floor.settleProbability, in: 0.5...1, "")
        check.duration("floor.patience", floor.patience, from: .zero)
        check.number("floor.switchProbability", floor.switchProbability, in: 0.5...1, "")
        check.duration("floor.switchTime", floor.switchTime, from: .zero)
        check.number("positioning.particleCount", Double(positioning.particleCount), in: 100...1_000_000, "")
        check.number("positioning.lookInterval", positioning.lookInterval, in: 0.1...60, "s")
        check.number("positioning.recoveryShare", positioning.recoveryShare, in: 0...1, "")
        check.number("positioning.levelShare", positioning.levelShare, in: 0...10, "")
        check.number("positioning.priorShare", positioning.priorShare, in: 0...10, "")
        check.number("positioning.radiusFloor", positioning.radiusFloor, in: 0...1000, "m")
        check.number("positioning.radiusFactor", positioning.radiusFactor, in: 0...100, "")
        return check.problems
    }

    /// The error of a session with these settings; nil if all is well.
    var error: LocalizationError? { LocalizationError(settingsProblems: problems) }
}
