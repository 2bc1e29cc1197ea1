import CMath
import IndoorLocalization

/// The radio channel from one beacon to the device: the formula of `RadioSettings`.
struct RadioChannel: Sendable {
    /// The lower limit of distances in metres: the log-distance model has no near field.
    private static let smallestDistance = 0.1

    /// The beacon as the venue packet describes it.
    let beacon: VenueBeacon
    /// The true values of P₁ and n.
    let power: Double
    let exponent: Double

    private let settings: RadioSettings
    private let level: Double
    /// The height in metres above the ground floor.
    private let height: Double
    private let walls: WallCrossings
    private let shadowing: [MapID: CorrelatedField]
    private let openFading: RicianFading
    private let hiddenFading = RicianFading(factor: 0)

    init(to beacon: VenueBeacon, on map: VenueMap, of venue: Venue, _ settings: RadioSettings) {
        self.beacon = beacon
        self.settings = settings
        var generator = SeededGenerator.stream(settings.environmentSeed, Purpose.beacon.rawValue, beacon.identity.seed)
        power = (beacon.measuredPower ?? settings.power) + settings.powerDeviation * generator.normal()
        let known = beacon.pathLossExponent ?? settings.exponent
        exponent = max(known + settings.exponentDeviation * generator.normal(), 1)
        level = Double(map.level)
        height =
            (map.elevation ?? level * WalkTimeline.usualFloorHeight) + (beacon.z ?? settings.beaconHeight)
        walls = WallCrossings(of: map)
        var fields: [MapID: CorrelatedField] = [:]
        for map in venue.maps {
            let mapPart = UInt64(bitPattern: Int64(map.id.rawValue))
            let parts = [settings.environmentSeed, Purpose.shadowing.rawValue, beacon.identity.seed, mapPart]
            fields[map.id] = CorrelatedField(
                deviation: settings.shadowing, distance: settings.shadowingDistance,
                seed: SeededGenerator.seed(parts))
        }
        shadowing = fields
        openFading = RicianFading(factor: cmath_pow(10, settings.ricianFactor / 10))
    }

    /// Returns the RSSI of one advertisement in dBm, before rounding and before the sensitivity threshold.
    func rssi(at pose: WalkTimeline.Pose, using generator: inout SeededGenerator) -> Double {
        let horizontal = pose.point.distance(to: beacon.point)
        let vertical = height - pose.height - settings.deviceHeight
        let distance = max(cmath_hypot(horizontal, vertical), Self.smallestDistance)
        let crossed = pose.mapID == beacon.mapID ? walls.count(from: pose.point, to: beacon.point) : 0
        let floors = abs(pose.level - level)
        let isOpen = crossed == 0 && floors < 0.5
        // The number is drawn even if it is not used, so that a setting does not change the random numbers that follow.
        let fading = (isOpen ? openFading : hiddenFading).decibels(using: &generator)
        return power - 10 * exponent * cmath_log10(distance)
            + (shadowing[pose.mapID]?.value(at: pose.point) ?? 0)
            - Double(crossed) * settings.wallLoss - floors * settings.floorLoss
            - bodyLoss(at: pose) * min(horizontal / distance, 1)
            + (settings.isFading ? fading : 0) + settings.receiverOffset
    }

    private func bodyLoss(at pose: WalkTimeline.Pose) -> Double {
        guard let direction = (beacon.point - pose.point).course else { return 0 }
        return settings.bodyLoss * (1 - cmath_cos((direction - pose.heading) * .pi / 180)) / 2
    }

    /// Returns the probability that the device receives an advertisement with this RSSI.
    static func chance(ofReceiving rssi: Double, _ settings: RadioSettings) -> Double {
        (1 - settings.lossShare) / (1 + cmath_exp((settings.sensitivity - rssi) / settings.sensitivityWidth))
    }
}

/// The purposes of random numbers; each has a separate stream.
enum Purpose: UInt64 {
    case beacon = 1
    case shadowing, advertising, death, motion, compass, steps, pressure, gnss, ranging, excess
}

/// Fast fading: the sum of one steady wave and many scattered ones, independent for each advertisement.
///
/// Source: S. O. Rice, *Mathematical Analysis of Random Noise*, Bell System Technical Journal 23–24, 1944/45. Values
/// are in dB and have mean 0, so that the mean of many RSSIs is that of the path-loss model.
struct RicianFading: Hashable, Sendable {
    private let steady: Double
    private let scattered: Double
    private let mean: Double

    /// Creates fading with a ratio of steady to scattered power (not in dB), 0 or above; 0 is Rayleigh fading.
    init(factor: Double) {
        steady = (factor / (factor + 1)).squareRoot()
        scattered = (1 / (2 * (factor + 1))).squareRoot()
        mean = 10 / cmath_log(10) * Self.meanLogarithm(factor)
    }

    /// Returns a random deviation of the signal from its mean, in dB; never below -60.
    func decibels(using generator: inout SeededGenerator) -> Double {
        let (real, imaginary) = generator.normalPair()
        let (x, y) = (steady + scattered * real, scattered * imaginary)
        return max(10 * cmath_log10(max(x * x + y * y, 1e-6)) - mean, -60)
    }

