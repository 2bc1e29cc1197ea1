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
