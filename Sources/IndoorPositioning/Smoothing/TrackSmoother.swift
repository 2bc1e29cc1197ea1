import CMath
import IndoorVocabulary
import VenueModel

/// A smoother that estimates the track of a device from all of a recording's readings.
///
///     var smoother = TrackSmoother(venue: office)
///     for reading in readings { smoother.observe(reading) }
///     let track = smoother.finish()
///     track.look(at: instant)
///
/// This is a two-filter smoother. One engine processes the recording from its beginning, a second one from its end, and
/// the smoother multiplies the two beliefs every half second. The motion model is reversible in time (``MotionModel``),
/// so the second engine is the same engine with reversed time. The page on positioning experiments compares this method
/// with backward simulation and a grid. Sources: D. C. Fraser, J. E. Potter, *The Optimum Linear Smoother as a
/// Combination of Two Optimum Linear Filters*, IEEE Transactions on Automatic Control 14(4), 1969; with particles: G.
/// Kitagawa, *Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models*, Journal of Computational
/// and Graphical Statistics 5(1), 1996, and M. Briers, A. Doucet, S. Maskell, *Smoothing Algorithms for State-Space
/// Models*, Annals of the Institute of Statistical Mathematics 62, 2010.
///
/// Memory grows with the recording: about 16 MB per hour for the beliefs, and 150 bytes for each sighting. Smoothing
/// takes slightly more than twice the time of the engine alone.
public struct TrackSmoother: Sendable {
    private let field: SignalField
    private let venue: Venue
    private var settings: PositioningSettings
    private let seed: UInt64
    private let device: String?
    private var forward: PositioningEngine
    private var reversed = ReversedReadings()
    private var past: [(instant: Instant, belief: BeliefSample)] = []
    private var nextLook: Instant?
    private var last: Instant?

    /// Time between two estimates.
    private static let interval = Duration.milliseconds(500)
    /// Number of particles stored per estimate.
    static let guesses = 256

    /// Creates a smoother for a recording in a venue.
    ///
    /// - Parameters:
    ///   - venue: the venue of the recording, with its radio map if there is one.
    ///   - settings: the settings of both engines; the smoother uses the particle filter regardless of the method.
    ///   - device: the model of the recording device, as in ``LocalizationSettings/device``; nil if unknown.
    ///   - seed: the seed of all random numbers; the same seed gives the same track.
    public init(
        venue: Venue, settings: PositioningSettings = PositioningSettings(), device: String? = nil, seed: UInt64 = 0
    ) {
        self.init(
            venue: venue, field: SignalField(venue: venue, model: settings.signal), settings: settings, device: device,
            seed: seed)
    }

    /// Creates a smoother that shares an existing field.
    package init(
        venue: Venue, field: SignalField, settings: PositioningSettings, device: String? = nil, seed: UInt64
    ) {
        self.venue = venue
        self.field = field
        self.settings = settings
        self.settings.method = .particle
        self.seed = seed
        self.device = device
        forward = PositioningEngine(venue: venue, field: field, settings: self.settings, seed: seed)
        if let device { forward.begin(asDevice: device) }
    }

    /// Adds the recording's next reading; a reading that is earlier than the last one is treated as simultaneous with
    /// it.
    public mutating func observe(_ reading: SensorReading) {
        var reading = reading
        reading.instant = max(last ?? reading.instant, reading.instant)
        let now = reading.instant
        if let last, last.seconds(to: now) > SmoothedTrack.longestGap {
            look(at: last)
            nextLook = now
        }
        while let next = nextLook, next < now {
            look(at: next)
            nextLook = next.advanced(by: Self.interval)
        }
        nextLook = nextLook ?? now.advanced(by: Self.interval)
        last = now
        reversed.append(reading)
        forward.observe(reading)
    }

    private mutating func look(at instant: Instant) {
        forward.advance(to: instant)
        past.append((instant, BeliefSample(of: forward, count: Self.guesses)))
    }

