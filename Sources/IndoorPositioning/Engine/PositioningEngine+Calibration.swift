extension PositioningEngine {
    /// The errors of readings outlast the filter's steps: what it tells of the offset is taken for this many times its variance.
    private static let correlation = 2.0

    /// What the engine has learned of the device, by the map that it most believes in; nil before any evidence, and
    /// for the methods that learn nothing.
    ///
    /// The receiver's offset is that of the map's filter. The steps' length is the mean over the particles, each of which
    /// walks with its own: those that walked into walls or away from the beacons are gone. As all that are left may
    /// descend from few, they are not taken for surer than what their number of steps can tell.
    package var calibration: Calibration? {
        guard let mapIndex = learnedMapIndex else { return nil }
        var calibration = Calibration()
        let offset = offsets[mapIndex]
        calibration.rssiOffset = min(max(offset.value, -50), 50)
        // What an earlier session learned stays as sure as it was.
        let most = max(offset.variance, firstReceiver.variance)
        calibration.rssiDeviation = min(min(Self.correlation * offset.variance, most).squareRoot(), 50)
        let (mean, deviation) = filter.stepScale(mapIndex: mapIndex)
        calibration.stepScale = min(max(mean, 0.4), 2.5)
        calibration.stepDeviation = min(max(deviation, stepUncertainty), 1)
        return calibration
    }
}

extension ParticleFilter {
    /// Mean and standard deviation of the particles' step lengths on a map, against the detector's.
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
