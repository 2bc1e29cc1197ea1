import IndoorLocalization
import ScanRecording

/// Compares positions with the truth of recordings, causally: what counts at an instant is what was known by then.
///
/// Scored are way points from 5 s on, thinned to one a second, and the last instant of each stay. There the last
/// position at or before the instant counts, unless it is older than 10 s. Errors are those on the right floor; the
/// score of the IPIN competition adds 15 m for each level. Source: F. Potortì et al., *The IPIN 2019 Indoor Localisation
/// Competition: Description and Results*, IEEE Access 8, 2020.
public struct TrackScorer: Sendable {
    /// A place at which the device is known to have been.
    private struct ScoredInstant {
        var instant: Instant
        var mapID: MapID
        var point: MapPoint
    }

    private let maps: [MapID: VenueMap]
    private var count = 0
    private var answered = 0
    private var inside = 0
    /// Errors on the right floor, in metres.
    private var errors: [Double] = []
    /// Errors with the floors' penalty, in metres.
    private var penalized: [Double] = []

    /// Way points before this instant are not scored, in seconds: the engine is given time to start.
    private static let warmUp = 5.0
    /// Way points closer in time than this to the last scored one are not scored, in seconds.
    private static let thinning = 0.95
    /// A position older than this is no answer, in seconds.
    private static let oldest = 10.0
    /// Metres that a wrong level counts.
    private static let levelPenalty = 15.0

    /// Creates a scorer that has seen no track of that venue.
    public init(venue: Venue) {
        maps = Dictionary(venue.maps.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Takes in a track.
    ///
    /// - Parameters:
    ///   - truths: where the device was, ordered by instant; those without a point are not scored.
    ///   - end: the recording's last instant, at which the last stay ends.
    ///   - positions: what was told, ordered by instant.
    public mutating func add(truths: [Truth], end: Instant, positions: [Position]) {
        var next = 0
        for place in Self.instants(truths, end: end).sorted(by: { $0.instant < $1.instant }) {
            guard let map = maps[place.mapID] else { continue }
            while next < positions.count, positions[next].instant.seconds <= place.instant.seconds + 1e-6 { next += 1 }
            count += 1
            let latest = next > 0 ? positions[next - 1] : nil
            guard let latest, place.instant.seconds - latest.instant.seconds <= Self.oldest else {
                penalized.append(place.point.distance(to: MapPoint(x: map.width / 2, y: map.height / 2)))
                continue
            }
            score(latest, against: place, on: map)
        }
    }

    private mutating func score(_ position: Position, against place: ScoredInstant, on map: VenueMap) {
        answered += 1
        let error = position.point.distance(to: place.point)
        let levels = abs((maps[position.mapID]?.level ?? .max / 2) - map.level)
        penalized.append(error + Self.levelPenalty * Double(levels))
        guard levels == 0 else { return }
        errors.append(error)
        if error <= position.radius { inside += 1 }
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

    /// Takes in all that another scorer of the same venue has seen.
    public mutating func add(_ other: TrackScorer) {
        count += other.count
        answered += other.answered
        inside += other.inside
        errors += other.errors
        penalized += other.penalized
    }

    /// The figures of all tracks so far.
    public var score: TrackScore {
        TrackScore(
            count: count, answered: share(answered, of: count), floor: share(errors.count, of: answered),
            mean: errors.isEmpty ? nil : errors.reduce(0, +) / Double(errors.count), median: quantile(errors, 0.5),
            p75: quantile(errors, 0.75), p90: quantile(errors, 0.9), p95: quantile(errors, 0.95),
            ipin: quantile(penalized, 0.75), insideRadius: share(inside, of: errors.count))
    }

    private func share(_ part: Int, of whole: Int) -> Double? {
        whole == 0 ? nil : Double(part) / Double(whole)
    }

    /// Linear between the two nearest values.
    private func quantile(_ values: [Double], _ share: Double) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let place = Double(sorted.count - 1) * share
        let index = Int(place)
        let next = sorted[min(index + 1, sorted.count - 1)]
        return sorted[index] + (next - sorted[index]) * (place - Double(index))
    }
}

/// How well positions fit the truth; nil where nothing tells.
public struct TrackScore: Hashable, Sendable {
    /// Number of scored instants.
    public var count: Int
    /// Share of instants with a position, in [0, 1].
    public var answered: Double?
    /// Share of the answers that are on the right floor, in [0, 1].
    public var floor: Double?
    /// Mean error in metres, as all errors of answers on the right floor.
    public var mean: Double?
    /// Median error in metres.
    public var median: Double?
    /// Error in metres that three of four answers do not exceed.
    public var p75: Double?
    /// Error in metres that nine of ten answers do not exceed.
    public var p90: Double?
    /// Error in metres that nineteen of twenty answers do not exceed.
    public var p95: Double?
    /// Third quartile of error plus 15 m a level, unanswered instants counted from the middle of the map, in metres.
    public var ipin: Double?
    /// Share of the errors within their position's radius, in [0, 1]: 0.68 is what a radius promises.
    public var insideRadius: Double?
}
