import VenueModel

/// An estimator of the receiver offset of each device model, from the offsets of its recordings.
///
/// A model's offset is the mean over its recordings. The variance of the recordings within a model (another pocket,
/// another unit) is assumed equal for all models, as most have few recordings; its prior is worth a few recordings.
/// Source of the estimate with a conjugate prior: A. Gelman et al., *Bayesian Data Analysis*, 3rd edition, 2013,
/// section 2.6.
struct DeviceOffsets {
    /// The learned receiver of each model, by name.
    let receivers: [String: RadioMap.Receiver]

    /// Prior standard deviation in dB of the recordings within a model, such as a hand against a pocket.
    private static let usualDeviation = 2.0
    /// Number of recordings that the prior is worth.
    private static let usualCount = 2.0
    /// Lower bound of a receiver's standard deviation in dB, for another pocket, another unit of the model, or a wrong
    /// name. On ipin2023, a bound of 1.3 dB would reduce the error by 0.06 m. It would increase the error by 1.6 m if
    /// the device's true offset is 15 dB below the stated one, and by 0.4 m if it is 8 dB below.
    private static let leastDeviation = 3.0

    /// Estimates the offsets from recordings.
    ///
    /// - Parameters:
    ///   - devices: the device model of each recording; nil if unknown.
    ///   - offsets: the receiver offset of each recording relative to the mean of all, in dB.
    ///   - areDetermined: whether the survey determines the offsets. If not, an offset is known only if all recordings
    ///     have the same model; it is the mean of all recordings.
    init(_ devices: [String?], offsets: [Double], areDetermined: Bool) {
        var byDevice: [String: [Double]] = [:]
        for (device, offset) in zip(devices, offsets) {
            if let device { byDevice[device, default: []].append(offset) }
        }
        guard areDetermined || byDevice.count == 1 && !devices.contains(nil) else {
            receivers = [:]
            return
        }
        let means = byDevice.mapValues { $0.reduce(0, +) / Double($0.count) }
        var (count, squares) = (Self.usualCount, Self.usualCount * Self.usualDeviation * Self.usualDeviation)
        for (device, offsets) in byDevice.sorted(by: { $0.key < $1.key }) {
            let mean = means[device] ?? 0
            count += Double(offsets.count - 1)
            squares += offsets.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        }
        let variance = squares / count
        receivers = Dictionary(
            uniqueKeysWithValues: byDevice.map { device, offsets in
                // The variance of a new recording: its variance about the mean, plus the variance of the mean.
                let deviation = (variance * (1 + 1 / Double(offsets.count))).squareRoot()
                return (
                    device,
                    RadioMap.Receiver(
                        offset: min(max(means[device] ?? 0, -50), 50),
                        deviation: min(max(deviation, Self.leastDeviation), 50))
                )
            })
    }
}
