import IndoorVocabulary

/// A summary of the readings of a venue search, which shows why it finds no venue. All instants are in listening time.
struct SearchEvidence: Hashable, Sendable {
    /// The receptions of one kind without a pause of `DiagnosisWatch.patience`.
    struct Presence: Hashable, Sendable {
        /// The first reception after the latest pause; nil before any reception.
        private(set) var first: Instant?
        private(set) var latest: Instant?

        mutating func note(at now: Instant) {
            if latest.map({ $0.duration(to: now) >= DiagnosisWatch.patience }) ?? true { first = now }
            latest = max(latest ?? now, now)
        }

        /// Returns whether the latest reception is recent.
        func isRecent(at now: Instant) -> Bool {
            latest.map { $0.duration(to: now) < DiagnosisWatch.patience } ?? false
        }

        /// Returns whether the latest reception is recent, and receptions have continued for `DiagnosisWatch.patience`.
        func isProven(at now: Instant) -> Bool {
            guard let first, isRecent(at: now) else { return false }
            return first.duration(to: now) >= DiagnosisWatch.patience
        }

        /// The instants at which the results of `isRecent` and `isProven` change without a further reception.
        var turns: [Instant] { [first, latest].compactMap { $0?.advanced(by: DiagnosisWatch.patience) } }
    }

    private struct Unknown: Hashable, Sendable {
        var beacon: BeaconIdentity
        var latest: Instant
        var rssi: Double
    }

    /// The greatest number of unknown beacons. A further one replaces the one with the oldest reception.
    static let limit = 64
    /// How long after its latest reception an unknown beacon is part of the diagnosis.
    private static let memory = Duration.seconds(30)
    /// How long after a reading the source counts as working. Advertisements may be rare.
    private static let sourceMemory = Duration.seconds(30)

    /// The beginning of the search.
    private(set) var since = Instant.zero
    /// The latest reading of any sensor, and the latest reception of any Bluetooth device; nil before the first.
    var latestReading: Instant?
    var latestReception: Instant?
    /// The latest beacon, known or not; nil before the first one.
    var latestBeacon: Instant?
    /// The receptions of beacons of known venues, those below the RSSI threshold, and those of unknown beacons.
    private(set) var known = Presence()
    private(set) var weak = Presence()
    private(set) var unknown = Presence()
    /// The distances to anchors of no known venue, and the names of these anchors in the order of their arrival.
    private(set) var unknownRanges = Presence()
    private(set) var unknownAnchors: [String] = []
    /// The strongest RSSI in dBm below the threshold.
    private(set) var strongestWeak: Double?
    /// The known venues whose beacons were received during the search.
    private(set) var venues: Set<VenueID> = []
    private var unknownBeacons: [Unknown] = []

    /// Creates the evidence of a session without readings.
    init() {}

    /// Begins a search. The time without beacons counts from `since`.
    mutating func begin(since: Instant) {
        self.since = since
        known = Presence()
        weak = Presence()
        unknown = Presence()
        unknownRanges = Presence()
        unknownAnchors.removeAll(keepingCapacity: true)
        strongestWeak = nil
        venues = []
        unknownBeacons.removeAll(keepingCapacity: true)
    }

    /// Notes a beacon of a known venue.
    mutating func noteBeacon(of venue: VenueID, rssi: Double, isWeak: Bool, at now: Instant) {
        if !venues.contains(venue) { venues.insert(venue) }
        guard isWeak else { return known.note(at: now) }
        weak.note(at: now)
        strongestWeak = max(rssi, strongestWeak ?? rssi)
    }

    /// Notes a beacon of no known venue.
    mutating func noteUnknown(_ beacon: BeaconIdentity, rssi: Double, at now: Instant) {
        unknown.note(at: now)
        let entry = Unknown(beacon: beacon, latest: now, rssi: rssi)
        if let place = unknownBeacons.firstIndex(where: { $0.beacon == beacon }) {
            unknownBeacons[place] = entry
        } else if unknownBeacons.count < Self.limit {
            unknownBeacons.append(entry)
        } else if let oldest = unknownBeacons.indices.min(by: { unknownBeacons[$0].latest < unknownBeacons[$1].latest })
        {
            unknownBeacons[oldest] = entry
        }
    }

    /// Notes a distance to an anchor of no known venue.
    mutating func noteUnknown(anchor: String, at now: Instant) {
        unknownRanges.note(at: now)
        guard unknownAnchors.count < Self.limit, !unknownAnchors.contains(anchor) else { return }
        unknownAnchors.append(anchor)
    }

    /// Returns the unknown beacons, the strongest first: the recent ones, or those of the whole search.
    func unknownBeacons(at now: Instant, ofSearch isWhole: Bool) -> [BeaconIdentity] {
        let sorted = unknownBeacons.filter { isWhole || $0.latest.duration(to: now) < Self.memory }.sorted {
            ($0.rssi, $1.beacon.major, $1.beacon.minor) > ($1.rssi, $0.beacon.major, $0.beacon.minor)
        }
        return sorted.map(\.beacon)
    }

    /// Returns the time without beacons.
    func silence(at now: Instant) -> Duration { max(latestBeacon ?? since, since).duration(to: now) }

    /// Returns whether the source has recently delivered a reading of any sensor.
    func isSourceWorking(at now: Instant) -> Bool {
        latestReading.map { $0.duration(to: now) < Self.sourceMemory } ?? false
    }

    /// Returns whether a reading is recent.
    func isRecent(_ instant: Instant?, at now: Instant) -> Bool {
        instant.map { $0.duration(to: now) < DiagnosisWatch.patience } ?? false
    }

    /// Returns the first instant after `now` at which the conclusion from the evidence changes without a further
    /// reading.
    func nextTurn(after now: Instant) -> Instant? {
        let starts = [since, latestBeacon].compactMap { $0?.advanced(by: DiagnosisWatch.patience) }
        let source = [latestReading].compactMap { $0?.advanced(by: Self.sourceMemory) }
        return (starts + source + known.turns + weak.turns + unknown.turns + unknownRanges.turns).filter { $0 > now }
            .min()
    }
}
