import IndoorVocabulary

/// What of a session or a scan is uploaded, and when.
public struct UploadSettings: Hashable, Sendable {
    /// Whether the beacons that are heard are uploaded.
    public var beacons = false
    /// Whether positions are uploaded, those outdoors, too.
    public var positions = false
    /// Time from the first record of a batch to its upload, from 0.1 s to a day.
    public var interval = Duration.seconds(60)
    /// A batch of this many records is uploaded at once, in [1, 10,000].
    public var batchSize = 500
    /// How many records wait for the network at most, in [1, 10,000,000]; beyond, the oldest are dropped and counted.
    public var queueSize = 100_000
    /// Least time between two records of one beacon, from 0 s to a day; 0 s keeps every sighting.
    public var beaconInterval = Duration.seconds(1)
    /// Least time between two records of positions, from 0 s to a day; 0 s keeps every position.
    public var positionInterval = Duration.seconds(1)
    /// The first pause before a batch that failed is sent again, above 0 s; it doubles up to a minute.
    public var retryPause = Duration.seconds(5)

    /// Creates the settings with their defaults: nothing is uploaded.
    public init() {}

    /// Whether there is anything to upload.
    public var isOn: Bool { beacons || positions }

    /// What is out of range; empty if all is well.
    public var problems: [String] { Self.list.problems(in: self, prefix: "upload.") }

    /// The settings of the upload, each once.
    package static let list: [Setting<UploadSettings>] = [
        .flag("beacons", \.beacons, "Whether the beacons that are heard are uploaded."),
        .flag("positions", \.positions, "Whether positions are uploaded, those outdoors, too."),
        .duration(
            "interval", \.interval, from: .milliseconds(100), better: .smaller,
            "Time from the first record of a batch to its upload."),
        .wholeNumber(
            "batchSize", \.batchSize, in: 1...10_000, "A batch of this many records is uploaded at once."),
        .wholeNumber(
            "queueSize", \.queueSize, in: 1...10_000_000, better: .greater,
            "How many records wait for the network at most; beyond, the oldest are dropped and counted."),
        .duration(
            "beaconInterval", \.beaconInterval, from: .zero, better: .smaller,
            "Least time between two records of one beacon; 0 keeps every sighting."),
        .duration(
            "positionInterval", \.positionInterval, from: .zero, better: .smaller,
            "Least time between two records of positions; 0 keeps every position."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The first pause before a batch that failed is sent again; it doubles up to a minute."),
    ]
}
