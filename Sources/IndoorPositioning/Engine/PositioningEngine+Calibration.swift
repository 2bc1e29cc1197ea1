extension PositioningEngine {
    /// Factor on the variance of the learned offset, because the errors of readings are correlated across the filter's
    /// updates.
    private static let correlation = 2.0

    /// Standard deviation in dB that is added to the learned receiver offset for new particles.
    private static let offsetDoubt = 2.0

    /// The calibration that the engine has learned on the most probable map; nil before any evidence, and for methods
    /// that don't learn.
    ///
    /// The receiver offset is that of the map's particles. The step scale is the weighted mean over the particles:
    /// resampling has removed the particles whose step scale led them into walls or away from the beacons. The
    /// remaining particles may descend from few ancestors; the number of steps therefore bounds the certainty.
    package var calibration: Calibration? {
        guard let mapIndex = learnedMapIndex else { return nil }
        var calibration = Calibration()
        let offset = offsets[mapIndex]
        calibration.rssiOffset = min(max(offset.value, -50), 50)
        // The correlation factor raises the variance at most to that of the prior, which keeps the earlier calibration.
        let most = max(offset.variance, firstReceiver.variance)
        calibration.rssiDeviation = min(min(Self.correlation * offset.variance, most).squareRoot(), 50)
        let (mean, deviation) = filter.stepScale(mapIndex: mapIndex)
        calibration.stepScale = min(max(mean, 0.4), 2.5)
        calibration.stepDeviation = min(max(deviation, stepUncertainty), 1)
        return calibration
    }

    /// The receiver regardless of the map: the offsets of all maps, weighted by their probabilities.
    var receiver: ReceiverOffset {
        var (all, sum, squares) = (0.0, 0.0, 0.0)
        for (offset, share) in zip(offsets, mapShares) {
            all += share
            sum += share * offset.value
            squares += share * (offset.variance + offset.value * offset.value)
        }
        var receiver = firstReceiver
        guard all > 0 else { return receiver }
        let mean = sum / all
        receiver.begin(value: mean, deviation: max(0, squares / all - mean * mean).squareRoot())
        return receiver
    }

    /// Updates the receiver offsets from the particles; the receiver is the same on all maps.
    ///
    /// New particles begin with the mean offset over all maps and a larger variance, because the belief may be wrong.
    mutating func learnOffsets() {
        for mapIndex in offsets.indices {
            guard let (mean, variance) = filter.receiverOffset(mapIndex: mapIndex) else { continue }
            offsets[mapIndex].begin(value: mean, deviation: variance.squareRoot())
        }
        let learned = receiver
        let variance = learned.variance + Self.offsetDoubt * Self.offsetDoubt
        for mapIndex in offsets.indices {
            filter.receivers[mapIndex] = firstReceiver
            filter.receivers[mapIndex].begin(
                value: learned.value, deviation: min(variance, max(firstReceiver.variance, 1)).squareRoot())
        }
    }
}

extension ParticleFilter {
    /// Returns the mean and the standard deviation of the particles' step scale on a map.
    func stepScale(mapIndex: Int) -> (mean: Double, deviation: Double) {
        var (weight, sum, squares) = (0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let (share, scale) = (Double(particles.weight[index]), Double(particles.scale[index]))
            weight += share
            sum += share * scale
            squares += share * scale * scale
        }
        guard weight > 0 else { return (stepMean, stepDeviation) }
        let mean = sum / weight
        return (mean, max(0, squares / weight - mean * mean).squareRoot())
    }
}
