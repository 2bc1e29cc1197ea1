import IndoorVocabulary

/// The parameters of the engine that were chosen by measurement.
extension PositioningSettings {
    /// The defaults. `expertList` names the unit of each, and what chose it.
    enum Expert {
        static let globalUpdateInterval = 2.0
        static let recoveryShare = 0.03
        static let levelShare = 0.25
        static let priorShare = 0.2
        static let radiusFloor = 0.8
        static let radiusFactor = 1.05
        static let radiusInflation = 2.0
    }

    /// The expert settings.
    package static let expertList: [Setting<PositioningSettings>] = [
        .number(
            "globalUpdateInterval", \.globalUpdateInterval, in: 0.1...60, unit: "s", better: .smaller,
            "The time between two global updates, which search the whole venue for a lost position."
        ).expert(.tracks),
        .number(
            "recoveryShare", \.recoveryShare, in: 0...1, "The share of the particles that a global update replaces."
        ).expert(.tracks),
        .number(
            "levelShare", \.levelShare, in: 0...10,
            "The weight of the evidence for the floor; below 1, because successive readings share their errors."
        ).expert(.tracks),
        .number(
            "priorShare", \.priorShare, in: 0...10,
            "The weight per second of the prior over places (survey, walkable areas)."
        ).expert(.tracks),
        .number(
            "radiusFloor", \.radiusFloor, in: 0...1000, unit: "m",
            "The minimum radius, even if the filter is certain."
        ).expert(.tracks),
        .number(
            "radiusFactor", \.radiusFactor, in: 0...100,
            "The factor from the spread of the particles to the radius."
        ).expert(.tracks),
        .number(
            "radiusInflation", \.radiusInflation, in: 0...100,
            "How strongly the radius grows when the estimate disagrees with the latest evidence; 0 disables it."
        ).expert(.tracks),
    ]
}
