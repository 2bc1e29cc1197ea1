import IndoorVocabulary

/// How motion is told, and how far it is believed.
public struct DeadReckoningSettings: Hashable, Sendable {
    /// Time between two motion estimates; zero tells one with every reading. At most a day.
    public var interval = Duration.milliseconds(100)
    /// Whether satellites are asked where on Earth the local frame lies.
    public var estimationMode = EstimationMode.local
    /// A heading that differs so much from the one told last is told, in degrees, in [0, 180]; 0 tells every one.
    public var headingFilter = 1.0
    /// An attitude turned so far from the one told last is told, in degrees, in [0, 180]; 0 tells every one.
    public var attitudeFilter = 1.0
    /// Degrees that a compass needle points east of true north, in [-180, 180].
    public var magneticDeclination = 0.0
    /// So many steps in a row are walking, in [1, 20]; fewer are a shift of the feet.
    public var stepsToWalk = 3
    /// Who walks takes the next step within this time; above 0 s, at most a day.
    public var longestStep = Duration.milliseconds(1200)
    /// A device whose acceleration varies by more than this standard deviation in m/s² is moved, in [0.001, 100].
    public var fidgetAcceleration = 0.3
    /// A device that turns faster than this in rad/s is moved, in [0.001, 100].
    public var fidgetRotation = 0.3
    /// A device that is quiet for this long is stationary; from 0 s to a day.
    public var settleTime = Duration.seconds(1)
    /// Metres from floor to floor where nobody tells, in [1, 100].
    public var floorHeight = 4.5
    /// Who rises or falls faster than this in m/s changes height, in [0.01, 10].
    public var climbSpeed = 0.15
    /// Standing still and rising or falling faster than this in m/s is an elevator, slower an escalator; in [0.01, 10].
    public var elevatorSpeed = 0.4
    /// Metres that a step on stairs leads ahead, in [0, 2]: the depth of a tread.
    ///
    /// Source: ISO 21542:2021 asks for 0.3 m at least.
    public var stairTread = Self.usualTread
    /// In the forced venue, a place from outside and motion after it keep a session going without any beacon for this long;
    /// from 0 s to a day. A radio that has failed for this long loses the venue.
    public var reckoningLimit = Duration.seconds(1800)

    /// What a step on stairs leads ahead, in metres, where nobody tells.
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

    /// The same settings, with another's values in place of those that are out of range.
    func inRange(or other: DeadReckoningSettings) -> DeadReckoningSettings {
        var settings = self
        for setting in Self.list where !setting.limits.contains(setting.read(self)) {
            setting.write(&settings, setting.read(other))
        }
        return settings
    }
}
