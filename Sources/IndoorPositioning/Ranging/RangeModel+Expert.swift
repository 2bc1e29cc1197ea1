import IndoorVocabulary

/// The parameters of the measurement model of distances. <doc:Ranges> names the source of each.
extension RangeModel {
    /// The defaults. `expertList` names the unit of each, and what chose it.
    enum Expert {
        static let uwb = RangeErrors(deviation: 0.15, offsetDeviation: 0.2, excess: 1, correlationTime: 2)
        static let wifi = RangeErrors(deviation: 1, offsetDeviation: 1, excess: 4, correlationTime: 10)
        static let ble = RangeErrors(deviation: 1, offsetDeviation: 2, excess: 4, correlationTime: 10)
        static let other = RangeErrors(deviation: 1, offsetDeviation: 1, excess: 4, correlationTime: 10)
        static let excessShare = 0.5
        static let floorShare = 0.3
        static let radiusFloor = 0.3
    }

    /// The expert settings.
    package static let expertList: [Setting<RangeModel>] = [
        .number(
            "excessShare", \.excessShare, in: 0...1, "The probability that a distance belongs to a reflected path."
        ).expert(.estimate),
        .number(
            "floorShare", \.floorShare, in: 0.001...1,
            "The ratio of the probabilities to measure a distance with and without a floor in between."
        ).expert(.estimate),
        .number(
            "radiusFloor", \.radiusFloor, in: 0...1000, unit: "m",
            "The minimum radius while distances to anchors are measured."
        ).expert(.estimate),
    ]
}