    /// Ends the recording and returns its track; the track is empty if no beacon of the venue was detected.
    public consuming func finish() -> SmoothedTrack {
        guard let end = last else { return SmoothedTrack(looks: []) }
        look(at: end)
        var backward = PositioningEngine(venue: venue, field: field, settings: settings, seed: ~seed)
        if let device { backward.begin(asDevice: device) }
        let fusion = BeliefFusion(walls: venue.maps.map { WallIndex(walls: $0.walls) })
        var looks: [SmoothedTrack.Look] = []
        for (instant, belief) in past.reversed() {
            while var reading = reversed.removeLast(after: instant) {
                reading.instant = Self.mirror(reading.instant, at: end)
                backward.observe(reading)
            }
            backward.advance(to: Self.mirror(instant, at: end))
            if let look = look(at: instant, fusion(belief, BeliefSample(of: backward, count: Self.guesses))) {
                looks.append(look)
            }
        }
        return SmoothedTrack(looks: looks.reversed())
    }

    private static func mirror(_ instant: Instant, at end: Instant) -> Instant {
        Instant.zero.advanced(by: instant.duration(to: end))
    }

    private func look(at instant: Instant, _ maps: [BeliefFusion.MapBelief]) -> SmoothedTrack.Look? {
        guard let best = maps.max(by: { $0.probability < $1.probability }) else { return nil }
        let sum = maps.reduce(0) { $0 + $1.probability }
        return SmoothedTrack.Look(
            instant: instant, mapID: field.maps[best.index].mapID, probability: best.probability / sum,
            estimate: PositioningEngine.Estimate(at: best.point, radius: forward.radius(variance: best.variance)))
    }
}

/// The track of a device during a recording, estimated from all of the recording's readings.
public struct SmoothedTrack: Sendable {
    /// The estimated position at one instant.
    public struct Look: Hashable, Sendable {
        /// The instant of the estimate.
        public var instant: Instant
        /// The most probable map.
        public var mapID: MapID
        /// The probability of the map, in [0, 1].
        public var probability: Double
        /// The position on the map, with its 68 % radius.
        public var estimate: PositioningEngine.Estimate
    }

    /// The estimates, ordered by instant and half a second apart while there are readings.
    public let looks: [Look]

    /// Maximum gap in seconds between readings in which the track is interpolated.
    static let longestGap = 600.0

    /// Returns the position at an instant, interpolated between two estimates on one map. Between estimates on two
    /// maps, it returns the nearer estimate in time.
    ///
    /// The result is nil before the first estimate, after the last one, and in a gap of more than ten minutes.
    public func look(at instant: Instant) -> Look? {
        guard let first = looks.first, let last = looks.last, instant >= first.instant, instant <= last.instant else {
            return nil
        }
        let high = looks.count > 1 ? (1..<(looks.count - 1)).bisection { looks[$0].instant > instant } : 0
        let (before, after) = (looks[max(high - 1, 0)], looks[high])
        let span = before.instant.seconds(to: after.instant)
        if instant == before.instant { return before }
        if instant == after.instant { return after }
        guard span <= Self.longestGap else { return nil }
        let share = span > 0 ? before.instant.seconds(to: instant) / span : 0
        var look = share < 0.5 ? before : after
        look.instant = instant
        guard before.mapID == after.mapID else { return look }
        let (from, to) = (before.estimate, after.estimate)
        look.probability = before.probability + (after.probability - before.probability) * share
        look.estimate.point = from.point + (to.point - from.point) * share
        look.estimate.radius = from.radius + (to.radius - from.radius) * share
        return look
    }
}

/// The readings of a recording in a form that can be processed in reverse: steps in place of accelerations.
///
/// In reverse, a walk leads from its end to its start, so the heading of each step is turned by 180°. All other
/// readings stay the same.
struct ReversedReadings: Sendable {
    /// The readings for the engine, ordered by instant.
    private var readings: [SensorReading] = []
    private var pedometer = Pedometer()
    private var lastMark: Instant?

    /// Time in seconds between two readings that show the engine an active accelerometer; shorter than the engine's
    /// motion timeout.
    private static let markInterval = 0.4
    /// The reading of a resting accelerometer.
    private static let rest = Vector3(x: 0, y: 0, z: 9.80665)

