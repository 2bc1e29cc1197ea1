import CMath
import IndoorVocabulary
import VenueModel

/// A summary of an engine's belief, with which another engine can continue within seconds.
///
/// On each map, a normal distribution replaces the particles. A belief with several modes becomes one wide mode; the
/// next readings separate the modes again. The next position is therefore near the last position of the belief.
package struct BeliefSummary: Hashable, Sendable {
    /// The belief on one map.
    package struct Place: Hashable, Sendable {
        /// The index of the map in the venue.
        package var mapIndex: Int
        /// The probability of the map, in [0, 1].
        package var probability: Double
        /// The mean of the position.
        package var mean: MapPoint
        /// The covariance of the position about the mean.
        package var covariance: PositionCovariance
        /// The probability that the device walks, in [0, 1].
        package var walkingShare: Double
        /// The mean velocity of a walking device in m/s.
        package var velocity: MapPoint
        /// The variance of this velocity along each axis in m²/s².
        package var velocityVariance: Double

        /// Creates a belief on one map.
        package init(
            mapIndex: Int, probability: Double, mean: MapPoint, covariance: PositionCovariance, walkingShare: Double,
            velocity: MapPoint, velocityVariance: Double
        ) {
            self.mapIndex = mapIndex
            self.probability = probability
            self.mean = mean
            self.covariance = covariance
            self.walkingShare = walkingShare
            self.velocity = velocity
            self.velocityVariance = velocityVariance
        }

        /// Whether all numbers are in the ranges that the filter accepts.
        fileprivate var isValid: Bool {
            let (xx, yy) = (covariance.xx, covariance.yy)
            return mapIndex >= 0 && (0...1).contains(probability) && (0...1).contains(walkingShare)
                && ParticleFilter.isWithinReach(mean, max(xx, yy).squareRoot()) && xx >= 0 && yy >= 0
                && covariance.xy * covariance.xy <= xx * yy * 1.001 + 1e-9 && abs(velocity.x) <= BeliefSummary.fastest
                && abs(velocity.y) <= BeliefSummary.fastest && (0...BeliefSummary.fastest).contains(velocityVariance)
        }
    }

    /// The instant of the belief.
    package var instant: Instant
    /// The belief on each probable map, in the order of the maps.
    package var places: [Place]
    /// The receiver offset in dB and its variance in dB².
    package var offset: (value: Double, variance: Double) {
        get { (offsetValue, offsetVariance) }
        set { (offsetValue, offsetVariance) = (newValue.value, newValue.variance) }
    }
    /// The sums of the consistency test.
    package var consistency: (ratios: Double, weight: Double) {
        get { (consistencyRatios, consistencyWeight) }
        set { (consistencyRatios, consistencyWeight) = (newValue.ratios, newValue.weight) }
    }
    private var offsetValue: Double
    private var offsetVariance: Double
    private var consistencyRatios: Double
    private var consistencyWeight: Double

    /// The maximum speed in m/s.
    fileprivate static let fastest = 1000.0
    /// The maximum receiver offset in dB.
    private static let greatestOffset = 200.0
    /// The maximum sum of the consistency test.
    private static let greatestSum = 1e12

    /// Creates a summary.
    package init(
        instant: Instant, places: [Place], offset: (value: Double, variance: Double),
        consistency: (ratios: Double, weight: Double)
    ) {
        self.instant = instant
        self.places = places
        (offsetValue, offsetVariance) = offset
        (consistencyRatios, consistencyWeight) = consistency
    }

    /// Whether all numbers are in their ranges, and the maps are in order, with a positive probability.
    package var isValid: Bool {
        let sums = 0...Self.greatestSum
        return !places.isEmpty && places.allSatisfy(\.isValid)
            && zip(places, places.dropFirst()).allSatisfy { $0.mapIndex < $1.mapIndex }
            && places.contains { $0.probability > 0 } && abs(offsetValue) <= Self.greatestOffset
            && sums.contains(offsetVariance) && sums.contains(consistencyRatios) && sums.contains(consistencyWeight)
    }
}

extension PositioningEngine {
    /// The minimum probability of a map in a summary.
    private static let leastSummarized = 1e-3
    /// The probability assigned to a map that is not in the summary.
    private static let leftOut = 1e-6

