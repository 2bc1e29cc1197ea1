import IndoorVocabulary

/// The settings of dead reckoning and of its updates.
public struct DeadReckoningSettings: Hashable, Sendable {
    /// The time between two motion estimates, at most a day; zero emits one for every reading.
    public var interval = Duration.milliseconds(100)
    /// Whether satellite positions determine the location of the local frame on Earth.
    public var estimationMode = EstimationMode.local
    /// The minimum change of the heading in degrees to emit a new one, in [0, 180]; 0 emits every heading.
    public var headingFilter = 1.0
    /// The minimum change of the attitude in degrees to emit a new one, in [0, 180]; 0 emits every attitude.
    public var attitudeFilter = 1.0
    /// The magnetic declination in degrees, in [-180, 180]: the angle from true north eastwards to magnetic north.
    public var magneticDeclination = 0.0
    /// The number of consecutive steps that indicate walking, in [1, 20].
    package var stepsToWalk = Expert.stepsToWalk
    /// The maximum time between two steps of a walking user; above 0 s, at most a day.
    package var longestStep = Expert.longestStep
    /// The standard deviation of the acceleration in m/s² above which the device is moving, in [0.001, 100].
    package var fidgetAcceleration = Expert.fidgetAcceleration
    /// The rotation rate in rad/s above which the device is moving, in [0.001, 100].
    package var fidgetRotation = Expert.fidgetRotation
    /// How long the device must be still to be stationary, from 0 s to a day.
    package var settleTime = Expert.settleTime
    /// The default floor height in metres, in [1, 100].
    public var floorHeight = 4.5
    /// The vertical speed in m/s above which the user changes height, in [0.01, 10].
    package var climbSpeed = Expert.climbSpeed
    /// The vertical speed in m/s, in [0.01, 10], above which a standing user is in an elevator, and below which on an
    /// escalator.
    package var elevatorSpeed = Expert.elevatorSpeed
    /// The horizontal length of a step on stairs in metres, in [0, 2]: the depth of a tread.
    ///
    /// Source: ISO 21542:2021 requires at least 0.3 m.
    package var stairTread = Expert.stairTread
    /// The time for which a session without any beacon stays in the forced venue, by a submitted place and the motion
    /// after it; from 0 s to a day. After a failure of the radio for this long, the session loses the venue.
    public var reckoningLimit = Duration.seconds(1800)

    /// Creates the settings with their defaults.
    public init() {}
}

extension DeadReckoningSettings {
    /// The list of all motion settings.
    package static let list: [Setting<DeadReckoningSettings>] = publicList + expertList

    private static let publicList: [Setting<DeadReckoningSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "The time between two motion estimates; 0 emits one for every reading."),
        .choice(
            "estimationMode", \.estimationMode, fromWorst: [.local, .global],
            "Whether satellite positions determine the location of the local frame on Earth."),
        .number(
            "headingFilter", \.headingFilter, in: 0...180, unit: "°", better: .smaller,
            "The minimum change of the heading to emit a new one; 0 emits every heading."),
        .number(
            "attitudeFilter", \.attitudeFilter, in: 0...180, unit: "°", better: .smaller,
            "The minimum change of the attitude to emit a new one; 0 emits every attitude."),
        .number(
            "magneticDeclination", \.magneticDeclination, in: -180...180, unit: "°",
            "The magnetic declination: the angle from true north eastwards to magnetic north."),
        .duration(
            "reckoningLimit", \.reckoningLimit, from: .zero,
            "How long external fixes and motion keep a session in the forced venue without beacons. "
                + "If the radio fails for this long, the session leaves the venue."),
        .number(
            "floorHeight", \.floorHeight, in: 1...100, unit: "m", "The default floor height."),
    ]

    /// Returns these settings; replaces each value that is out of range by the value in `other`.
    func inRange(or other: DeadReckoningSettings) -> DeadReckoningSettings {
        var settings = self
        for setting in Self.list where !setting.limits.contains(setting.read(self)) {
            setting.write(&settings, setting.read(other))
        }
        return settings
    }
}

/// Whether a session determines from satellites where its local frame lies on Earth.
public enum EstimationMode: String, Hashable, Sendable, CaseIterable {
    /// Motion estimates are in metres from the origin; they have coordinates only if the program or a venue sets the
    /// frame's location on Earth.
    case local
    /// The session uses satellites from its start: after some ten metres of walking outdoors, estimates have
    /// coordinates.
    case global
}

/// The rate at which a session uses satellite positions.
public enum SatelliteUse: String, Hashable, Sendable, CaseIterable {
    /// The session uses no satellite positions: neither for the venue, nor outdoors, nor for motion.
    case off
    /// The session uses one satellite position every ten seconds.
    case lowAccuracy
    /// The session uses all satellite positions.
    case highAccuracy

    /// The time between two used positions; nil if no positions are used.
    package var interval: Duration? {
        switch self {
        case .off: nil
        case .lowAccuracy: .seconds(10)
        case .highAccuracy: .zero
        }
    }
}
