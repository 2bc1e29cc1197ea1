import CMath

/// The mean of the barometer's readings since the last look, as a height.
struct PressureMean: Hashable, Sendable {
    private var sum = 0.0
    private var count = 0

    /// Takes in a reading in hectopascal; one that is no air pressure is dropped.
    mutating func add(_ hectopascals: Double) {
        guard Self.isPressure(hectopascals) else { return }
        sum += hectopascals
        count += 1
    }

    /// The height in metres above the standard atmosphere's sea level, and begins anew; nil without a reading.
    mutating func drainHeight() -> Double? {
        guard count > 0 else { return nil }
        let mean = sum / Double(count)
        (sum, count) = (0, 0)
        return Self.height(mean)
    }

    /// Whether a reading in hectopascal is an air pressure at all.
    static func isPressure(_ hectopascals: Double) -> Bool { hectopascals > 100 && hectopascals < 1200 }

    /// The height in metres above sea level at which the standard atmosphere has that pressure.
    ///
    /// Source: *Manual of the ICAO Standard Atmosphere*, Doc 7488, 1993.
    static func height(_ hectopascals: Double) -> Double {
        44_330.8 * (1 - cmath_pow(hectopascals / 1013.25, 0.190_263))
    }
}
