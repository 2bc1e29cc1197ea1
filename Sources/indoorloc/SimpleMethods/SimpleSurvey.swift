import CMath
import IndoorLocalization
import ScanRecording

/// The mean RSSI of each beacon over time windows.
struct LevelWindows: Sendable {
    /// The readings in the order of their instants.
    private let readings: [(seconds: Double, beacon: BeaconIdentity, level: Double)]

    /// - Parameter sightings: the received sightings, ordered by instant.
    init(_ sightings: [Sighting]) {
        readings = sightings.filter(\.hasMeasurement).map { ($0.instant.seconds, $0.beacon, $0.rssi) }
    }

    /// Returns the mean RSSI in dBm of each beacon that was received after a time in seconds, up to another.
    func means(after start: Double, upTo end: Double) -> [BeaconIdentity: Double] {
        var sums: [BeaconIdentity: (sum: Double, count: Double)] = [:]
        var index = (0..<readings.count).bisection { readings[$0].seconds > start }
        while index < readings.count, readings[index].seconds <= end {
            let before = sums[readings[index].beacon] ?? (0, 0)
            sums[readings[index].beacon] = (before.sum + readings[index].level, before.count + 1)
            index += 1
        }
        return sums.mapValues { $0.sum / $0.count }
    }
}

/// The survey of a venue as the simple methods use it: fingerprints, and a path-loss law for each beacon.
struct SimpleSurvey: Sendable {
    /// A beacon with its position and power.
    struct Beacon: Hashable, Sendable {
        var mapID: MapID
        var point: MapPoint
        /// RSSI at 1 m in dBm.
        var power: Double
    }

    /// The RSSI at a surveyed place.
    struct Fingerprint: Hashable, Sendable {
        /// The mean RSSI of a beacon.
        struct Level: Hashable, Sendable {
            /// Index in the survey's beacons.
            var beacon: Int
            /// The mean RSSI in dBm.
            var level: Double
        }

        var place: SimpleLocator.Place
        var levels: [Level]
    }

    /// The index of each beacon of the venue or of the survey.
    let indexes: [BeaconIdentity: Int]
    /// The beacons by index; nil for one whose position is unknown.
    let beacons: [Beacon?]
    let fingerprints: [Fingerprint]
    /// The path-loss exponent of all beacons.
    let exponent: Double

    /// The path-loss exponent without a survey.
    private static let usualExponent = 2.0
    /// The allowed exponents of a fit.
    private static let exponents = 0.8...4.0
    /// The power of a beacon in dBm if the power of no beacon is known.
    private static let usualPower = -65.0
    /// The minimum number of fingerprints that determine the power of a beacon.
    private static let fewestLevels = 3

    /// Creates the survey of a venue from surveyed places with the mean RSSI of each beacon in dBm; without places, the laws
    /// of the beacons have the powers of the venue. Places on maps that the venue doesn't have are not used.
    ///
    /// A beacon that the venue doesn't contain is at the mean of the places at which it was received, weighted by amplitude.
    /// The exponent is the slope of a line through all pairs of RSSI and −10·log₁₀ of the distance on the same map; the power
    /// of a beacon is the mean of what the law lacks. Source: T. S. Rappaport, *Wireless Communications: Principles and
    /// Practice*, 1996.
    init(_ all: [(place: SimpleLocator.Place, levels: [BeaconIdentity: Double])], venue: Venue) {
        let maps = Set(venue.maps.map(\.id))
        let places = all.filter { maps.contains($0.place.mapID) }
        let known = Dictionary(venue.beacons.map { ($0.identity, $0) }, uniquingKeysWith: { first, _ in first })
        let identities = places.reduce(into: Set(known.keys)) { $0.formUnion($1.levels.keys) }.sorted()
        let indexes = Dictionary(uniqueKeysWithValues: identities.enumerated().map { ($1, $0) })
        self.indexes = indexes
        let fingerprints = places.filter { !$0.levels.isEmpty }.map { place, levels in
            Fingerprint(
                place: place,
                levels: levels.compactMap { identity, level in
                    indexes[identity].map { Fingerprint.Level(beacon: $0, level: level) }
                }.sorted { $0.beacon < $1.beacon })
        }
        self.fingerprints = fingerprints
        var homes: [SimpleLocator.Place?] = identities.map { identity in
            known[identity].map { SimpleLocator.Place(mapID: $0.mapID, point: $0.point) }
        }
        var received: [Int: [(place: SimpleLocator.Place, weight: Double)]] = [:]
        for fingerprint in fingerprints {
            for level in fingerprint.levels where homes[level.beacon] == nil {
                received[level.beacon, default: []].append((fingerprint.place, SimpleLocator.amplitude(level.level)))
            }
        }
        for (beacon, places) in received {
            guard let map = SimpleLocator.heaviestMap(places.map { ($0.place.mapID, $0.weight) }) else { continue }
            let same = places.filter { $0.place.mapID == map }
            homes[beacon] = SimpleLocator.Place(
                mapID: map, point: SimpleLocator.mean(same.map { ($0.place.point, $0.weight) }))
        }
        var pairs: [(beacon: Int, loss: Double, level: Double)] = []
        for fingerprint in fingerprints {
            for level in fingerprint.levels {
                guard let home = homes[level.beacon], home.mapID == fingerprint.place.mapID else { continue }
                let distance = home.point.distance(to: fingerprint.place.point)
                let square = distance * distance + PathLossPosition.squaredHeight
                pairs.append((level.beacon, -5 * cmath_log10(square), level.level))
            }
        }
        let slope = Self.slope(pairs).map { min(max($0, Self.exponents.lowerBound), Self.exponents.upperBound) }
        let exponent = slope ?? Self.usualExponent
        self.exponent = exponent
        var powers: [Double?] = identities.map { known[$0]?.measuredPower }
        for (beacon, pairs) in Dictionary(grouping: pairs, by: \.beacon) where pairs.count >= Self.fewestLevels {
            let sum = pairs.reduce(0) { $0 + $1.level - exponent * $1.loss }
            powers[beacon] = sum / Double(pairs.count)
        }
        let found = powers.compactMap(\.self)
        let usual = found.isEmpty ? Self.usualPower : found.reduce(0, +) / Double(found.count)
        beacons = zip(homes, powers).map { home, power in
            home.map { Beacon(mapID: $0.mapID, point: $0.point, power: power ?? usual) }
        }
    }