    /// The summary of the belief; nil before any evidence, and for methods without a filter.
    package var summary: BeliefSummary? {
        guard let learned = learnedMapIndex, let lastAdvance else { return nil }
        let shares = mapShares
        let places = field.maps.indices.compactMap { mapIndex in
            shares[mapIndex] >= Self.leastSummarized
                ? filter.summary(mapIndex: mapIndex, probability: shares[mapIndex]) : nil
        }
        let offset = offsets[learned]
        return BeliefSummary(
            instant: lastAdvance, places: places, offset: (offset.value, offset.variance),
            consistency: (check.ratios, check.weight))
    }

    /// Continues from the summary of an earlier engine in the same venue. Call this before any evidence.
    ///
    /// - Parameter summary: a valid summary with maps of this venue; any other is ignored.
    package mutating func begin(with summary: BeliefSummary) {
        guard settings.method == .particle, summary.isValid,
            summary.places.allSatisfy({ field.maps.indices.contains($0.mapIndex) })
        else { return }
        var probabilities = field.maps.map { _ in Self.leftOut }
        for place in summary.places { probabilities[place.mapIndex] = max(place.probability, Self.leftOut) }
        floorFilter.begin(with: probabilities)
        for mapIndex in offsets.indices {
            offsets[mapIndex].begin(value: summary.offset.value, deviation: summary.offset.variance.squareRoot())
        }
        filter.begin(with: summary.places, probabilities: floorFilter.probabilities, receivers: offsets)
        check = ConsistencyTest(ratios: summary.consistency.ratios, weight: summary.consistency.weight)
        collector.resume(at: summary.instant)
        (lastAdvance, lastLook) = (summary.instant, summary.instant)
    }
}

extension ParticleFilter {
    /// Returns the summary of the particles on a map; nil without particles.
    fileprivate func summary(mapIndex: Int, probability: Double) -> BeliefSummary.Place? {
        guard let mean = moments(mapIndex: mapIndex)?.mean,
            let spread = covariance(mapIndex: mapIndex, around: mean)
        else { return nil }
        var (all, walking, x, y, squares) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let weight = Double(particles.weight[index])
            all += weight
            guard particles.isWalking[index] else { continue }
            let (vx, vy) = (Double(particles.velocityX[index]), Double(particles.velocityY[index]))
            walking += weight
            x += weight * vx
            y += weight * vy
            squares += weight * (vx * vx + vy * vy)
        }
        var velocity = MapPoint(x: 0, y: 0)
        var variance = motion.walkingSpeed * motion.walkingSpeed
        if walking > 0 {
            velocity = MapPoint(x: x / walking, y: y / walking)
            variance = max(0, squares / walking - velocity.x * velocity.x - velocity.y * velocity.y) / 2
        }
        return BeliefSummary.Place(
            mapIndex: mapIndex, probability: min(max(probability, 0), 1), mean: mean, covariance: spread,
            walkingShare: all > 0 ? min(walking / all, 1) : 0, velocity: velocity, velocityVariance: variance)
    }

    /// Replaces all particles by particles drawn from a summary.
    fileprivate mutating func begin(
        with places: [BeliefSummary.Place], probabilities: [Double], receivers: [ReceiverOffset]
    ) {
        let before = self.receivers
        self.receivers = receivers
        defer { self.receivers = before }
        particles.resize(to: places.reduce(0) { $0 + wanted(probabilities[$1.mapIndex]) })
        var next = 0
        for place in places {
            let probability = probabilities[place.mapIndex]
            let wanted = wanted(probability)
            // The factor of the covariance: the lower triangle of its Cholesky decomposition.
            let first = place.covariance.xx.squareRoot()
            let mixed = first > 0 ? place.covariance.xy / first : 0
            let second = max(0, place.covariance.yy - mixed * mixed).squareRoot()
            let deviation = place.velocityVariance.squareRoot()
            for _ in 0..<wanted {
                let index = next
                let (dx, dy) = generator.normalPair()
                let offset = MapPoint(x: first * dx, y: mixed * dx + second * dy)
                self.place(
                    &next, at: place.mean + offset, mapIndex: place.mapIndex,
                    weight: Float(probability / Double(wanted)))
                let (vx, vy) = generator.normalPair()
                particles.velocityX[index] = Float(place.velocity.x + deviation * vx)
                particles.velocityY[index] = Float(place.velocity.y + deviation * vy)
                particles.isWalking[index] = generator.uniform() < place.walkingShare
            }
        }
    }
}
