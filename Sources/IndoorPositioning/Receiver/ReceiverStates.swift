import CMath

/// What each of many guesses of the place knows of the receiver: its offset and the body's shadow, with their covariance.
///
/// A guess that is right learns the receiver as it is; a wrong one is contradicted by the next beacons. So offset and place
/// are found together: the RSSIs of the beacons among each other tell the place, and their mean the offset.
/// Source: A. Doucet, N. de Freitas, K. Murphy, S. Russell, *Rao-Blackwellised Particle Filtering for Dynamic Bayesian
/// Networks*, UAI 2000.
package struct ReceiverStates: Sendable {
    /// Mean of offset, body x and body y, and the covariance's six numbers: each of `room` values.
    private var values: [Float] = []
    private var room = 0
    private static let fields = 9

    package private(set) var count = 0

    /// Creates states of no guesses.
    package init() {}

    /// Makes room for that many; those that remain stay as they are.
    mutating func resize(to count: Int) {
        self.count = count
        guard count > room else { return }
        var larger = [Float](repeating: 0, count: Self.fields * count)
        for field in 0..<Self.fields {
            for index in 0..<room { larger[field * count + index] = values[field * room + index] }
        }
        values = larger
        room = count
    }

    /// Sets some to what is known beforehand.
    mutating func begin(_ range: Range<Int>, with prior: ReceiverOffset) {
        for field in 0..<Self.fields { fill(field, range, with: 0) }
        fill(0, range, with: Float(prior.value))
        fill(3, range, with: Float(prior.variance))
        fill(6, range, with: Float(prior.bodyVariance))
        fill(8, range, with: Float(prior.bodyVariance))
    }

    private mutating func fill(_ field: Int, _ range: Range<Int>, with value: Float) {
        for index in range { values[field * room + index] = value }
    }

    /// Overwrites states from `start` on with copies of others.
    mutating func replace(from start: Int, with other: ReceiverStates, _ picks: [Int32]) {
        precondition(start + picks.count <= count, "no room for \(picks.count) states from \(start) on")
        for field in 0..<Self.fields {
            other.values.withUnsafeBufferPointer { source in
                guard let source = source.baseAddress else { return }
                cmath_gather(source + field * other.room, picks, picks.count, &values, field * room + start)
            }
        }
    }

    /// Overwrites some states with others as they are.
    mutating func replace(_ range: Range<Int>, with other: ReceiverStates) {
        for field in 0..<Self.fields {
            for index in range { values[field * room + index] = other.values[field * other.room + index] }
        }
    }

    /// Mean and variance of the offset over guesses with weights; nil if these weigh nothing.
    func offset(of range: Range<Int>, weights: [Float]) -> (mean: Double, variance: Double)? {
        var (all, sum, squares) = (0.0, 0.0, 0.0)
        for index in range {
            let (weight, value) = (Double(weights[index]), Double(values[index]))
            all += weight
            sum += weight * value
            squares += weight * (value * value + Double(values[3 * room + index]))
        }
        guard all > 0, squares.isFinite else { return nil }
        let mean = sum / all
        return (mean, max(0, squares / all - mean * mean))
    }

    /// Hands the states to a loop in C.
    @inline(__always)
    mutating func withPointers(_ body: (cmath_receivers) -> Void) {
        let room = room
        values.withUnsafeMutableBufferPointer { values in
            guard let base = values.baseAddress else { return }
            body(
                cmath_receivers(
                    offset: base, body_x: base + room, body_y: base + 2 * room, c00: base + 3 * room,
                    c01: base + 4 * room, c02: base + 5 * room, c11: base + 6 * room, c12: base + 7 * room,
                    c22: base + 8 * room))
        }
    }

    /// Lets time pass.
    ///
    /// - Parameters:
    ///   - wander: decibels that the offset wanders within a second.
    ///   - bodyVariance: of the body's shadow along each axis, in dB².
    ///   - bodyTime: seconds over which a body faces one way.
    mutating func pass(seconds: Double, wander: Double, bodyVariance: Double, bodyTime: Double) {
        let keep = cmath_exp(-seconds / bodyTime)
        let count = count
        withPointers {
            cmath_age_receivers(
                Float(wander * wander * seconds), Float(keep), Float(bodyVariance * (1 - keep * keep)), 0, count, $0)
        }
    }
}

extension Array {
    /// Removes elements from the end, or appends more, but keeps the memory.
    mutating func resize(to count: Int, with element: Element) {
        if count < self.count {
            removeLast(self.count - count)
        } else {
            append(contentsOf: repeatElement(element, count: count - self.count))
        }
    }
}
