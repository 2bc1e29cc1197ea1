import IndoorVocabulary

/// The parameters of the motion model that were chosen by measurement or estimated.
extension MotionModel {
    /// The defaults. `expertList` names the unit of each, and what chose it.
    enum Expert {
        static let velocityTime = 100.0
        static let startRate = 0.4
        static let turnRate = 0.1
        static let standingWander = 0.15
        static let walkingWander = 0.3
        static let headingBias = 20.0
        static let headingUnknown = 0.1
        static let headingDrift = 2.0
        static let stepTurn = 8.0
        static let stepScale = 0.1
        static let stepLength = 0.1
    }

    /// The expert settings.
    package static let expertList: [Setting<MotionModel>] = [
        .number(
            "velocityTime", \.velocityTime, in: 0.01...86_400, unit: "s",
            "How long a walking user keeps velocity and direction."
        ).expert(.tracks),
        .number(
            "startRate", \.startRate, in: 0...1000, unit: "1/s", "The rate at which a standing user begins to walk."
        ).expert(.tracks),
        .number(
            "turnRate", \.turnRate, in: 0...1000, unit: "1/s", "The rate at which a walking user changes velocity."
        ).expert(.tracks),
        .number(
            "standingWander", \.standingWander, in: 0...100, unit: "m",
            "The random displacement of a standing device per second; twice this value with a survey."
        ).expert(.tracks),
        .number(
            "walkingWander", \.walkingWander, in: 0...100, unit: "m",
            "The random displacement of a walking device per second, in addition to its velocity."
        ).expert(.tracks),
        .number(
            "headingBias", \.headingBias, in: 0...180, unit: "°",
            "The standard deviation of the direction of walking from that of the device."
        ).expert(.estimate),
        .number(
            "headingUnknown", \.headingUnknown, in: 0...1,
            "The share of devices with an initially unknown orientation."
        ).expert(.estimate),
        .number(
            "headingDrift", \.headingDrift, in: 0...180, unit: "°", "The drift of the direction per second."
        ).expert(.estimate),
        .number(
            "stepTurn", \.stepTurn, in: 0...180, unit: "°",
            "The standard deviation of the direction of a single step."
        ).expert(.estimate),
        .number(
            "stepScale", \.stepScale, in: 0...1,
            "The standard deviation of a user's step length from the mean, as a share."
        ).expert(.estimate),
        .number(
            "stepLength", \.stepLength, in: 0...1,
            "The standard deviation of the length of a single step, as a share."
        ).expert(.estimate),
    ]
}
