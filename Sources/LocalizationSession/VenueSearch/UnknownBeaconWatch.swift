import IndoorVocabulary

/// How near the numbers of a known region come to those of a beacon; the smaller, the nearer.
struct IdentityDistance: Hashable, Comparable {
    /// How many of UUID, major and minor differ.
    private let parts: Int
    /// Hexadecimal digits of the UUID that differ.
    private let digits: Int
    private let major: Int
    private let minor: Int

    /// So many digits are a slip of the pen, not another maker's UUID.
    private static let slip = 4

    /// Compares; nil if they have nothing in common.
    init?(of beacon: BeaconIdentity, to region: BeaconRegion) {
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

/// Finds out that only beacons of no known venue are heard.
struct UnknownBeaconWatch: Hashable, Sendable {
    /// Beacons of no known venue are reported once they were heard for this long, and no others.
    static let patience = Duration.seconds(5)
    /// So many are named.
    private static let limit = 8

    private var since: Instant?
    private var heard: [BeaconIdentity] = []
    private var isOver = false

    /// Creates a watch that has heard nothing.
    init() {}

    /// A beacon of a known venue was heard: the search is on the right track.
    mutating func hearKnown() {
        since = nil
        heard = []
    }

    /// Nothing is told any more: a venue was found.
    mutating func end() {
        hearKnown()
        isOver = true
    }

    /// A beacon of no known venue was heard. Returns those that are to be reported, once; else nil.
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
