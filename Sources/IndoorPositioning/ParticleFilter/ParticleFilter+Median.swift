import CMath
import IndoorVocabulary

extension ParticleFilter {
    /// Steps from the mean toward the median: two more change the mean error on no data set by more than 1 cm.
    private static let medianSteps = 4
    /// Metres within which a particle pulls less than farther ones: a guess is no point.
    private static let medianSoftness = 0.3

    /// The point on a level with the least mean distance to the particles, which is the least error to be expected.
    ///
    /// Where the belief is of one place it is the mean. Where it is of two, the mean lies between them, where the device is
    /// not; this point lies by the more probable one.
    /// Source: E. Weiszfeld, *Sur le point pour lequel la somme des distances de n points donnés est minimum*, Tôhoku
    /// Mathematical Journal 43, 1937.
    ///
    /// - Parameter mean: the mean place of the level's particles.
    package func median(level: Int, from mean: MapPoint) -> MapPoint {
        let range = particles.range(of: level)
        var center = mean
        for _ in 0..<Self.medianSteps {
            var sums: (Float, Float, Float) = (0, 0, 0)
            withUnsafeMutableBytes(of: &sums) { sums in
                guard let sums = sums.assumingMemoryBound(to: Float.self).baseAddress else { return }
                cmath_pull(
                    range.lowerBound, range.count, particles.x, particles.y, particles.weight, Float(center.x),
                    Float(center.y), Float(Self.medianSoftness), sums)
            }
            let (all, x, y) = sums
            let step = MapPoint(x: Double(x / all), y: Double(y / all))
            guard step.x.isFinite, step.y.isFinite else { return center }
            center = center + step
        }
        return center
    }
}
