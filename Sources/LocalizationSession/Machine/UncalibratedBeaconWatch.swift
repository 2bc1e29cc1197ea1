import IndoorVocabulary

/// The detection of beacons of a known venue that send no valid measured power.
///
/// Each beacon is reported once. Several beacons of a venue usually have this problem together, so that all beacons
/// after the first are collected for a few seconds.
struct UncalibratedBeaconWatch: Hashable, Sendable {
    /// The minimum time between two reports.
    static let pause = Duration.seconds(5)

    private var known: Set<BeaconIdentity> = []
    private var waiting: [BeaconIdentity] = []
    private var latest: Instant?

    /// Creates a watch without beacons.
    init() {}

    /// Notes an advertisement of a beacon without a valid measured power. Returns the beacons to report, in the order of
    /// reception.
    mutating func hear(_ beacon: BeaconIdentity, at now: Instant) -> [BeaconIdentity] {
        if known.insert(beacon).inserted { waiting.append(beacon) }
        guard !waiting.isEmpty, latest.map({ $0.duration(to: now) >= Self.pause }) ?? true else { return [] }
        latest = now
        defer { waiting = [] }
        return waiting
    }

    /// Moves the instants to a timeline with another origin.
    mutating func shift(by duration: Duration) { latest = latest?.advanced(by: duration) }
}