    /// Adds the recording's next reading.
    mutating func append(_ reading: SensorReading) {
        switch reading {
        case .sighting, .pressure, .fix, .range:
            readings.append(reading)
        case .step(let step):
            let length = pedometer.report(step)
            append(Step(instant: step.instant, length: length, heading: step.heading ?? pedometer.degrees))
        case .motion(let sample):
            if let length = pedometer.detect(sample) {
                append(Step(instant: sample.instant, length: length, heading: pedometer.degrees))
            }
            guard pedometer.lastReading == sample.instant else { return }
            if let lastMark, lastMark.seconds(to: sample.instant) < Self.markInterval { return }
            lastMark = sample.instant
            readings.append(.motion(MotionSample(instant: sample.instant, acceleration: Self.rest)))
        case .advertisement, .gnss, .radio:
            break
        }
    }

    private mutating func append(_ step: Step) {
        var turned = step
        turned.heading = step.heading.map { $0 + 180 }
        readings.append(.step(turned))
    }

    /// Removes and returns the last reading if it is later than `instant`.
    mutating func removeLast(after instant: Instant) -> SensorReading? {
        guard let last = readings.last, last.instant > instant else { return nil }
        return readings.removeLast()
    }
}

extension Pedometer {
    /// Heading of the device in degrees clockwise from the plan's top; nil if unknown.
    fileprivate var degrees: Double? { heading.map { $0 * 180 / .pi } }
}

/// An engine's belief at one instant, thinned to a few equally weighted particles on each map.
struct BeliefSample: Sendable {
    /// A particle's position in metres from the plan's left and top edge.
    typealias Guess = cmath_guess

    /// The belief about one map.
    struct MapBelief: Sendable {
        /// Index in the field.
        var index: Int
        /// The probability of the map.
        var probability: Double
        /// Particles, given that the device is on the map.
        var guesses: [Guess]
        /// Mean of the belief.
        var mean: MapPoint
        /// Sum of the belief's variances along both axes in m².
        var variance: Double
    }

    /// The maps above the minimum probability; empty before any evidence.
    var maps: [MapBelief]

    /// Minimum probability of a map; less probable maps are omitted.
    private static let leastProbability = 1e-4
    /// Minimum number of particles on a map that isn't omitted.
    private static let fewest = 24

}

extension BeliefSample {
    /// Creates a sample of about `count` particles of an engine, drawn by systematic sampling.
    init(of engine: PositioningEngine, count: Int) {
        let particles = engine.belief.filter.particles
        let probabilities = engine.belief.floors.probabilities
        maps = []
        for (index, probability) in probabilities.enumerated() {
            let members = particles.range(of: index)
            guard probability >= Self.leastProbability, let first = members.first,
                let moments = engine.belief.filter.moments(mapIndex: index)
            else { continue }
            let wanted = max(Self.fewest, Int((probability * Double(count)).rounded()))
            var all = 0.0
            for member in members { all += Double(particles.weight[member]) }
            let step = all / Double(wanted)
            guard step > 0 else { continue }
            var guesses: [Guess] = []
            var position = 0
            var sum = Double(particles.weight[first])
            for draw in 0..<wanted {
                let next = (Double(draw) + 0.5) * step
                while sum < next, position + 1 < members.count {
                    position += 1
                    sum += Double(particles.weight[first + position])
                }
                guesses.append(Guess(x: particles.x[first + position], y: particles.y[first + position]))
            }
            maps.append(
                MapBelief(
                    index: index, probability: probability, guesses: guesses, mean: moments.mean,
                    variance: moments.variance))
        }
    }
}

/// A function that combines the belief from the past readings with the belief from the future readings.
///
/// Both beliefs contain a prior that is uniform over the map, so their product need not be divided by the prior. Each
/// belief is a set of particles, which represents a sum of normal distributions around them. The product is also such a
/// sum, with a term for each pair. Source: E. B. Sudderth, A. T. Ihler, W. T. Freeman, A. S. Willsky, *Nonparametric
/// Belief Propagation*, CVPR 2003; the bandwidth: B. W. Silverman, *Density Estimation for Statistics and Data
/// Analysis*, 1986, section 4.3.
struct BeliefFusion {
    /// The fused belief about one map.
    struct MapBelief: Sendable {
        /// Index in the field.
        var index: Int
        /// The probability of the map, up to a common factor.
        var probability: Double
        /// Mean position, given that the device is on the map.
        var point: MapPoint
        /// Sum of the variances along both axes in m².
        var variance: Double
    }

