import IndoorPositioning
import IndoorVocabulary

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

extension LocalizationSettings {
    /// The settings of a session, each once.
    package static let list: [Setting<LocalizationSettings>] = {
        var list: [Setting<LocalizationSettings>] = [forcedVenueSetting, deviceSetting] + ownList
        list += VenueSearchSettings.list.map { $0.within("venueSearch", \.venueSearch) }
        list += PositionFilter.list.map { $0.within("positionFilter", \.positionFilter, .venue) }
        list += FloorSettings.list.map { $0.within("floor", \.floor, .venue) }
        list += DeadReckoningSettings.list.map { $0.within("motion", \.motion, .venue) }
        list += PositioningSettings.list.map { $0.within("positioning", \.positioning, .venue) }
        return list
    }()

    private static let ownList: [Setting<LocalizationSettings>] = [
        .number(
            "rssiThreshold", \.rssiThreshold, in: -127...0, unit: "dBm", better: .smaller, scope: .venue,
            "Sightings weaker than this are not used; one exactly at the threshold is kept."),
        .duration(
            "positionInterval", \.positionInterval, from: .milliseconds(50), better: .smaller, scope: .venue,
            "Time between two positions."),
        .duration(
            "venueLostTimeout", \.venueLostTimeout, above: .zero, scope: .venue,
            "When the radio has listened for this long without a beacon of the venue, the venue is lost."),
        .duration(
            "areaDwell", \.areaDwell, from: .zero, scope: .venue,
            "How long a room or fence must hold before the device counts as in or out of it."),
        .duration(
            "fenceTimeout", \.fenceTimeout, from: .zero, scope: .venue,
            "After leaving a fence whose packet gives no timeout, entering it again is silent for this long."),
        .choice(
            "satellites", \.satellites, fromWorst: [.off, .lowAccuracy, .highAccuracy],
            "How far satellite positions are used: none, one in ten seconds, or all."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The first pause before a failed download or scan is tried again; it doubles up to a minute."),
        .duration(
            "memoryTimeout", \.memoryTimeout, from: .zero, scope: .venue,
            "What an earlier session remembered of the place counts for this long, the less the older."),
    ]

    private static let forcedVenueSetting = Setting<LocalizationSettings>(
        key: "forcedVenue", limits: .wholeNumber(0...9_007_199_254_740_991), unit: "", isOptional: true,
        preference: nil, scope: .session,
        summary: "The number of the only venue that is accepted; `null` accepts every known one.",
        read: { $0.forcedVenue.map { .number(Double($0.rawValue)) } ?? .none },
        write: { settings, value in
            if case .number(let number) = value {
                settings.forcedVenue = Int(exactly: number).map { VenueID(rawValue: $0) }
            } else {
                settings.forcedVenue = nil
            }
        },
        dependentLimits: nil)
}

extension LocalizationSettings {
    private static let deviceSetting = Setting<LocalizationSettings>(
        key: "device", limits: .text, unit: "", isOptional: true, preference: nil, scope: .session,
        summary: "The model of this device, as headers of recordings name it: where the survey was made with one, too, "
            + "a session begins with how it hears. `null` expects any receiver.",
        read: { $0.device.map(SettingValue.text) ?? .none },
        write: { settings, value in
            if case .text(let name) = value { settings.device = name } else { settings.device = nil }
        },
        dependentLimits: nil)
}
