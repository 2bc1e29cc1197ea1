import IndoorVocabulary

/// A model of the device's motion, used where no sensor measures it.
public struct MotionModel: Hashable, Sendable {
    /// Whether the user takes steps that the sensors can detect; `false` for a device on wheels.
    public var usesSteps = true
    /// The standard deviation of a walker's velocity along each axis, in m/s: a mean speed of about 1.4 m/s.
    public var walkingSpeed = 1.1
    /// The seconds for which a walker keeps velocity and direction, between two turns. With a short time, the estimate
    /// tends towards standing and falls behind a person who keeps walking.
    public var velocityTime = 100.0
    /// The rate per second at which a standing user begins to walk.
    public var startRate = 0.4
    /// The rate per second at which a walking user stops.
    public var stopRate = 0.03
    /// The rate per second at which a walking user changes velocity.
    public var turnRate = 0.1
    /// The random displacement in metres of a standing device per second.
    ///
    /// With a survey, the engine uses twice this value, so that particles with a wrong lasting error don't stay together.
    public var standingWander = 0.15
    /// The random displacement in metres of a walking device per second, in addition to its velocity.
    public var walkingWander = 0.3

    /// The standard deviation in degrees of the angle between the direction of walking and the direction of the device.
    public var headingBias = 20.0
    /// The share of devices with an initially unknown orientation.
    public var headingUnknown = 0.1
    /// The drift of this angle per second, in degrees.
    public var headingDrift = 2.0
    /// The standard deviation of the direction of a single step, in degrees.
    public var stepTurn = 8.0
    /// The standard deviation of a walker's step length from the mean step length, as a share.
    public var stepScale = 0.1
    /// The standard deviation of the length of a single step, as a share.
    public var stepLength = 0.1

    /// Creates the model with its defaults.
    public init() {}
}

extension MotionModel {
    /// The list of the motion model's settings.
    package static let list: [Setting<MotionModel>] = [
        .flag(
            "usesSteps", \.usesSteps,
            "Whether the user takes steps that the sensors can detect; `false` for a device on wheels."),
        .number(
            "walkingSpeed", \.walkingSpeed, in: 0.01...100, unit: "m/s",
            "The standard deviation of a walking user's velocity along each axis."),
        .number(
            "velocityTime", \.velocityTime, in: 0.01...86_400, unit: "s",
            "How long a walking user keeps velocity and direction."),
        .number(
            "startRate", \.startRate, in: 0...1000, unit: "1/s", "The rate at which a standing user begins to walk."),
        .number("stopRate", \.stopRate, in: 0...1000, unit: "1/s", "The rate at which a walking user stops."),
        .number(
            "turnRate", \.turnRate, in: 0...1000, unit: "1/s", "The rate at which a walking user changes velocity."),
        .number(
            "standingWander", \.standingWander, in: 0...100, unit: "m",
            "The random displacement of a standing device per second; twice this value with a survey."),
        .number(
            "walkingWander", \.walkingWander, in: 0...100, unit: "m",
            "The random displacement of a walking device per second, in addition to its velocity."),
        .number(
            "headingBias", \.headingBias, in: 0...180, unit: "°",
            "The standard deviation of the direction of walking from that of the device."),
        .number(
            "headingUnknown", \.headingUnknown, in: 0...1,
            "The share of devices with an initially unknown orientation."),
        .number(
            "headingDrift", \.headingDrift, in: 0...180, unit: "°", "The drift of the direction per second."),
        .number(
            "stepTurn", \.stepTurn, in: 0...180, unit: "°",
            "The standard deviation of the direction of a single step."),
        .number(
            "stepScale", \.stepScale, in: 0...1,
            "The standard deviation of a user's step length from the mean, as a share."),
        .number(
            "stepLength", \.stepLength, in: 0...1,
            "The standard deviation of the length of a single step, as a share."),
    ]
}
