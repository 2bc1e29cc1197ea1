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

/// The trade-off between accuracy and power, as a single value.
///
/// | word | a position every | particles | radio listens |
/// | --- | --- | --- | --- |
/// | `best`, `bestForCart` | as the settings say | as the settings say | all the time |
/// | `low` | 2 s | 500 | half of the time, if the source supports it |
///
/// `bestForCart` also selects the motion model of a shopping cart, unless a motion mode is given.
public enum DesiredAccuracy: String, Hashable, Sendable, CaseIterable {
    /// The best accuracy that the settings allow.
    case best
    /// Less accurate and less frequent positions, to save power.
    case low
    /// The best accuracy for a device on a shopping cart.
    case bestForCart

    /// Applies this value to the settings of a session.
    func adjust(_ settings: inout LocalizationSettings) {
        switch self {
        case .best: break
        case .low:
            settings.positionInterval = max(settings.positionInterval, .seconds(2))
            settings.positioning.particleCount = min(settings.positioning.particleCount, 500)
        case .bestForCart: settings.positioning.motion = MotionModel(.shoppingCart)
        }
    }
}

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
