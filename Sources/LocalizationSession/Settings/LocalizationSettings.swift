import IndoorPositioning
import IndoorVocabulary

/// The settings of a session.
public struct LocalizationSettings: Hashable, Sendable {
    /// The ID of the only accepted venue; nil accepts every known venue.
    public var forcedVenue: VenueID?
    /// The model of this device, as named in the headers of recordings; nil for any receiver.
    ///
    /// If the survey of the venue includes this model, a session begins with the receiver parameters of the model
    /// (`RadioMap.Fit.devices`) instead of those of an unknown receiver.
    public var device: String?
    /// The RSSI in dBm below which sightings are discarded; a sighting exactly at the threshold is kept.
    public var rssiThreshold = -127.0
    /// The time between two positions, from 50 ms to a day.
    public var positionInterval = Duration.milliseconds(500)
    /// The filter for emitted positions; by default, all are emitted.
    public var positionFilter = PositionFilter()
    /// The scanning time without a beacon of the venue after which the venue is lost; above 0 s, at most a day. Pauses
    /// of the radio don't count as scanning time.
    public var venueLostTimeout = Duration.seconds(30)
    /// The settings for the detection of the venue.
    public var venueSearch = VenueSearchSettings()
    /// The use of satellite positions: `off`, `lowAccuracy` (one per ten seconds) or `highAccuracy` (all).
    public var satellites = SatelliteUse.highAccuracy
    /// The settings for the detection of the floor.
    package var floor = FloorSettings()
    /// How long positions must be inside or outside a room or geofence before the session reports entry or exit; from 0
    /// s to a day.
    public var areaDwell = Duration.seconds(2)
    /// How long after an exit the session doesn't report entry into the same geofence, if the venue packet specifies no
    /// timeout; from 0 s to a day.
    public var fenceTimeout = Duration.zero
    /// The pause before the first retry of a failed download or scan, above 0 s; it doubles up to one minute.
    package var retryPause = Duration.seconds(1)
    /// How long the place from an earlier session's memory is used, with a weight that decreases with its age; from 0 s
    /// to a day.
    public var memoryTimeout = Duration.seconds(1800)
    /// The settings for motion and dead reckoning.
    public var motion = DeadReckoningSettings()
    /// The settings for positioning.
    public var positioning = PositioningSettings()

    /// Creates the settings with their defaults.
    public init() {}

    /// The settings that are out of range, each with its key, the valid values and the actual value; empty if all are
    /// valid.
    ///
    /// A session with invalid settings ends with a critical error as soon as it starts.
    public var problems: [String] {
        Self.list.problems(in: self)
    }

    /// The error of a session with these settings; nil if all are valid.
    var error: LocalizationError? { LocalizationError(settingsProblems: problems) }
}

extension LocalizationSettings {
    /// The settings of a session. Each occurs once.
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
            "The RSSI below which sightings are discarded; a sighting exactly at the threshold is kept."),
        .duration(
            "positionInterval", \.positionInterval, from: .milliseconds(50), better: .smaller, scope: .venue,
            "The time between two positions."),
        .duration(
            "venueLostTimeout", \.venueLostTimeout, above: .zero, scope: .venue,
            "The scanning time without a beacon of the venue after which the venue is lost."),
        .duration(
            "areaDwell", \.areaDwell, from: .zero, scope: .venue,
            "How long positions must be inside or outside a room or geofence before its entry or exit is reported."),
        .duration(
            "fenceTimeout", \.fenceTimeout, from: .zero, scope: .venue,
            "How long after an exit entry into the same geofence isn't reported, without a timeout in the packet."),
        .choice(
            "satellites", \.satellites, fromWorst: [.off, .lowAccuracy, .highAccuracy],
            "The use of satellite positions: `off`, `lowAccuracy` (one per ten seconds) or `highAccuracy` (all)."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The pause before the first retry of a failed download or scan; it doubles up to one minute."
        ).expert(.estimate),
        .duration(
            "memoryTimeout", \.memoryTimeout, from: .zero, scope: .venue,
            "How long the place from an earlier session's memory is used, with a weight that decreases with its age."),
    ]

    private static let forcedVenueSetting = Setting<LocalizationSettings>(
        key: "forcedVenue", limits: .wholeNumber(0...9_007_199_254_740_991), unit: "", isOptional: true,
        preference: nil, scope: .session,
        summary: "The ID of the only accepted venue; `null` accepts every known venue.",
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
        summary:
            "The model of this device, as named in the headers of recordings. If the survey includes it, a session "
            + "begins with its receiver parameters; `null` for any receiver.",
        read: { $0.device.map(SettingValue.text) ?? .none },
        write: { settings, value in
            if case .text(let name) = value { settings.device = name } else { settings.device = nil }
        },
        dependentLimits: nil)
}
