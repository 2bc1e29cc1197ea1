import CMath
import VenueModel

/// The signal of beacons for a coverage analysis: the variance of readings and the detection probability.
struct CoverageSignal: Sendable {
    let model: SignalModel
    let wallLoss: Double
    /// The inverse of the variance of the mean reading of one beacon, in 1/dB².
    let precision: Double
    private let duration: Double
    private let advertisements: Double
    /// The detection rates of the survey; nil without one.
    private let curve: DetectionCurve?
    /// The detection rate of a beacon at places where path loss predicts no reception.
    private let unheardRate: Double

    /// The minimum detection probability that contributes to a position.
    static let least = 0.01

    init(venue: Venue, field: SignalField, settings: CoverageSettings) {
        model = field.model
        wallLoss = settings.wallLoss
        duration = settings.duration
        advertisements = max(1, settings.duration / settings.advertisingInterval)
        unheardRate = field.unheardRate
        var deviation = field.pathLossDeviation
        if let map = venue.radioMap, !map.beacons.isEmpty {
            deviation = field.readingDeviation
            curve = DetectionCurve(
                of: map.beacons, map.fingerprints, exponents: map.beacons.map { _ in map.pathLossExponent },
                model: field.model)
        } else {
            curve = nil
        }
        let fading = model.fastFading * model.fastFading / min(advertisements, Double(max(1, model.readingCap)))
        precision = 1 / max(deviation * deviation + fading, 1e-6)
    }

    /// Returns the probability that the receiver detects a beacon at least once while it scans for one position.
    ///
    /// - Parameter rssi: the RSSI in dBm that path loss predicts.
    func detection(_ rssi: Double) -> Double {
        if let curve { return 1 - cmath_exp(-max(0, curve.rate(rssi: rssi) - unheardRate) * duration) }
        let single = 1 / (1 + cmath_exp(-(rssi - model.sensitivity) / model.sensitivityWidth))
        return 1 - cmath_exp(advertisements * cmath_log(max(1 - single, 1e-12)))
    }
}
