import IndoorVocabulary

/// The thresholds for steps, climbs and stationary devices.
extension DeadReckoningSettings {
    /// The defaults. `expertList` names the unit of each, and what chose it.
    enum Expert {
        static let stepsToWalk = 3
        static let longestStep = Duration.milliseconds(1200)
        static let fidgetAcceleration = 0.3
        static let fidgetRotation = 0.3
        static let settleTime = Duration.seconds(1)
        static let climbSpeed = 0.15
        static let elevatorSpeed = 0.4
        static let stairTread = 0.3
    }

    /// The expert settings.
    package static let expertList: [Setting<DeadReckoningSettings>] = [
        .wholeNumber(
            "stepsToWalk", \.stepsToWalk, in: 1...20,
            "The number of consecutive steps that indicate walking."
        ).expert(.estimate),
        .duration(
            "longestStep", \.longestStep, above: .zero, "The maximum time between two steps of a walking user."
        ).expert(.estimate),
        .number(
            "fidgetAcceleration", \.fidgetAcceleration, in: 0.001...100, unit: "m/s²",
            "The standard deviation of the acceleration above which the device is moving."
        ).expert(.estimate),
        .number(
            "fidgetRotation", \.fidgetRotation, in: 0.001...100, unit: "rad/s",
            "The rotation rate above which the device is moving."
        ).expert(.estimate),
        .duration(
            "settleTime", \.settleTime, from: .zero, "How long the device must be still to be stationary."
        ).expert(.estimate),
        .number(
            "climbSpeed", \.climbSpeed, in: 0.01...10, unit: "m/s",
            "The vertical speed above which the user changes height."
        ).expert(.estimate),
        .number(
            "elevatorSpeed", \.elevatorSpeed, in: 0.01...10, unit: "m/s",
            "The vertical speed of a standing user that separates escalators (below) from elevators (above)."
        ).expert(.estimate),
        .number(
            "stairTread", \.stairTread, in: 0...2, unit: "m",
            "The horizontal length of a step on stairs: the depth of a tread."
        ).expert(.publications),
    ]
}
