import IndoorVocabulary

/// The thresholds for the detection of the venue.
extension VenueSearchSettings {
    /// The defaults. `expertList` names the unit of each, and what chose it.
    enum Expert {
        static let window = Duration.seconds(3)
        static let lead = 2.0
        static let contestedTime = Duration.seconds(2)
        static let takeoverTime = Duration.seconds(5)
        static let takeoverBeacons = 2
        static let gnssAccuracy = 15.0
        static let gnssCount = 2
        static let gnssSilence = Duration.seconds(5)
        static let gnssRSSILimit = -75.0
        static let gnssFarDistance = 300.0
    }

    /// The expert settings.
    package static let expertList: [Setting<VenueSearchSettings>] = [
        .duration("window", \.window, above: .zero, "The maximum age of sightings that count as evidence for a venue.")
            .expert(.estimate),
        .number(
            "lead", \.lead, in: 1...1000,
            "The ratio by which the leading venue's beacons must exceed those of any other, as sums of amplitudes."
        ).expert(.estimate),
        .duration(
            "contestedTime", \.contestedTime, from: .zero,
            "How long a venue must lead to be selected while the radio receives several venues."
        ).expert(.estimate),
        .duration(
            "takeoverTime", \.takeoverTime, from: .zero,
            "How long another venue must lead to replace the current one."
        ).expert(.estimate),
        .wholeNumber(
            "takeoverBeacons", \.takeoverBeacons, in: 1...1000,
            "The number of received beacons that another venue needs while a beacon of the current one is strong."
        ).expert(.estimate),
        .number(
            "gnssAccuracy", \.gnssAccuracy, in: 0...10_000, unit: "m",
            "The maximum 68 % radius of satellite positions that count as evidence."
        ).expert(.estimate),
        .wholeNumber(
            "gnssCount", \.gnssCount, in: 1...1000, "The number of consecutive satellite positions that must agree."
        ).expert(.estimate),
        .duration(
            "gnssSilence", \.gnssSilence, from: .zero,
            "How long all beacons of the venue must have been weak before satellite positions count."
        ).expert(.estimate),
        .number(
            "gnssRSSILimit", \.gnssRSSILimit, in: -127...0, unit: "dBm",
            "The RSSI below which sightings are weak and don't contradict satellite positions outside the venue."
        ).expert(.estimate),
        .number(
            "gnssFarDistance", \.gnssFarDistance, in: 0...10_000_000, unit: "m",
            "The distance outside the venue from which satellite positions override beacons of any RSSI."
        ).expert(.estimate),
    ]
}
