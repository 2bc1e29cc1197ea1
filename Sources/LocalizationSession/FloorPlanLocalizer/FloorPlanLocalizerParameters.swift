import BeaconScanning
import IndoorPositioning
import IndoorVocabulary

/// What a positioner is prepared with, with the defaults.
public struct FloorPlanLocalizerParameters: Hashable, Sendable {
    /// What carries the device; nil for the motion model of the settings.
    public var motionMode: MotionMode?
    /// How much power positions may cost.
    public var desiredAccuracy = DesiredAccuracy.best
    /// Which positions are told; nil for what the settings say, which is all of them if they say nothing.
    public var filter: PositionFilter?
    /// Whether satellites never tell that the device is outdoors.
    public var isLockedIndoors = true
    /// Nothing heard for so long, or heard so late, is `buffering`; above 0 s.
    public var bufferingAfter = Duration.seconds(3)
    /// Nothing heard for so long is `heavyBuffering`; at least `bufferingAfter`.
    public var heavyBufferingAfter = Duration.seconds(10)

    /// Creates parameters with their defaults.
    public init() {}

    /// Creates parameters for what carries the device.
    public init(motionMode: MotionMode) { self.motionMode = motionMode }

    /// The settings of a session on a floor plan, with these on top of others.
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

    /// What is out of range; empty if all is well.
    var problems: [String] {
        guard bufferingAfter > .zero, heavyBufferingAfter >= bufferingAfter else {
            return ["bufferingAfter must be above 0 s and at most heavyBufferingAfter"]
        }
        return []
    }
}
