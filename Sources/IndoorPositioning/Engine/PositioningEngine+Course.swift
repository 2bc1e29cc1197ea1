import CMath
import IndoorVocabulary

extension PositioningEngine {
    /// Maximum time in seconds between two steps of a walker.
    private static let longestStep = 1.2
    /// Minimum length of the mean direction vector, which is 1 if all particles agree.
    private static let leastAgreement = 0.3

    /// Minimum share of particles that walk in one direction; below it, the device may as well be standing.
    private static let leastWalking = 0.5

    /// Returns the course of the device in degrees clockwise from the plan's top; nil while the device stands or if the
    /// course is unclear.
    ///
    /// If a motion sensor is available, the steps determine the course, and the absence of steps means that the device
    /// stands. Otherwise, the course is the mean velocity of the particles, and is reported only if a beacon was
    /// detected.
    ///
    /// - Parameter velocity: mean velocity of the map's particles.
    func course(_ velocity: MapPoint, mapIndex: Int) -> Double? {
        guard isMotionSensed || !hasHeard else {
            let agreement = filter.walkingAgreement(mapIndex: mapIndex)
            return agreement >= Self.leastWalking ? velocity.course : nil
        }
        guard let latestStep, let now = lastAdvance, let heading = latestStep.heading,
            latestStep.instant.duration(to: now).seconds <= Self.longestStep
        else { return nil }
        let lean = filter.lean(mapIndex: mapIndex)
        guard cmath_hypot(lean.x, lean.y) >= Self.leastAgreement else { return nil }
        return Degrees.course((heading + cmath_atan2(lean.y, lean.x)) * 180 / .pi)
    }
}

extension ParticleFilter {
    /// Returns the degree to which a map's particles walk in one direction: 1 if all of them do, 0 if they stand or
    /// walk in all directions.
    func walkingAgreement(mapIndex: Int) -> Double {
        var (all, x, y) = (0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let weight = Double(particles.weight[index])
            all += weight
            guard particles.isWalking[index] else { continue }
            let (vx, vy) = (Double(particles.velocityX[index]), Double(particles.velocityY[index]))
            let speed = max(cmath_hypot(vx, vy), 1e-6)
            x += weight * vx / speed
            y += weight * vy / speed
        }
        return all > 0 ? cmath_hypot(x, y) / all : 0
    }

    /// Returns the mean angle between walking direction and device heading on a map, as a vector of length up to 1;
    /// zero without particles.
    func lean(mapIndex: Int) -> (x: Double, y: Double) {
        var (all, x, y) = (0.0, 0.0, 0.0)
        for index in particles.range(of: mapIndex) {
            let (weight, bias) = (Double(particles.weight[index]), Double(particles.bias[index]))
            all += weight
            x += weight * cmath_cos(bias)
            y += weight * cmath_sin(bias)
        }
        return all > 0 ? (x / all, y / all) : (0, 0)
    }
}
