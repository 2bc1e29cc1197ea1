import CMath

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
