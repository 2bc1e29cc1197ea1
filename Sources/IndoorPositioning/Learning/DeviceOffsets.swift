import VenueModel

/// Finds how much stronger or weaker each model of device hears, from the offsets of its recordings.
///
/// A model's offset is the mean of its recordings'. How much a recording differs from its model (another pocket, another
/// unit) is taken as the same for all models, as most have few recordings: a variance with a prior of a few recordings.
/// Source of the estimate with a conjugate prior: A. Gelman et al., *Bayesian Data Analysis*, 3rd edition, 2013,
/// section 2.6.
struct DeviceOffsets {
    /// What was learned of each model, by its name.
    let receivers: [String: RadioMap.Receiver]

    /// How much recordings of one model differ where nothing tells, as a standard deviation in dB: a hand against a
    /// pocket.
    private static let usualDeviation = 2.0
    /// So many recordings would tell as much of it.
    private static let usualCount = 2.0
    /// No receiver is taken for known better, in dB: another pocket, another unit of the model, a wrong name. On ipin2023 1.3 dB
    /// would gain 0.06 m, and cost 1.6 m where the device hears by 15 dB weaker than it is said to, 0.4 m where by 8 dB.
    private static let leastDeviation = 3.0

    /// Learns of recordings.
    ///
    /// - Parameters:
    ///   - devices: the model that made each recording; nil if unknown.
    ///   - offsets: how much stronger each recording heard than the mean of all, in dB.
    ///   - areDetermined: whether the survey determines offsets. Otherwise only a single model is known: it is the mean of all.
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
                // That of a new recording about the mean, and of the mean.
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
