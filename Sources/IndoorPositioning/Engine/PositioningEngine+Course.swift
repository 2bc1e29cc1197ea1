import CMath
import IndoorVocabulary

extension PositioningEngine {
    /// Who walks takes the next step within this time in seconds.
    private static let longestStep = 1.2
    /// A mean direction of walking that is shorter than this, of 1 if all guesses agree, is none.
    private static let leastAgreement = 0.3

    /// Guesses that walk in one direction, against all guesses: below this the device may as well stand.
    private static let leastWalking = 0.5

    /// Where the device moves, in degrees clockwise from the plan's top; nil while it stands or when unclear.
    ///
    /// Steps tell it where they are felt, and stand for standing where they are not. Without them it is how the guesses
    /// move that what is heard has left over; nothing was heard, nothing tells.
    ///
    /// - Parameter velocity: mean of the map's guesses.
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
    /// How much of a map's belief walks, and in one direction: 1 if all guesses walk the same way, 0 if they stand or walk
    /// in all directions.
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

    /// Mean of how a map's guesses walk against how the device points, as the vector of that angle; zero without guesses.
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
