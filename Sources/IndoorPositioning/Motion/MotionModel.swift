import IndoorVocabulary

/// A model of how a carrier moves the device where no sensor measures it.
public struct MotionModel: Hashable, Sendable {
    /// Whether the carrier walks, so that the sensors detect steps; on wheels, only the radio shows motion.
    public var usesSteps = true
    /// The standard deviation of a walker's velocity along each axis, in m/s: a mean speed of about 1.4 m/s.
    public var walkingSpeed = 1.1
    /// The seconds for which a walker keeps velocity and direction, between two turns. With a short time, the estimate
    /// tends towards standing, and is behind a person who walks on.
    public var velocityTime = 100.0
    /// The probability a second that a standing person begins to walk.
    public var startRate = 0.4
    /// The probability a second that a walking person stops.
    public var stopRate = 0.03
    /// The probability a second that a walking person changes direction and speed.
    public var turnRate = 0.1
    /// The distance in metres that a standing device wanders within a second.
    public var standingWander = 0.15
    /// The distance in metres that a walking device wanders within a second beside its velocity.
    public var walkingWander = 0.3

    /// The standard deviation of the direction of walking from that of the device, in degrees.
    public var headingBias = 20.0
    /// The share of devices that are held otherwise, whose direction has no information at first.
    public var headingUnknown = 0.1
    /// The drift of the direction within a second, in degrees.
    public var headingDrift = 2.0
    /// The standard deviation of the direction of a single step, in degrees.
    public var stepTurn = 8.0
    /// The standard deviation of a walker's step length from the mean, as a share.
    public var stepScale = 0.1
    /// The standard deviation of the length of a single step, as a share.
    public var stepLength = 0.1

    /// Creates the model with its defaults.
    public init() {}
}

extension MotionModel {
    /// The numbers of the motion model, each once.
    package static let list: [Setting<MotionModel>] = [
        .flag(
            "usesSteps", \.usesSteps,
            "Whether whoever carries the device takes steps that its sensors feel; on wheels only the radio tells."),
        .number(
            "walkingSpeed", \.walkingSpeed, in: 0.01...100, unit: "m/s",
            "Standard deviation of a walker's velocity along each axis."),
        .number(
            "velocityTime", \.velocityTime, in: 0.01...86_400, unit: "s",
            "How long a walker keeps velocity and direction."),
        .number(
            "startRate", \.startRate, in: 0...1000, unit: "1/s", "Chance that somebody who stands begins to walk."),
        .number("stopRate", \.stopRate, in: 0...1000, unit: "1/s", "Chance that somebody who walks stops."),
        .number("turnRate", \.turnRate, in: 0...1000, unit: "1/s", "Chance that somebody who walks takes another way."),
        .number(
            "standingWander", \.standingWander, in: 0...100, unit: "m",
            "How far a standing device wanders within a second."),
        .number(
            "walkingWander", \.walkingWander, in: 0...100, unit: "m",
            "How far a walking device wanders within a second beside its velocity."),
        .number(
            "headingBias", \.headingBias, in: 0...180, unit: "°",
            "Standard deviation of the direction of walking from that of the device."),
        .number(
            "headingUnknown", \.headingUnknown, in: 0...1,
            "Share of devices held in some other way, whose direction tells nothing at first."),
        .number(
            "headingDrift", \.headingDrift, in: 0...180, unit: "°", "How far the direction drifts within a second."),
        .number(
            "stepTurn", \.stepTurn, in: 0...180, unit: "°", "Standard deviation of the direction of a single step."),
        .number(
            "stepScale", \.stepScale, in: 0...1,
            "Standard deviation of a walker's step length from the mean, as a share."),
        .number(
            "stepLength", \.stepLength, in: 0...1, "Standard deviation of the length of a single step, as a share."),
    ]
}
