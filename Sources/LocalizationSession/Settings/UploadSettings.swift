import IndoorVocabulary

/// Settings for the upload of sightings and positions.
public struct UploadSettings: Hashable, Sendable {
    /// Whether sightings of beacons are uploaded.
    public var beacons = false
    /// Whether positions are uploaded, including outdoor positions.
    public var positions = false
    /// The time from the first record of a batch to its upload, from 0.1 s to a day.
    public var interval = Duration.seconds(60)
    /// The number of records at which a batch is uploaded immediately, in [1, 10,000].
    package var batchSize = 500
    /// The maximum number of records that wait for the network, in [1, 10,000,000]; when exceeded, the oldest are
    /// dropped and counted.
    public var queueSize = 100_000
    /// The minimum time between two records of one beacon, from 0 s to a day; 0 keeps every sighting.
    public var beaconInterval = Duration.seconds(1)
    /// The minimum time between two records of positions, from 0 s to a day; 0 keeps every position.
    public var positionInterval = Duration.seconds(1)
    /// The pause before the first retry of a failed batch, above 0 s; it doubles up to one minute.
    package var retryPause = Duration.seconds(5)

    /// Creates the default settings, with which nothing is uploaded.
    public init() {}

    /// Whether anything is uploaded.
    package var isOn: Bool { beacons || positions }

    /// The settings that are out of range; empty if all are valid.
    public var problems: [String] { Self.list.problems(in: self, prefix: "upload.") }

    /// The settings of the upload.
    package static let list: [Setting<UploadSettings>] = [
        .flag("beacons", \.beacons, "Whether sightings of beacons are uploaded."),
        .flag("positions", \.positions, "Whether positions are uploaded, including outdoor positions."),
        .duration(
            "interval", \.interval, from: .milliseconds(100), better: .smaller,
            "The time from the first record of a batch to its upload."),
        .wholeNumber(
            "batchSize", \.batchSize, in: 1...10_000,
            "The number of records at which a batch is uploaded immediately."
        ).expert(.estimate),
        .wholeNumber(
            "queueSize", \.queueSize, in: 1...10_000_000, better: .greater,
            "The maximum number of records that wait for the network; the oldest are dropped and counted."),
        .duration(
            "beaconInterval", \.beaconInterval, from: .zero, better: .smaller,
            "The minimum time between two records of one beacon; 0 keeps every sighting."),
        .duration(
            "positionInterval", \.positionInterval, from: .zero, better: .smaller,
            "The minimum time between two records of positions; 0 keeps every position."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The pause before the first retry of a failed batch; it doubles up to one minute."
        ).expert(.estimate),
    ]
}