    /// The walls of each map in the field's order.
    let walls: [WallIndex]

    /// Distance between two particles, in bandwidths, above which the pair is ignored.
    private static let reach = 3.5
    /// Bounds of the bandwidth in metres: a particle represents an area, but separate modes must not merge.
    private static let narrowest = 0.25
    private static let widest = 1.2
    /// Share of the variance reduction that is discarded: the same walls distort the readings before and after the
    /// instant.
    private static let shared = 0.25
    /// Density in 1/m² of a uniform distribution over the map, for a belief that has lost the device.
    private static let anywhere = 1e-5

    /// Returns the fused beliefs of the maps that both samples contain; if one sample is empty, the beliefs of the
    /// other.
    func callAsFunction(_ past: BeliefSample, _ future: BeliefSample) -> [MapBelief] {
        if past.maps.isEmpty { return future.maps.map(Self.alone) }
        if future.maps.isEmpty { return past.maps.map(Self.alone) }
        var maps: [MapBelief] = []
        for before in past.maps {
            guard let after = future.maps.first(where: { $0.index == before.index }) else { continue }
            maps.append(product(before, after))
        }
        return maps.isEmpty ? past.maps.map(Self.alone) : maps
    }

    private static func alone(_ map: BeliefSample.MapBelief) -> MapBelief {
        MapBelief(index: map.index, probability: map.probability, point: map.mean, variance: map.variance)
    }

    /// Weighted sums of positions.
    private struct Sums {
        var weight = 0.0
        var x = 0.0
        var y = 0.0
        var square = 0.0

        mutating func add(_ px: Float, _ py: Float, _ part: Double) {
            let (px, py) = (Double(px), Double(py))
            weight += part
            x += part * px
            y += part * py
            square += part * (px * px + py * py)
        }
    }

    private func product(_ before: BeliefSample.MapBelief, _ after: BeliefSample.MapBelief) -> MapBelief {
        let (first, second) = (Self.width(before), Self.width(after))
        // The variance of the distance between two particles of the same position.
        let total = first * first + second * second
        var sums = meetings(before, after, first: first, second: second)
        let pairs = Double(before.guesses.count * after.guesses.count)
        let density = sums.weight / pairs / (2 * .pi * total)
        let lost = Self.anywhere * 2 * .pi * total * pairs
        for a in before.guesses { sums.add(a.x, a.y, lost / 2 / Double(before.guesses.count)) }
        for b in after.guesses { sums.add(b.x, b.y, lost / 2 / Double(after.guesses.count)) }
        let mean = MapPoint(x: sums.x / sums.weight, y: sums.y / sums.weight)
        let spread = max(0, sums.square / sums.weight - mean.x * mean.x - mean.y * mean.y)
        return MapBelief(
            index: before.index, probability: before.probability * after.probability * (density + Self.anywhere),
            point: mean, variance: spread + Self.shared * max(0, min(before.variance, after.variance) - spread))
    }

    /// Sums the pairs of particles that can represent the same position; each pair is placed at the mean of the product
    /// of its two normal distributions.
    private func meetings(
        _ before: BeliefSample.MapBelief, _ after: BeliefSample.MapBelief, first: Double, second: Double
    ) -> Sums {
        let total = first * first + second * second
        let share = Float(first * first / total)
        let limit = Float(Self.reach * Self.reach * total)
        let scale = Float(-0.5 / total)
        let walls = walls[before.index].table
        var grid = walls.grid
        var sums = cmath_place_sums()
        cmath_meetings(
            before.guesses, before.guesses.count, after.guesses, after.guesses.count, share, limit, scale, &grid,
            walls.cells, walls.lines, &sums)
        return Sums(weight: sums.weight, x: sums.x, y: sums.y, square: sums.square)
    }

    private static func width(_ map: BeliefSample.MapBelief) -> Double {
        let wide = (map.variance / 2).squareRoot() * cmath_pow(Double(map.guesses.count), -1.0 / 6)
        return min(max(wide, narrowest), widest)
    }
}
