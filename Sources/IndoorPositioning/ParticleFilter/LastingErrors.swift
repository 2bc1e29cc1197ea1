import CMath

/// The errors of readings that last, for each particle and each remembered beacon.
///
/// A reading differs from the radio map by fading, which changes from one reading to the next, and by an error that lasts:
/// shadowing that the map lacks, or that has changed since. While a device stands, the lasting error stays, so that many
/// readings tell no more about the place than a few; after some metres, it is another one. For each particle, a Kalman
/// filter estimates the lasting error of each beacon. A reading is then evidence for or against a particle only as far as
/// it differs from what the particle expects after the reading before.
///
/// The lasting error is a first-order Gauss–Markov process over time and distance: of an error, `exp(-t / time - d / length)`
/// is left after `t` seconds and `d` metres. At the true positions of five data sets, 70 to 80 % of an error's covariance
/// remain after 3 to 5 s at one place, and 37 % after 0.7 to 1.5 m of a walk.
/// Source of the exponential model: M. Gudmundson, *Correlation Model for Shadow Fading in Mobile Radio Systems*, Electronics
/// Letters 27(23), 1991; of a filter for each particle: see ``ReceiverStates``.
package struct LastingErrors: Sendable {
    /// The time in seconds and the distance in metres within which an error lasts.
    static let (time, length) = (10.0, 1.3)
    /// The factor on the wander of a standing device where errors are remembered.
    static let wanderFactor = 2.0

    /// The values of a slot: the error in dB, its variance in dB², and the particle's place at the latest reading.
    private static let fields = 4
    /// The field of the place's x, and a place from which no error lasts.
    private static let (placeField, nowhere) = (2, Float(1e9))

    /// For each slot and field, `room` values.
    private var values: [Float] = []
    private var room = 0
    private(set) var count = 0
    /// The number of slots.
    private(set) var slots = 0

    /// The bytes of the errors.
    var byteCount: Int { 4 * values.capacity }

    /// Resizes the set to `count` particles; the existing ones keep their errors, and new ones have none.
    mutating func resize(to count: Int) {
        let known = min(self.count, count)
        self.count = count
        if count > room {
            var larger = [Float](repeating: 0, count: slots * Self.fields * count)
            for part in 0..<slots * Self.fields {
                for index in 0..<known { larger[part * count + index] = values[part * room + index] }
            }
            values = larger
            room = count
        }
        for slot in 0..<slots { forget(slot, known..<count) }
    }

    /// Adds slots until there are `slots`.
    mutating func open(_ slots: Int) {
        guard slots > self.slots else { return }
        let first = self.slots
        self.slots = slots
        // An array that grows by appending doubles its memory.
        values.reserveCapacity(slots * Self.fields * room)
        values.append(contentsOf: repeatElement(0, count: slots * Self.fields * room - values.count))
        for slot in first..<slots { forget(slot) }
    }

    /// Removes the errors of a slot.
    mutating func forget(_ slot: Int) { forget(slot, 0..<count) }

    private mutating func forget(_ slot: Int, _ range: Range<Int>) {
        let first = (slot * Self.fields + Self.placeField) * room
        for index in range { values[first + index] = Self.nowhere }
    }

    /// Gives each particle the errors of its origin after a resampling; a particle without one has no errors.
    ///
    /// One field is rearranged at a time, so that the errors need no second copy.
    ///
    /// - Parameters:
    ///   - origins: for each new particle, the index of the particle that it is a copy of; negative for a new one, and 0 on
    ///     return.
    ///   - fresh, scratch: memory for the indexes of the new particles, and for the values of one field.
    mutating func rearrange(_ origins: inout [Int32], fresh: inout [Int32], scratch: inout [Float]) {
        let count = origins.count
        if count > self.count { resize(to: count) }
        self.count = count
        fresh.removeAll(keepingCapacity: true)
        for index in origins.indices where origins[index] < 0 {
            fresh.append(Int32(index))
            origins[index] = 0
        }
        guard slots > 0, count > 0 else { return }
        scratch.resize(to: count, with: 0)
        values.withUnsafeMutableBufferPointer { values in
            scratch.withUnsafeMutableBufferPointer { scratch in
                guard let values = values.baseAddress, let scratch = scratch.baseAddress else { return }
                for part in 0..<slots * Self.fields {
                    let field = values + part * room
                    cmath_gather(field, origins, count, scratch, 0)
                    field.update(from: scratch, count: count)
                }
            }
        }
        for slot in 0..<slots {
            let first = (slot * Self.fields + Self.placeField) * room
            for index in fresh { values[first + Int(index)] = Self.nowhere }
        }
    }

    /// Passes the errors of a slot to a C loop.
    ///
    /// - Parameters:
    ///   - seconds: the time since the latest reading.
    ///   - fading: the part of the reading's variance in dB² that doesn't last.
    @inline(__always)
    mutating func withPointers(_ slot: Int, after seconds: Double, fading: Float, _ body: (inout cmath_lasting) -> Void)
    {
        let (room, keep) = (room, Float(cmath_exp(-max(0, seconds) / Self.time)))
        values.withUnsafeMutableBufferPointer { values in
            precondition((slot + 1) * Self.fields * room <= values.count, "slot \(slot) isn't open")
            guard let base = values.baseAddress.map({ $0 + slot * Self.fields * room }) else { return }
            var errors = cmath_lasting(
                error: base, variance: base + room, x: base + 2 * room, y: base + 3 * room, keep: keep,
                per_metre: Float(1 / Self.length), fading: fading)
            body(&errors)
        }
    }
}
