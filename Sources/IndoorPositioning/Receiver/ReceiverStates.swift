import CMath

/// The receiver state of each particle: offset and body shadowing, with their covariance.
///
/// A particle at the true position learns the true receiver state. At another position, further readings contradict the
/// learned state. The filter thus estimates offset and position jointly: the differences between the beacons' RSSI
/// determine the position, and their mean the offset. Source: A. Doucet, N. de Freitas, K. Murphy, S. Russell,
/// *Rao-Blackwellised Particle Filtering for Dynamic Bayesian Networks*, UAI 2000.
package struct ReceiverStates: Sendable {
    /// The means of offset, body x and body y, and the six elements of the covariance: `room` values each.
    private var values: [Float] = []
    private var room = 0
    private static let fields = 9

    package private(set) var count = 0

    /// The bytes of the states.
    var byteCount: Int { 4 * values.capacity }

    /// Creates an empty set of states.
    package init() {}

    /// Resizes the set to `count` states; the existing ones keep their values.
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

    /// Sets the states in a range to the prior.
    mutating func begin(_ range: Range<Int>, with prior: ReceiverOffset) {
        for field in 0..<Self.fields { fill(field, range, with: 0) }
        fill(0, range, with: Float(prior.value))
        fill(3, range, with: Float(prior.variance))
        fill(6, range, with: Float(prior.bodyVariance))
        fill(8, range, with: Float(prior.bodyVariance))
    }

    private mutating func fill(_ field: Int, _ range: Range<Int>, with value: Float) {
        guard !range.isEmpty else { return }
        let first = field * room
        values.withUnsafeMutableBufferPointer { values in
            values[first + range.lowerBound..<first + range.upperBound].update(repeating: value)
        }
    }

    /// Overwrites the states at and after `start` with copies of the picked states of another set.
    mutating func replace(from start: Int, with other: ReceiverStates, _ picks: [Int32]) {
        precondition(start + picks.count <= count, "no room for \(picks.count) states from \(start) on")
        for field in 0..<Self.fields {
            other.values.withUnsafeBufferPointer { source in
                guard let source = source.baseAddress else { return }
                cmath_gather(source + field * other.room, picks, picks.count, &values, field * room + start)
            }
        }
    }

    /// Overwrites the states in a range with the same states of another set.
    mutating func replace(_ range: Range<Int>, with other: ReceiverStates) {
        for field in 0..<Self.fields {
            for index in range { values[field * room + index] = other.values[field * other.room + index] }
        }
    }

    /// Returns the weighted mean and variance of the offset; nil if the sum of the weights is zero.
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

    /// Passes the states to a C loop.
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

    /// Increases the uncertainty of all states by the process noise of some seconds.
    ///
    /// - Parameters:
    ///   - wander: random walk of the offset, in dB per square root of a second.
    ///   - bodyVariance: variance of body shadowing along each axis, in dB².
    ///   - bodyTime: time in seconds during which the body keeps its direction.
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
    /// Removes elements from the end or appends copies of `element`; keeps the allocated memory.
    mutating func resize(to count: Int, with element: Element) {
        if count < self.count { return removeLast(self.count - count) }
        // As an append of all elements at once. In a build without optimization, appending a whole buffer takes a
        // hundredth of the time of a repeated element.
        if count > capacity { reserveCapacity(Swift.max(count, 2 * capacity)) }
        withUnsafeTemporaryAllocation(of: Element.self, capacity: 64) { copies in
            copies.initialize(repeating: element)
            while self.count < count {
                let next = Swift.min(copies.count, count - self.count)
                append(contentsOf: UnsafeBufferPointer(start: copies.baseAddress, count: next))
            }
            copies.deinitialize()
        }
    }
}

/// The estimated offset of this receiver relative to the receiver of the radio map, which depends on the device and how
/// it is carried.
package struct ReceiverOffset: Hashable, Sendable {
    /// The offset in dB.
    package private(set) var value = 0.0
    /// Variance of the offset in dB².
    package private(set) var variance: Double
    /// Variance in dB² along each axis of the body-shadowing vector: the user's body attenuates the beacons behind it.
    package private(set) var bodyVariance: Double

    /// Creates an offset of zero with standard deviations in dB. If `deviation` is 0, the offset stays zero.
    package init(deviation: Double, bodyDeviation: Double = 0) {
        variance = deviation * deviation
        bodyVariance = bodyDeviation * bodyDeviation
    }

    /// Sets the offset to a learned value, unless the offset is fixed at zero.
    package mutating func begin(value: Double, deviation: Double) {
        guard variance > 0 else { return }
        self.value = value
        variance = deviation * deviation
    }
}