    /// Returns E ln P of the power P with mean 1: ln(K/(K+1)) + E₁(K).
    ///
    /// With the series of the exponential integral E₁ (M. Abramowitz, I. A. Stegun, *Handbook of Mathematical
    /// Functions*, 5.1.11) that is −γ − ln(K+1) − Σ (−K)ᵏ/(k·k!). Above K = 20, E₁ is below 1e-10.
    static func meanLogarithm(_ factor: Double) -> Double {
        guard factor <= 20 else { return cmath_log(factor / (factor + 1)) }
        let eulerGamma = 0.577_215_664_901_532_9
        var power = 1.0
        var sum = 0.0
        for k in 1...120 {
            power *= -factor / Double(k)
            sum += power / Double(k)
        }
        return -eulerGamma - cmath_log(factor + 1) - sum
    }
}

/// A random field whose values at nearby places are correlated. The same seed gives the same field.
///
/// Its values are normal with mean 0; the correlation of two places is exp(−distance / D). Source: M. Gudmundson,
/// *Correlation model for shadow fading in mobile radio systems*, Electronics Letters 27(23), 1991.
///
/// The field is a sum of cosines, value(p) = σ √(2/N) Σ cos(ωᵢ·p + φᵢ), with frequencies from the correlation's Fourier
/// transform, which is the bivariate Cauchy distribution, and uniform phases. Source: A. Rahimi, B. Recht, *Random
/// Features for Large-Scale Kernel Machines*, NIPS 2007.
struct CorrelatedField: Hashable, Sendable {
    private struct Wave: Hashable, Sendable {
        var x: Double
        var y: Double
        var phase: Double
    }

    /// With this many waves the sum is nearly normal: 4 % of the excess kurtosis of a single cosine remains.
    private static let waveCount = 96

    private let waves: [Wave]
    private let amplitude: Double

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - deviation: the standard deviation of its values.
    ///   - distance: the correlation distance D in metres, above 0.
    init(deviation: Double, distance: Double, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        amplitude = deviation * (2 / Double(Self.waveCount)).squareRoot()
        waves = (0..<Self.waveCount).map { _ in
            let (x, y) = generator.normalPair()
            // A normal vector divided by a normal number is Cauchy distributed. The bound keeps the quotient finite.
            let divisor = max(abs(generator.normal()), 1e-6) * distance
            return Wave(x: x / divisor, y: y / divisor, phase: 2 * Double.pi * generator.uniform())
        }
    }

    /// Returns the field's value at a place.
    func value(at point: MapPoint) -> Double {
        guard amplitude != 0 else { return 0 }
        return amplitude * waves.reduce(0) { $0 + cmath_cos($1.x * point.x + $1.y * point.y + $1.phase) }
    }
}

/// A random field whose cost doesn't depend on the area: independent normal numbers at the points of a square lattice,
/// interpolated between them. The same seed gives the same field.
struct LatticeNoise: Hashable, Sendable {
    private let deviation: Double
    private let distance: Double
    private let seed: UInt64

    /// Creates a field.
    ///
    /// - Parameters:
    ///   - deviation: the standard deviation of its values.
    ///   - distance: the edge of the lattice in metres, above 0.
    init(deviation: Double, distance: Double, seed: UInt64) {
        self.deviation = deviation
        self.distance = distance
        self.seed = seed
    }

    /// Returns the field's value at a place.
    func value(at point: MapPoint) -> Double {
        guard deviation > 0 else { return 0 }
        let (x, y) = (point.x / distance, point.y / distance)
        let (column, row) = (x.rounded(.down), y.rounded(.down))
        let (right, down) = (x - column, y - row)
        var (sum, squares) = (0.0, 0.0)
        for stepX in 0..<2 {
            for stepY in 0..<2 {
                let weight = (stepX == 0 ? 1 - right : right) * (stepY == 0 ? 1 - down : down)
                sum += weight * corner(Int(column) + stepX, Int(row) + stepY)
                squares += weight * weight
            }
        }
        // The division makes the variance the same everywhere, at the lattice points and between them.
        return deviation * sum / squares.squareRoot()
    }

    private func corner(_ column: Int, _ row: Int) -> Double {
        let place = UInt64(bitPattern: Int64(column)) << 32 ^ UInt64(UInt32(truncatingIfNeeded: row))
        var generator = SeededGenerator(seed: seed ^ place &* 0x9E37_79B9_7F4A_7C15)
        return generator.normal()
    }
}

extension SeededGenerator {
    /// Returns a generator that is independent of those for other purposes with the same seed.
    ///
    /// Adding a sensor or removing a beacon therefore does not change the other random numbers of a walk.
    static func stream(_ parts: UInt64...) -> SeededGenerator {
        SeededGenerator(seed: seed(parts))
    }

    /// Returns one seed from several parts.
    static func seed(_ parts: [UInt64]) -> UInt64 {
        parts.reduce(0) { seed, part in
            var generator = SeededGenerator(seed: seed ^ part)
            return generator.next()
        }
    }
}

extension BeaconIdentity {
    /// A seed derived from the identity.
    var seed: UInt64 { SeededGenerator.seed([uuid.high, uuid.low, UInt64(major) << 16 | UInt64(minor)]) }
}
