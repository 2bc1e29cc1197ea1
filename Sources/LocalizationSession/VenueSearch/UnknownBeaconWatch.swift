import IndoorVocabulary

/// The distance between the numbers of a known region and those of a beacon.
struct IdentityDistance: Hashable, Comparable {
    /// The number of differing parts among UUID, major and minor.
    private let parts: Int
    /// The number of differing hexadecimal digits of the UUID.
    private let digits: Int
    private let major: Int
    private let minor: Int

    /// The greatest number of differing digits in a mistyped UUID. A UUID with more is that of another manufacturer.
    private static let slip = 4

    /// Creates the distance; nil if beacon and region have nothing in common.
    ///
    /// Beacons never send a derived identity, so a received identity can't be a mistyped version of one.
    init?(of beacon: BeaconIdentity, to region: BeaconRegion) {
        let known = BeaconIdentity(uuid: region.uuid, major: region.major ?? 0, minor: region.minor ?? 0)
        guard known.derivedAddress == nil else { return nil }
        digits =
            Self.differingDigits(beacon.uuid.high, region.uuid.high)
            + Self.differingDigits(beacon.uuid.low, region.uuid.low)
        major = region.major.map { abs(Int($0) - Int(beacon.major)) } ?? 0
        minor = region.minor.map { abs(Int($0) - Int(beacon.minor)) } ?? 0
        parts = [digits, major, minor].count { $0 > 0 }
        let isSameBeacon = region.minor == beacon.minor && region.major == beacon.major
        guard digits <= Self.slip || isSameBeacon else { return nil }
    }

    private static func differingDigits(_ first: UInt64, _ second: UInt64) -> Int {
        (0..<16).count { (first ^ second) >> UInt64(4 * $0) & 15 != 0 }
    }

    static func < (left: IdentityDistance, right: IdentityDistance) -> Bool {
        (left.parts, left.digits, left.major, left.minor) < (right.parts, right.digits, right.major, right.minor)
    }
}

/// The detection of a session that receives only beacons that belong to no known venue.
struct UnknownBeaconWatch: Hashable, Sendable {
    /// The time without beacons of a known venue after which the unknown ones are reported.
    static let patience = Duration.seconds(5)
    /// The greatest number of reported beacons.
    private static let limit = 8

    private var since: Instant?
    private var heard: [BeaconIdentity] = []
    private var isOver = false

    /// Creates a watch without sightings.
    init() {}

    /// Notes a beacon of a known venue, which restarts the time.
    mutating func hearKnown() {
        since = nil
        heard = []
    }

    /// Ends the watch, because a venue was identified.
    mutating func end() {
        hearKnown()
        isOver = true
    }

    /// Notes a beacon of no known venue. Returns the beacons to report, the first time only; otherwise nil.
    mutating func hear(_ beacon: BeaconIdentity, at now: Instant) -> [BeaconIdentity]? {
        guard !isOver else { return nil }
        if heard.count < Self.limit, !heard.contains(beacon) { heard.append(beacon) }
        guard let since else {
            self.since = now
            return nil
        }
        guard since.duration(to: now) >= Self.patience else { return nil }
        defer { end() }
        return heard
    }
}
