import IndoorVocabulary

/// The settings of dead reckoning, and of its reports.
public struct DeadReckoningSettings: Hashable, Sendable {
    /// The time between two motion estimates; zero emits one with every reading. At most a day.
    public var interval = Duration.milliseconds(100)
    /// Whether a session determines from satellites where its local frame lies on Earth.
    public var estimationMode = EstimationMode.local
    /// The smallest change of the heading that is reported, in degrees, in [0, 180]; 0 reports every heading.
    public var headingFilter = 1.0
    /// The smallest turn of the attitude that is reported, in degrees, in [0, 180]; 0 reports every attitude.
    public var attitudeFilter = 1.0
    /// The magnetic declination: the degrees by which magnetic north lies east of true north, in [-180, 180].
    public var magneticDeclination = 0.0
    /// The number of consecutive steps from which on they are walking, in [1, 20]; fewer are a movement on the spot.
    public var stepsToWalk = 3
    /// The longest time between two steps of a walk; above 0 s, at most a day.
    public var longestStep = Duration.milliseconds(1200)
    /// The standard deviation of the acceleration in m/s² above which the device is fidgeting, in [0.001, 100].
    public var fidgetAcceleration = 0.3
    /// The turn rate in rad/s above which the device is fidgeting, in [0.001, 100].
    public var fidgetRotation = 0.3
    /// The quiet time after which a device is stationary; from 0 s to a day.
    public var settleTime = Duration.seconds(1)
    /// The height in metres from floor to floor without other information, in [1, 100].
    public var floorHeight = 4.5
    /// The vertical speed in m/s above which the device changes height, in [0.01, 10].
    public var climbSpeed = 0.15
    /// The vertical speed in m/s that distinguishes a faster elevator from a slower escalator while standing; in
    /// [0.01, 10].
    public var elevatorSpeed = 0.4
    /// The distance in metres of a step on stairs, in [0, 2]: the depth of a tread.
    ///
    /// Source: ISO 21542:2021 requires at least 0.3 m.
    public var stairTread = Self.usualTread
    /// The time for which a submitted place and the motion after it keep a session in the forced venue without any
    /// beacon; from 0 s to a day. After a failure of the radio for this long, the session loses the venue.
    public var reckoningLimit = Duration.seconds(1800)

    /// The default distance of a step on stairs, in metres.
    static let usualTread = 0.3

    /// Creates the settings with their defaults.
    public init() {}
}

extension DeadReckoningSettings {
    /// The settings of motion, each once.
    package static let list: [Setting<DeadReckoningSettings>] = tellingList + judgingList + climbingList

    private static let tellingList: [Setting<DeadReckoningSettings>] = [
        .duration(
            "interval", \.interval, from: .zero, better: .smaller,
            "Time between two motion estimates; 0 tells one with every reading."),
        .choice(
            "estimationMode", \.estimationMode, fromWorst: [.local, .global],
            "Whether satellites are asked, from the beginning on, where on Earth the local frame lies."),
        .number(
            "headingFilter", \.headingFilter, in: 0...180, unit: "°", better: .smaller,
            "A heading that differs so much from the one told last is told; 0 tells every one."),
        .number(
            "attitudeFilter", \.attitudeFilter, in: 0...180, unit: "°", better: .smaller,
            "An attitude turned so far from the one told last is told; 0 tells every one."),
        .number(
            "magneticDeclination", \.magneticDeclination, in: -180...180, unit: "°",
            "How far a compass needle points east of true north."),
        .duration(
            "reckoningLimit", \.reckoningLimit, from: .zero,
            "In the forced venue, a place from outside and motion keep a session going without any beacon for this long. "
                + "A radio that has failed for this long loses the venue."),
    ]

    private static let judgingList: [Setting<DeadReckoningSettings>] = [
        .wholeNumber(
            "stepsToWalk", \.stepsToWalk, in: 1...20,
            "So many steps in a row are walking; fewer are a shift of the feet."),
        .duration(
            "longestStep", \.longestStep, above: .zero, "Who walks takes the next step within this time."),
        .number(
            "fidgetAcceleration", \.fidgetAcceleration, in: 0.001...100, unit: "m/s²",
            "A device whose acceleration varies by more than this standard deviation is moved."),
        .number(
            "fidgetRotation", \.fidgetRotation, in: 0.001...100, unit: "rad/s",
            "A device that turns faster than this is moved."),
        .duration(
            "settleTime", \.settleTime, from: .zero, "A device that is quiet for this long is stationary."),
    ]

    private static let climbingList: [Setting<DeadReckoningSettings>] = [
        .number(
            "floorHeight", \.floorHeight, in: 1...100, unit: "m", "Height from floor to floor where nobody tells."),
        .number(
            "climbSpeed", \.climbSpeed, in: 0.01...10, unit: "m/s",
            "Who rises or falls faster than this changes height."),
        .number(
            "elevatorSpeed", \.elevatorSpeed, in: 0.01...10, unit: "m/s",
            "Standing still and rising or falling faster than this is an elevator, slower an escalator."),
        .number(
            "stairTread", \.stairTread, in: 0...2, unit: "m", "How far a step on stairs leads ahead."),
    ]

    /// Returns these settings, with the values of others in place of those that are out of range.
    func inRange(or other: DeadReckoningSettings) -> DeadReckoningSettings {
        var settings = self
        for setting in Self.list where !setting.limits.contains(setting.read(self)) {
            setting.write(&settings, setting.read(other))
        }
        return settings
    }
}
