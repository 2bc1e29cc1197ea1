import CMath

/// The probability of each floor over time: a hidden Markov model whose states are the floors.
///
/// The radio evidence weights the floors. Air pressure detects climbs: each floor has a reference, which is the height
/// that the barometer would show on the ground floor if the device is on that floor now. A change of height is
/// therefore evidence for the floor that is higher by this change. Source of the recursion: L. R. Rabiner, *A Tutorial
/// on Hidden Markov Models*, Proceedings of the IEEE 77(2), 1989.
package struct FloorFilter: Hashable, Sendable {
    /// Probability per second of leaving a floor, without a barometer.
    private static let leaving = 0.01
    /// Rate per second at which the floor probabilities decay without evidence.
    static let forgetting = leaving + mistake
    /// Probability per second of leaving a floor, with a barometer; larger because the height then determines the
    /// floor.
    private static let leavingWithPressure = 0.1
    /// Probability per second that the estimated floor was wrong from the beginning.
    private static let mistake = 0.005
    /// The lower limit of a floor's log likelihood relative to the best floor in a single update, because an update can
    /// be wrong.
    private static let outlier = -6.0
    /// The standard deviation in metres of the height from pressure, between two updates.
    private static let heightDeviation = 0.6
    /// The drift in metres of the height from pressure per second, caused by weather and doors.
    private static let heightWander = 0.05
    /// The time in seconds without a reading after which the barometer is treated as missing.
    private static let longestSilence = 5.0
    /// The maximum duration of a climb in seconds; a longer one is noise of the barometer.
    private static let longestClimb = 60.0
    /// The lower limit of a floor's log likelihood from the height.
    private static let heightOutlier = -8.0

    /// The assumed height of a storey in metres without a measurement, and its standard deviation. Flats have 2.7 m,
    /// halls 5 m.
    private static let storey = 3.5
    private static let storeyDeviation = 0.8

    /// The barometer's height minus the elevation of the floor, in metres.
    private struct Reference: Hashable, Sendable {
        var value: Double
        var variance: Double
    }

    private struct State: Hashable, Sendable {
        var probability: Double
        /// The reference; nil before any pressure.
        var reference: Reference?
    }

    private let elevations: [Double]
    /// Whether each elevation was measured.
    private let isMeasured: [Bool]
    private var states: [State]
    /// The seconds since the last update of the floors.
    private var silence = 0.0
    private var climb = ClimbDetector()
    /// The duration of the current climb in seconds. During a climb, the filter doesn't compare heights with floors.
    private var climbTime = 0.0

    /// Whether the filter has received no evidence yet.
    package private(set) var isEmpty = true

    /// The probability of each floor, in order; the sum is 1.
    package var probabilities: [Double] { states.map(\.probability) }

    /// The bytes of the floors' states.
    var byteCount: Int { MemoryLayout<State>.stride * states.capacity }

    /// Whether the barometer shows that the device is between two floors.
    package var isClimbing: Bool { climbTime > 0 && climbTime < Self.longestClimb }

    /// Creates a filter for floors at these heights in metres; all are equally probable.
    package init(elevations: [Double]) {
        self.init(floors: elevations.enumerated().map { ($0, $1) })
    }

    /// Creates a filter for floors, some of which have a measured elevation in metres; all are equally probable.
    ///
    /// A floor without an elevation has the assumed storey height to its neighbours, with a standard deviation of about
    /// a metre.
    package init(floors: [(level: Int, elevation: Double?)]) {
        elevations = Self.elevations(of: floors)
        isMeasured = floors.map { $0.elevation != nil }
        states = floors.map { _ in State(probability: 1 / Double(max(1, floors.count))) }
    }

    /// Returns the elevation of each floor in metres: the measured one, or the assumed storey height above or below the
    /// nearest measured floor.
    static func elevations(of floors: [(level: Int, elevation: Double?)]) -> [Double] {
        floors.map { floor in
            let near = floors.filter { $0.elevation != nil }.min {
                (abs($0.level - floor.level), $0.level) < (abs($1.level - floor.level), $1.level)
            }
            return floor.elevation ?? (near?.elevation ?? 0) + Double(floor.level - (near?.level ?? 0)) * storey
        }
    }

    /// Sets the probabilities from an earlier filter: one per floor, with a sum above 0.
    mutating func begin(with probabilities: [Double]) {
        for (index, probability) in probabilities.prefix(states.count).enumerated() {
            states[index].probability = probability
        }
        normalize()
        isEmpty = false
    }

    /// Updates the floors with new evidence.
    ///
    /// - Parameters:
    ///   - evidence: the log likelihood of each floor, up to a common constant; minus infinity for an impossible floor.
    ///     If all floors are impossible, the evidence is wrong, and the filter ignores it.
    ///   - weight: the weight of the evidence, at least 0.
    ///   - height: the height of the barometer in metres, up to a constant offset; nil without one.
    ///   - seconds: the time since the last update.
    ///   - canBeMistaken: whether the estimated floor can have been wrong from the beginning; false if no reception can
    ///     show it.
    package mutating func observe(
        evidence: [Double], weight: Double = 1, height: Double?, after seconds: Double, canBeMistaken: Bool = true
    ) {
        move(height, after: seconds, canBeMistaken)
        guard evidence.count == states.count, let best = evidence.max(), best.isFinite else { return normalize() }
        for index in states.indices where weight > 0 {
            states[index].probability *= cmath_exp(max((evidence[index] - best) * weight, Self.outlier))
        }
        normalize()
        isEmpty = false
    }

    private mutating func move(_ height: Double?, after seconds: Double, _ canBeMistaken: Bool) {
        silence += seconds
        climb.observe(height, after: seconds)
        // Wait for the barometer's next reading.
        if height == nil, hasBarometer, silence < Self.longestSilence { return }
        if height == nil { for index in states.indices { states[index].reference = nil } }
        if !isEmpty, states.count > 1 {
            let seconds = silence
            let rate = height == nil ? Self.leaving : Self.leavingWithPressure
            // During a climb, the height matches no floor, and the references would follow it; use only the height
            // after the climb.
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

    /// Returns the state of a floor after possible changes: all transitions to it, weighted by the barometer.
    private func arrive(
        at floor: Int, from old: [State], _ leave: Double, _ mistake: Double, _ measured: Double?, _ seconds: Double
    ) -> State {
        var total = 0.0
        var value = 0.0
        var square = 0.0
        var known = 0.0
        let others = Double(max(1, old.count - 1))
        // Only a device that did not leave its floor can have a wrong floor. This keeps the probabilities above zero
        // after any gap.
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

    /// Returns the variance in m² of the height from one floor to another: zero if both were measured.
    private func doubt(_ floor: Int, _ other: Int) -> Double {
        guard !isMeasured[floor] || !isMeasured[other] else { return 0 }
        return Self.storeyDeviation * Self.storeyDeviation * abs(elevations[floor] - elevations[other]) / Self.storey
    }

    /// Sets the missing references from the barometer's height.
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
        // A floor with a larger variance has a lower density: the logarithm of the ratio of the normal densities'
        // maxima.
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

/// The mean of the barometer's readings since the last update, as a height.
struct PressureMean: Hashable, Sendable {
    private var sum = 0.0
    private var count = 0

    /// Adds a reading in hectopascal; ignores one that is not an air pressure.
    mutating func add(_ hectopascals: Double) {
        guard Self.isPressure(hectopascals) else { return }
        sum += hectopascals
        count += 1
    }

    /// Returns the height in metres above the standard atmosphere's sea level, and resets the mean; nil without a
    /// reading.
    mutating func drainHeight() -> Double? {
        guard count > 0 else { return nil }
        let mean = sum / Double(count)
        (sum, count) = (0, 0)
        return Self.height(mean)
    }

    /// Returns whether a reading in hectopascal is a possible air pressure.
    static func isPressure(_ hectopascals: Double) -> Bool { hectopascals > 100 && hectopascals < 1200 }

    /// Returns the height in metres above sea level at which the standard atmosphere has the given pressure.
    ///
    /// Source: *Manual of the ICAO Standard Atmosphere*, Doc 7488, 1993.
    static func height(_ hectopascals: Double) -> Double {
        44_330.8 * (1 - cmath_pow(hectopascals / 1013.25, 0.190_263))
    }
}

/// A detector of climbs from the barometer's height, by stairs, escalator or elevator.
struct ClimbDetector: Hashable, Sendable {
    /// The length of the window in seconds.
    private static let window = 4.0
    /// The difference of height in metres within the window above which the change is a climb and not noise; a slow
    /// walk on stairs makes 1 m.
    private static let span = 0.8

    private struct Entry: Hashable, Sendable {
        var age: Double
        var height: Double
    }

    private var entries: [Entry] = []

    /// Adds a height in metres, `seconds` after the last call; nil without a reading.
    mutating func observe(_ height: Double?, after seconds: Double) {
        for index in entries.indices { entries[index].age += seconds }
        entries.removeAll { $0.age > Self.window }
        if let height { entries.append(Entry(age: 0, height: height)) }
    }

    /// Whether the heights in the window differ too much for a device that stays on a floor.
    var isClimbing: Bool {
        guard let lowest = entries.map(\.height).min(), let highest = entries.map(\.height).max() else { return false }
        return highest - lowest > Self.span
    }
}
