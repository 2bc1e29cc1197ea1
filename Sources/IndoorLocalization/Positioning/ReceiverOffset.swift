/// How much stronger this receiver hears than the one that the map was made with: another phone, another pocket.
///
/// A Kalman filter of one number, fed with the mean difference between what is heard and what the belief expects.
package struct ReceiverOffset: Sendable {
    /// The offset in dB.
    package private(set) var value = 0.0
    /// Its variance in dB².
    package private(set) var variance: Double
    private let freedom: Double
    /// Decibels that the offset wanders within a second.
    private let wander: Double

    /// How far an offset wanders that is there at all.
    private static let usualWander = 0.1
    /// The error of one reading is partly the same for the next ones: it is taken for this many times its variance.
    private static let correlation = 4.0

    /// Creates an offset of zero, give or take `deviation` dB; if that is 0, it stays zero.
    package init(deviation: Double, degreesOfFreedom: Double) {
        variance = deviation * deviation
        freedom = degreesOfFreedom
        wander = deviation > 0 ? Self.usualWander : 0
    }

    /// Takes over what an earlier session learned, if the offset is to be learned at all.
    package mutating func begin(value: Double, deviation: Double) {
        guard variance > 0 else { return }
        self.value = value
        variance = deviation * deviation
    }

    /// Lets `seconds` pass.
    package mutating func pass(seconds: Double) { variance += wander * wander * seconds }

    /// Takes in a reading: its difference in dB to what was expected without offset, and the variance of that.
    package mutating func observe(difference: Double, variance noise: Double) {
        let innovation = difference - value
        let total = variance + noise * Self.correlation
        // Outliers move the offset less, as under Student's t distribution.
        let gain = variance == 0 ? 0 : variance / total / (1 + innovation * innovation / (freedom * total))
        value += gain * innovation
        variance *= 1 - gain
    }
}
