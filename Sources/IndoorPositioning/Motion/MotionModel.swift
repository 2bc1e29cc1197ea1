import IndoorVocabulary

/// A model of the device's motion, used where no sensor measures it.
public struct MotionModel: Hashable, Sendable {
    /// Whether the user takes steps that the sensors can detect; `false` for a device on wheels.
    public var usesSteps = true
    /// The standard deviation of a walker's velocity along each axis, in m/s: a mean speed of about 1.4 m/s.
    public var walkingSpeed = 1.1
    /// The seconds for which a walker keeps velocity and direction, between two turns. With a short time, the estimate
    /// tends towards standing and falls behind a person who keeps walking.
    package var velocityTime = Expert.velocityTime
    /// The rate per second at which a standing user begins to walk.
    package var startRate = Expert.startRate
    /// The rate per second at which a walking user stops.
    public var stopRate = 0.03
    /// The rate per second at which a walking user changes velocity.
    package var turnRate = Expert.turnRate
    /// The random displacement in metres of a standing device per second.
    ///
    /// With a survey, the engine uses twice this value, so that particles with a wrong lasting error don't stay together.
    package var standingWander = Expert.standingWander
    /// The random displacement in metres of a walking device per second, in addition to its velocity.
    package var walkingWander = Expert.walkingWander

    /// The standard deviation in degrees of the angle between the direction of walking and the direction of the device.
    package var headingBias = Expert.headingBias
    /// The share of devices with an initially unknown orientation.
    package var headingUnknown = Expert.headingUnknown
    /// The drift of this angle per second, in degrees.
    package var headingDrift = Expert.headingDrift
    /// The standard deviation of the direction of a single step, in degrees.
    package var stepTurn = Expert.stepTurn
    /// The standard deviation of a walker's step length from the mean step length, as a share.
    package var stepScale = Expert.stepScale
    /// The standard deviation of the length of a single step, as a share.
    package var stepLength = Expert.stepLength

    /// Creates the model with its defaults.
    public init() {}
}

extension MotionModel {
    /// The list of the motion model's settings.
    package static let list: [Setting<MotionModel>] = publicList + expertList

    private static let publicList: [Setting<MotionModel>] = [
        .flag(
            "usesSteps", \.usesSteps,
            "Whether the user takes steps that the sensors can detect; `false` for a device on wheels."),
        .number(
            "walkingSpeed", \.walkingSpeed, in: 0.01...100, unit: "m/s",
            "The standard deviation of a walking user's velocity along each axis."),
        .number("stopRate", \.stopRate, in: 0...1000, unit: "1/s", "The rate at which a walking user stops."),
    ]
}

/// The carrier of the device.
public enum MotionMode: String, Hashable, Sendable, CaseIterable {
    /// A walking person, with the device in a hand or a pocket.
    case walking
    /// A shopping cart that a person pushes.
    case shoppingCart
    /// A wheelchair.
    case wheelchair
    /// A driving robot.
    case robot
}

extension MotionModel {
    /// Creates the model for a carrier.
    ///
    /// | mode | steps | mean speed | keeps its direction for | turns | starts | stops | wander standing / moving |
    /// | --- | --- | --- | --- | --- | --- | --- | --- |
    /// | walking | yes | 1.4 m/s | 100 s | 0.1 /s | 0.4 /s | 0.03 /s | 0.15 / 0.3 m |
    /// | shoppingCart | – | 0.8 m/s | 3 s | – | 0.4 /s | 0.15 /s | 0.15 / 0.3 m |
    /// | wheelchair | – | 0.9 m/s | 5 s | – | 0.4 /s | 0.08 /s | 0.1 / 0.2 m |
    /// | robot | – | 0.6 m/s | 8 s | – | 0.5 /s | 0.05 /s | 0.03 / 0.1 m |
    ///
    /// A mean speed is 1.25 times `walkingSpeed`, as for a normal distribution in the plane. Carriers on wheels have no
    /// steps: their accelerometer measures the joints of the floor. Both steps detected from the joints and the absence
    /// of steps would be wrong. A person who pushes a cart walks more slowly, and stops and turns at the shelves. A
    /// wheelchair rolls steadily. A robot keeps its direction, and doesn't move while it stands. The values for wheels
    /// follow from these considerations; they are not measured.
    package init(_ mode: MotionMode) {
        self.init()
        guard mode != .walking else { return }
        usesSteps = false
        turnRate = 0
        switch mode {
        case .walking: break
        case .shoppingCart: (walkingSpeed, velocityTime, stopRate) = (0.65, 3, 0.15)
        case .wheelchair:
            (walkingSpeed, velocityTime, stopRate) = (0.75, 5, 0.08)
            (standingWander, walkingWander) = (0.1, 0.2)
        case .robot:
            (walkingSpeed, velocityTime, startRate, stopRate) = (0.5, 8, 0.5, 0.05)
            (standingWander, walkingWander) = (0.03, 0.1)
        }
    }
}
