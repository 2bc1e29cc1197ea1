import CMath

extension SignalExpectation {
    /// dB²: nobody knows less.
    static let mostVariance = 1e6
    /// Detections a second: a million seconds and more without one are no different.
    private static let leastRate = 1e-9

    /// Whether the numbers are ones to compute with.
    var isUsable: Bool { abs(rssi) <= 1000 && !variance.isNaN && !(rate?.isNaN ?? false) }

    /// The logarithm of detections a second, as tables hold it.
    static func logarithm(of rate: Double) -> Float { Float(cmath_log(min(max(rate, leastRate), 1e9))) }

    /// Detections a second from what tables hold: in double precision, so that the way back gives the same bits.
    static func rate(ofLogarithm logarithm: Float) -> Double { cmath_exp(Double(logarithm)) }
}
