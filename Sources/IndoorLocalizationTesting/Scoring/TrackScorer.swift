import IndoorLocalization
import ScanRecording

/// A scorer that compares positions with the ground truth of recordings, causally: a later position never counts.
///
/// It scores waypoints from 5 s on, at most one per second, and the last instant of each stay. The answer at such an
/// instant is the last position at or before it, unless that is older than 10 s. Errors are those on the right floor;
/// the score of the IPIN competition adds 15 m for each level. Source: F. Potortì et al., *The IPIN 2019 Indoor
/// Localisation Competition: Description and Results*, IEEE Access 8, 2020.
package struct TrackScorer: Sendable {
    /// An instant at which the true position is known.
    private struct ScoredInstant {
        var instant: Instant
        var mapID: MapID
        var point: MapPoint
    }

    /// The answer at a scored instant.
    package struct Answer: Hashable, Sendable {
        /// The scored instant.
        package var instant: Instant
        /// The map of the ground truth.
        package var mapID: MapID
        /// The true position.
        package var point: MapPoint
        /// The position that counts; nil if there was none, or none in the last 10 s.
        package var position: Position?
        /// The error in metres; nil without a position, or if it is on another floor.
        package var error: Double?
    }

    /// The answers at all scored instants, track by track in chronological order.
    package private(set) var answers: [Answer] = []

    private let maps: [MapID: VenueMap]
    private var count = 0
    private var answered = 0
    private var inside = 0
    /// The errors on the right floor, in metres.
    private var errors: [Double] = []
    /// The errors with the penalty for the floor, in metres.
    private var penalized: [Double] = []
    /// The 68 % radii of the answers on the right floor, in metres.
    private var radii: [Double] = []

    /// Waypoints before this time in seconds are not scored, because the engine needs time to start.
    private static let warmUp = 5.0
    /// Waypoints less than this many seconds after the last scored one are not scored.
    private static let thinning = 0.95
    /// A position older than this, in seconds, is not an answer.
    private static let oldest = 10.0
    /// The penalty in metres for each wrong level.
    private static let levelPenalty = 15.0

    /// Creates a scorer for a venue, without tracks.
    package init(venue: Venue) {
        maps = Dictionary(venue.maps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Adds a track.
    ///
    /// - Parameters:
    ///   - truths: the ground truth, ordered by instant; entries without a point are not scored.
    ///   - end: the recording's last instant, at which the last stay ends.
    ///   - positions: the positions that the session reported, ordered by instant.
    package mutating func add(truths: [Truth], end: Instant, positions: [Position]) {
        var next = 0
        for place in Self.instants(truths, end: end).sorted(by: { $0.instant < $1.instant }) {
            guard let map = maps[place.mapID] else { continue }
            while next < positions.count, positions[next].instant.seconds <= place.instant.seconds + 1e-6 { next += 1 }
            count += 1
            let latest = next > 0 ? positions[next - 1] : nil
            var answer = Answer(instant: place.instant, mapID: place.mapID, point: place.point)
            defer { answers.append(answer) }
            guard let latest, place.instant.seconds - latest.instant.seconds <= Self.oldest else {
                penalized.append(place.point.distance(to: MapPoint(x: map.width / 2, y: map.height / 2)))
                continue
            }
            answer.position = latest
            answer.error = score(latest, against: place, on: map)
        }
    }

    /// Returns the error; nil on another floor.
    private mutating func score(_ position: Position, against place: ScoredInstant, on map: VenueMap) -> Double? {
        answered += 1
        let error = position.point.distance(to: place.point)
        let levels = abs((maps[position.mapID]?.level ?? .max / 2) - map.level)
        penalized.append(error + Self.levelPenalty * Double(levels))
        guard levels == 0 else { return nil }
        errors.append(error)
        // A method without an estimate of its error has no radius.
        if position.radius.isFinite {
            radii.append(position.radius)
            if error <= position.radius { inside += 1 }
        }
        return error
    }

    private static func instants(_ truths: [Truth], end: Instant) -> [ScoredInstant] {
        var instants: [ScoredInstant] = []
        var last = -Double.infinity
        for (index, truth) in truths.enumerated() {
            guard let map = truth.mapID, let point = truth.point else { continue }
            if truth.isHold {
                let until = index + 1 < truths.count ? truths[index + 1].instant : end
                instants.append(ScoredInstant(instant: until, mapID: map, point: point))
            } else if truth.instant.seconds >= warmUp, truth.instant.seconds - last >= thinning {
                instants.append(ScoredInstant(instant: truth.instant, mapID: map, point: point))
                last = truth.instant.seconds
            }
        }
        return instants
    }

    /// Adds all tracks of another scorer for the same venue.
    package mutating func add(_ other: TrackScorer) {
        answers += other.answers
        count += other.count
        answered += other.answered
        inside += other.inside
        errors += other.errors
        penalized += other.penalized
        radii += other.radii
    }

    /// The score of all tracks so far.
    package var score: TrackScore {
        TrackScore(
            count: count, answered: share(answered, of: count), floor: share(errors.count, of: answered),
            mean: errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count), median: Self.quantile(errors, 0.5),
            p75: Self.quantile(errors, 0.75), p90: Self.quantile(errors, 0.9), p95: Self.quantile(errors, 0.95),
            ipin: Self.quantile(penalized, 0.75), insideRadius: share(inside, of: radii.count),
            radius: Self.quantile(radii, 0.5))
    }

    private func share(_ part: Int, of whole: Int) -> Double? {
        whole == 0 ? nil : Double(part) / Double(whole)
    }

    /// Returns a quantile, with linear interpolation between the two nearest values.
    package static func quantile(_ values: [Double], _ share: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let place = Double(sorted.count - 1) * share
        let index = Int(place)
        let next = sorted[min(index + 1, sorted.count - 1)]
        return sorted[index] + (next - sorted[index]) * (place - Double(index))
    }
}

/// The accuracy of positions compared with the ground truth; a figure is nil if there is no data for it.
package struct TrackScore: Hashable, Sendable {
    /// The number of scored instants.
    package var count: Int
    /// The share of instants with a position, in [0, 1].
    package var answered: Double?
    /// The share of answers on the right floor, in [0, 1].
    package var floor: Double?
    /// The mean error in metres; like all errors, of answers on the right floor.
    package var mean: Double?
    /// The median error in metres.
    package var median: Double?
    /// The 75th percentile of the error in metres.
    package var p75: Double?
    /// The 90th percentile of the error in metres.
    package var p90: Double?
    /// The 95th percentile of the error in metres.
    package var p95: Double?
    /// The third quartile in metres of the error plus 15 m for each wrong level.
    ///
    /// For an instant without a position, the error is measured from the middle of the map.
    package var ipin: Double?
    /// The share of errors within the position's 68 % radius, in [0, 1]; 0.68 if the radius is calibrated.
    package var insideRadius: Double?
    /// The median of the 68 % radius in metres.
    package var radius: Double?
}

/// A scorer of reported beacon faults. It counts the disturbed beacons that a session names, and the other beacons that
/// the session names wrongly.
///
/// The hearing time of a beacon is the sum of the intervals between its sightings, each at most 5 s long. The hearing
/// time of a beacon that sends nothing is the time since the start of the track, while the device receives any beacon.
package struct FaultScorer: Sendable {
    /// The number of disturbed beacons, in each track, that the device heard for a minute or more.
    package private(set) var disturbed = 0
    /// The number of them that the session named within the first minute of hearing.
    package private(set) var namedInMinute = 0
    /// The number of disturbed beacons that the device heard, in each track.
    package private(set) var heard = 0
    /// The number of them that the session named.
    package private(set) var named = 0
    /// The number of reported faults of beacons that are not disturbed.
    package private(set) var falseAlarms = 0
    /// The length of all tracks in hours.
    package private(set) var hours = 0.0

    /// The longest interval between two sightings in seconds that counts as hearing.
    private static let longestInterval = 5.0
    /// The hearing time in seconds within which a disturbed beacon should be named.
    private static let minute = 60.0

    /// Creates a scorer without tracks.
    package init() {}

    /// Adds a track.
    ///
    /// - Parameters:
    ///   - readings: the readings of the session, ordered by instant.
    ///   - faults: the reported faults with their instants, ordered by instant.
    ///   - disturbedBeacons: the beacons that are disturbed in the track.
    ///   - silentBeacons: those of them that send nothing.
    package mutating func add(
        _ readings: [SensorReading], faults: [(instant: Instant, fault: BeaconFault)],
        disturbedBeacons: Set<BeaconIdentity> = [], silentBeacons: Set<BeaconIdentity> = []
    ) {
        var reports: [BeaconIdentity: Instant] = [:]
        for (instant, fault) in faults {
            if disturbedBeacons.contains(fault.beacon) {
                reports[fault.beacon] = min(instant, reports[fault.beacon] ?? instant)
            } else {
                falseAlarms += 1
            }
        }
        var times: [BeaconIdentity: HearingTime] = [:]
        var any = HearingTime()
        for reading in readings {
            guard case .sighting(let sighting) = reading else { continue }
            any.add(sighting.instant, Self.longestInterval)
            guard disturbedBeacons.contains(sighting.beacon) else { continue }
            times[sighting.beacon, default: HearingTime()].add(sighting.instant, Self.longestInterval)
        }
        for beacon in silentBeacons { times[beacon] = any }
        for (beacon, time) in times {
            heard += 1
            let report = reports[beacon]
            if report != nil { named += 1 }
            guard let minute = time.instant(of: Self.minute) else { continue }
            disturbed += 1
            if let report, report <= minute { namedInMinute += 1 }
        }
        if let first = readings.first, let last = readings.last {
            hours += first.instant.seconds(to: last.instant) / 3600
        }
    }

    /// Adds all tracks of another scorer.
    package mutating func add(_ other: FaultScorer) {
        disturbed += other.disturbed
        namedInMinute += other.namedInMinute
        heard += other.heard
        named += other.named
        falseAlarms += other.falseAlarms
        hours += other.hours
    }

    /// The share of the disturbed beacons that were named within a minute of hearing; nil without any.
    package var shareInMinute: Double? { disturbed > 0 ? Double(namedInMinute) / Double(disturbed) : nil }
    /// The share of the disturbed beacons that were named; nil without any.
    package var shareNamed: Double? { heard > 0 ? Double(named) / Double(heard) : nil }
    /// The number of false alarms per hour; nil without tracks.
    package var falseAlarmRate: Double? { hours > 0 ? Double(falseAlarms) / hours : nil }
}

/// The accumulated hearing time of a beacon.
private struct HearingTime {
    private var latest: Instant?
    private var sum = 0.0
    /// The sums in seconds after each sighting.
    private var steps: [(sum: Double, instant: Instant)] = []

    mutating func add(_ instant: Instant, _ longest: Double) {
        if let latest { sum += min(max(0, latest.seconds(to: instant)), longest) }
        latest = instant
        steps.append((sum, instant))
    }

    /// Returns the instant at which the time reaches some seconds; nil if it doesn't.
    func instant(of seconds: Double) -> Instant? { steps.first { $0.sum >= seconds }?.instant }
}
