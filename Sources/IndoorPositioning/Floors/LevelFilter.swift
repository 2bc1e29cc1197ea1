import CMath

/// How probable each floor is, over time: a hidden Markov model whose states are the floors.
///
/// What is heard weighs the floors. Air pressure tells climbing: each floor carries what the barometer would read on
/// the ground floor if the device is on that floor now, so that a change of height speaks for the floor that lies so
/// much higher. Source of the recursion: L. R. Rabiner, *A Tutorial on Hidden Markov Models*, Proceedings of the IEEE
/// 77(2), 1989.
package struct LevelFilter: Hashable, Sendable {
    /// Chance a second to leave a floor, without a barometer.
    private static let leaving = 0.01
    /// How fast what is known of the floor is forgotten when nothing is heard, a second.
    static let forgetting = leaving + mistake
    /// The same with a barometer that could tell: its reading decides then.
    private static let leavingWithPressure = 0.1
    /// Chance a second to find out that it was another floor all the time.
    private static let mistake = 0.005
    /// One look can't make a floor less probable than this against the best, as a logarithm: looks may be wrong.
    private static let outlier = -6.0
    /// Standard deviation in metres of the height that pressure tells, between two looks.
    private static let heightDeviation = 0.6
    /// Metres that the pressure's height wanders within a second, by weather and doors.
    private static let heightWander = 0.05
    /// A barometer silent for this many seconds counts as gone.
    private static let longestSilence = 5.0
    /// A climb longer than this many seconds is none: the barometer is noisy.
    private static let longestClimb = 60.0
    /// A height can't make a floor less probable than this, as a logarithm.
    private static let heightOutlier = -8.0

    /// Metres from floor to floor where nobody measured, and the standard deviation: flats have 2.7 m, halls 5 m.
    private static let storey = 3.5
    private static let storeyDeviation = 0.8

    /// Height of the barometer less that of the floor, in metres.
    private struct Reference: Hashable, Sendable {
        var value: Double
        var variance: Double
    }

    private struct State: Hashable, Sendable {
        var probability: Double
        /// Nil before any pressure.
        var reference: Reference?
    }

    private let elevations: [Double]
    /// Whether somebody measured each elevation.
    private let isMeasured: [Bool]
    private var states: [State]
    /// Seconds since floors were last changed.
    private var silence = 0.0
    private var climb = ClimbDetector()
    /// Seconds since heights were last compared with floors, because of a climb.
    private var climbTime = 0.0

    /// Whether anything was taken in yet.
    package private(set) var isEmpty = true

    /// How probable each floor is, in order; sums to 1.
    package var probabilities: [Double] { states.map(\.probability) }

    /// Whether the barometer says that the device is between two floors.
    package var isClimbing: Bool { climbTime > 0 && climbTime < Self.longestClimb }

    /// Creates a filter for floors at these heights in metres; all are equally probable.
    package init(elevations: [Double]) {
        self.init(floors: elevations.enumerated().map { ($0, $1) })
    }

    /// Creates a filter for floors, of which some have a measured elevation in metres; all are equally probable.
    ///
    /// A floor without one is taken to lie a usual storey above or below its neighbours, give or take a metre.
    package init(floors: [(level: Int, elevation: Double?)]) {
        elevations = floors.map { floor in
            let near = floors.filter { $0.elevation != nil }.min {
                (abs($0.level - floor.level), $0.level) < (abs($1.level - floor.level), $1.level)
            }
            return floor.elevation ?? (near?.elevation ?? 0) + Double(floor.level - (near?.level ?? 0)) * Self.storey
        }
        isMeasured = floors.map { $0.elevation != nil }
        states = floors.map { _ in State(probability: 1 / Double(max(1, floors.count))) }
    }

    /// Takes in a look at all floors.
    ///
    /// - Parameters:
    ///   - evidence: logarithm of each floor's likelihood, up to a common constant.
    ///   - height: metres that the barometer tells, above any height that stays the same; nil without one.
    ///   - seconds: since the last look.
    ///   - canBeMistaken: whether it may have been another floor all the time; not where nothing is heard that could tell.
    package mutating func observe(
        evidence: [Double], height: Double?, after seconds: Double, canBeMistaken: Bool = true
    ) {
        guard evidence.count == states.count, let best = evidence.max(), best.isFinite else { return }
        move(height, after: seconds, canBeMistaken)
        for index in states.indices {
            states[index].probability *= cmath_exp(max(evidence[index] - best, Self.outlier))
        }
        normalize()
        isEmpty = false
    }

    private mutating func move(_ height: Double?, after seconds: Double, _ canBeMistaken: Bool) {
        silence += seconds
        climb.observe(height, after: seconds)
        // Between two readings of a barometer nobody changes floor unseen.
        if height == nil, hasBarometer, silence < Self.longestSilence { return }
        if height == nil { for index in states.indices { states[index].reference = nil } }
        if !isEmpty, states.count > 1 {
            let seconds = silence
            let rate = height == nil ? Self.leaving : Self.leavingWithPressure
            // On the stairs heights fit no floor, and references would follow them: what counts is where a climb ends.
            climbTime = climb.isClimbing ? climbTime + seconds : 0
            let isClimbing = isClimbing
            let leave = (1 - cmath_exp(-rate * seconds)) / Double(states.count - 1)
            let old = states
            for floor in states.indices {
                let measured = isClimbing ? nil : height.map { $0 - elevations[floor] }
                states[floor] = arrive(
                    at: floor, from: old, leave, canBeMistaken ? Self.mistake : 0, measured, seconds)
            }
        }
        silence = 0
        if let height { begin(height) }
    }

    private var hasBarometer: Bool { states.contains { $0.reference != nil } }

    /// The state of a floor after some may have left theirs: all ways there, weighed by what the barometer says.
    private func arrive(
        at floor: Int, from old: [State], _ leave: Double, _ mistake: Double, _ measured: Double?, _ seconds: Double
    ) -> State {
        var total = 0.0
        var value = 0.0
        var square = 0.0
        var known = 0.0
        let others = Double(max(1, old.count - 1))
        // Only who did not leave can be mistaken: chances stay above zero after any gap.
        let mistaken = (1 - leave * others) * (1 - cmath_exp(-mistake * seconds)) / others
        let wander = Self.heightWander * Self.heightWander * seconds
        for source in old.indices {
            let stay = 1 - (leave + mistaken) * others
            let ways: [(chance: Double, reference: Reference?, doubt: Double)] =
                source == floor
                ? [(stay, old[floor].reference, 0)]
                : [(leave, old[source].reference, doubt(source, floor)), (mistaken, old[floor].reference, 0)]
            for (chance, reference, doubt) in ways {
                var share = old[source].probability * chance
                if let reference {
                    var next = (value: reference.value, variance: reference.variance, logarithm: 0.0)
                    next.variance += wander
                    if let measured { next = Self.update(next.value, next.variance, doubt, measured) }
                    share *= cmath_exp(next.logarithm)
                    known += share
                    value += share * next.value
                    square += share * (next.variance + next.value * next.value)
                }
                total += share
            }
        }
        guard known > 0 else { return State(probability: total, reference: old[floor].reference) }
        let mean = value / known
        return State(
            probability: total, reference: Reference(value: mean, variance: max(square / known - mean * mean, 0.01)))
    }

    /// Variance in m² of the height from one floor to another: none where both were measured.
    private func doubt(_ floor: Int, _ other: Int) -> Double {
        guard !isMeasured[floor] || !isMeasured[other] else { return 0 }
        return Self.storeyDeviation * Self.storeyDeviation * abs(elevations[floor] - elevations[other]) / Self.storey
    }

    /// Takes what the barometer tells for the height of each floor.
    private mutating func begin(_ height: Double) {
        for index in states.indices where states[index].reference == nil {
            states[index].reference = Reference(
                value: height - elevations[index], variance: Self.heightDeviation * Self.heightDeviation)
        }
    }

    private static func update(
        _ reference: Double, _ known: Double, _ doubt: Double, _ measured: Double
    ) -> (value: Double, variance: Double, logarithm: Double) {
        let noise = heightDeviation * heightDeviation
        let variance = known + doubt
        let total = variance + noise
        let innovation = measured - reference
        // Who expects anything between two heights is less right about each: as much as normal densities differ.
        let breadth = cmath_log((known + noise) / total) / 2
        let logarithm = max(breadth - innovation * innovation / (2 * total), heightOutlier)
        let gain = variance / total
        return (reference + gain * innovation, variance * (1 - gain), logarithm)
    }

    private mutating func normalize() {
        let sum = states.reduce(0) { $0 + $1.probability }
        guard sum > 0, sum.isFinite else {
            for index in states.indices { states[index].probability = 1 / Double(states.count) }
            return
        }
        for index in states.indices { states[index].probability /= sum }
    }
}
