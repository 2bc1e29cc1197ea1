import CMath
import IndoorVocabulary

extension PositioningEngine {
    /// The maximum number of particles that are used to compare heights of the device.
    private static let heightSample = 64

    /// The time in seconds for which errors of the height persist, for all technologies.
    private static let heightTime = 10.0

    /// Returns and removes the evidence of the beacons since the last call; nil before any beacon and any distance.
    mutating func evidence(at now: Instant, after seconds: Double) -> Evidence? {
        if let heard = collector.drain(at: now) { return heard }
        guard ranging.hasMeasured else { return nil }
        var silent = Evidence.silent
        silent.duration = Float(max(seconds, 0.5))
        return silent
    }

    /// The minimum radius in metres; it can be smaller with measured distances, which are more accurate than the RSSI
    /// of beacons.
    var radiusFloor: Double {
        guard let lastAdvance, ranging.isMeasuring(at: lastAdvance) else { return settings.radiusFloor }
        return min(settings.radiusFloor, settings.ranges.radiusFloor)
    }

    /// Returns the likelihood of distances for a device at a height; nil for the estimated height.
    func likelihood(of evidence: RangeEvidence, height: Double? = nil) -> RangeLikelihood {
        RangeLikelihood(
            evidence, anchors: anchors, model: settings.ranges, height: height ?? deviceHeight.value,
            mapCount: field.maps.count, cellSize: field.maps.reduce(0) { max($0, $1.grid.cellSize) })
    }

    /// Updates the estimated height of the device from the distances of the last seconds.
    ///
    /// - Parameter seconds: time since the previous update; nil for the first one.
    mutating func learnHeight(_ measured: RangeEvidence, after seconds: Double?) {
        guard !deviceHeight.isKnown, let mapIndex = learnedMapIndex else { return }
        let (particles, range) = (filter.particles, filter.particles.range(of: mapIndex))
        let picks = Array(stride(from: range.lowerBound, to: range.upperBound, by: 1 + range.count / Self.heightSample))
        guard !picks.isEmpty else { return }
        let logs = deviceHeight.candidates.map { height in
            let likelihood = likelihood(of: measured, height: height)
            var distances = likelihood.scratch
            let sums = picks.map { index in
                likelihood.logLikelihood(
                    x: particles.x[index], y: particles.y[index], mapIndex: mapIndex, distances: &distances)
            }
            let best = sums.max() ?? 0
            let mean = zip(sums, picks).reduce(0) { sum, pair in
                sum + Double(particles.weight[pair.1]) * Double(cmath_expf(pair.0 - best))
            }
            return Double(best) + cmath_log(max(mean, .leastNormalMagnitude))
        }
        let share = seconds.map { 1 - cmath_exp(-$0 / Self.heightTime) } ?? 1
        deviceHeight.observe(logs, share: share, after: seconds ?? 0)
    }
}
