import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

/// The parameters of a floor plan localizer's session.
public struct FloorPlanLocalizerParameters: Hashable, Sendable {
    /// The carrier of the device; nil for the motion model of the settings.
    public var motionMode: MotionMode?
    /// The trade-off between accuracy and power consumption.
    public var desiredAccuracy = DesiredAccuracy.best
    /// The filter of the emitted positions; nil for the filter of the settings, which by default emits all positions.
    public var filter: PositionFilter?
    /// Whether the session ignores satellite positions as evidence that the device is outdoors.
    public var isLockedIndoors = true
    /// The silence, or the delay of the readings, after which the state is `buffering`; above 0 s.
    public var bufferingAfter = Duration.seconds(3)
    /// The silence after which the state is `heavyBuffering`; at least `bufferingAfter`.
    public var heavyBufferingAfter = Duration.seconds(10)

    /// Creates parameters with their defaults.
    public init() {}

    /// Creates parameters for a carrier of the device.
    public init(motionMode: MotionMode) { self.motionMode = motionMode }

    /// Returns the settings of a session on a floor plan, with these parameters on top of other settings.
    func settings(_ base: LocalizationSettings, venue: VenueID) -> SettingsStack {
        var settings = base
        settings.forcedVenue = venue
        if desiredAccuracy == .bestForCart { desiredAccuracy.adjust(&settings) }
        if let motionMode { settings.positioning.motion = MotionModel(motionMode) }
        if let filter { settings.positionFilter = filter }
        settings.venueSearch.isLockedIndoors = isLockedIndoors
        guard desiredAccuracy == .low else { return SettingsStack(localization: settings) }
        DesiredAccuracy.low.adjust(&settings)
        return SettingsStack(localization: settings, scanner: ScannerSettings(powerMode: .aggressive))
    }

    /// The parameters that are out of range; empty if all are valid.
    var problems: [String] {
        guard bufferingAfter > .zero, heavyBufferingAfter >= bufferingAfter else {
            return ["bufferingAfter must be above 0 s and at most heavyBufferingAfter"]
        }
        return []
    }
}