    /// Returns the slope of the line through some points by least squares; nil if they don't determine it.
    private static func slope(_ pairs: [(beacon: Int, loss: Double, level: Double)]) -> Double? {
        let count = Double(pairs.count)
        let (loss, level) = (pairs.reduce(0) { $0 + $1.loss } / count, pairs.reduce(0) { $0 + $1.level } / count)
        let variance = pairs.reduce(0) { $0 + ($1.loss - loss) * ($1.loss - loss) }
        guard variance > 0 else { return nil }
        return pairs.reduce(0) { $0 + ($1.loss - loss) * ($1.level - level) } / variance
    }
}

extension SimpleSurvey {
    /// Creates the survey of a venue from its recordings, or without any from the venue's radio map.
    ///
    /// - Parameter weakestKept: the lowest RSSI in dBm of the readings to use.
    init(
        _ recordings: [SurveyRecording], venue: Venue, settings: SimpleMethodSettings,
        weakestKept: Double = -.infinity
    ) {
        var places = recordings.flatMap { recording in
            Self.places(in: recording, settings: settings, weakestKept: weakestKept)
        }
        if recordings.isEmpty, let map = venue.radioMap {
            places = map.fingerprints.map { fingerprint in
                let levels = fingerprint.readings.map { (map.beacons[$0.beacon].identity, $0.rssi) }
                return (
                    SimpleLocator.Place(mapID: fingerprint.mapID, point: fingerprint.point),
                    Dictionary(levels, uniquingKeysWith: { first, _ in first })
                )
            }
        }
        self.init(places, venue: venue)
    }

    /// Returns the places of a recording with the mean RSSI there: one for each stay, and one for each second of a walk, from
    /// the window around it.
    static func places(
        in recording: SurveyRecording, settings: SimpleMethodSettings, weakestKept: Double
    ) -> [(place: SimpleLocator.Place, levels: [BeaconIdentity: Double])] {
        let windows = LevelWindows(recording.sightings.filter { $0.rssi >= weakestKept })
        let waypoints = recording.waypoints
        var places: [(place: SimpleLocator.Place, levels: [BeaconIdentity: Double])] = []
        /// The next second of the walk; nil at its start.
        var next: Double?
        for (index, waypoint) in waypoints.enumerated() {
            let start = waypoint.instant.seconds
            let following = index + 1 < waypoints.count ? waypoints[index + 1] : nil
            if waypoint.isHold {
                let end = waypoint.stayEnd(before: following, in: recording).seconds
                places.append(
                    (
                        SimpleLocator.Place(mapID: waypoint.mapID, point: waypoint.point),
                        windows.means(after: start.nextDown, upTo: end)
                    ))
                next = nil
                continue
            }
            let end = following?.instant.seconds ?? start + 0.01
            var second = next ?? start
            while second < end {
                let place = following.map { waypoint.place(toward: $0, at: second) } ?? (waypoint.mapID, waypoint.point)
                if let place {
                    let half = settings.walkWindow / 2
                    places.append(
                        (
                            SimpleLocator.Place(mapID: place.mapID, point: place.point),
                            windows.means(after: second - half, upTo: second + half)
                        ))
                }
                second += 1
            }
            next = second
        }
        return places
    }
}

extension SimpleLocator {
    /// Returns the positions of a track: one each second, and at each instant at which it is compared with the ground truth.
    ///
    /// - Parameters:
    ///   - sightings: the readings, ordered by instant.
    ///   - truths: the ground truth, of which only the instants and the stays are used.
    ///   - end: the last instant of the recording.
    ///   - instants: further instants.
    func positions(
        from sightings: [Sighting], truths: [Truth], end: Instant, at instants: [Instant] = [], in venue: VenueID
    ) -> [Position] {
        let windows = LevelWindows(sightings)
        var all = Set(instants + truths.map(\.instant) + [end])
        for second in Self.seconds(of: sightings, until: end) { all.insert(Instant(seconds: second)) }
        return all.sorted().compactMap { instant in
            let seconds = instant.seconds
            // At its last instant, a stay still counts.
            let stay = truths.last { $0.instant < instant }.flatMap { $0.isHold ? $0.instant.seconds : nil }
            let start = stay.map { max($0.nextDown, seconds - settings.stayWindow) } ?? seconds - settings.walkWindow
            guard let place = place(of: windows.means(after: start, upTo: seconds)) else { return nil }
            return Position(
                instant: instant, venueID: venue, mapID: place.mapID, point: place.point, radius: .nan)
        }
    }

    /// Returns the whole seconds of a track from its first reading on, before which no method has a position. The times of a
    /// recording may count from 1970, or from the start of a machine.
    static func seconds(of sightings: [Sighting], until end: Instant) -> StrideTo<Double> {
        let first = (sightings.first?.instant ?? end).seconds.rounded(.up)
        return stride(from: max(1, first), to: end.seconds, by: 1)
    }
}
