/// What is known of how much stronger this receiver hears than the one that the map was made with: another phone, another
/// pocket.
package struct ReceiverOffset: Hashable, Sendable {
    /// The offset in dB.
    package private(set) var value = 0.0
    /// Its variance in dB².
    package private(set) var variance: Double
    /// Variance in dB² along each axis of the vector by which the body of whoever carries the device weakens the beacons
    /// behind it.
    package private(set) var bodyVariance: Double

    /// Creates an offset of zero, with standard deviations in dB; if the first is 0, it stays zero.
    package init(deviation: Double, bodyDeviation: Double = 0) {
        variance = deviation * deviation
        bodyVariance = bodyDeviation * bodyDeviation
    }

    /// Takes over what was learned, if the offset is to be learned at all.
    package mutating func begin(value: Double, deviation: Double) {
        guard variance > 0 else { return }
        self.value = value
        variance = deviation * deviation
    }
}
