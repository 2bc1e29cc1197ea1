import CMath
import IndoorVocabulary
import VenueModel

/// A particle filter over the position of the device on all maps, with a motion model and sensor evidence.
///
/// Source: N. J. Gordon, D. J. Salmond, A. F. M. Smith, *Novel Approach to Nonlinear/Non-Gaussian Bayesian State
/// Estimation*, IEE Proceedings F 140(2), 1993; particles drawn from the evidence: S. Lenser, M. Veloso, *Sensor
/// Resetting Localization for Poorly Modelled Mobile Robots*, ICRA 2000.
package struct ParticleFilter: Sendable {
    /// A displacement measured by the motion sensors.
    package struct Stride: Hashable, Sendable {
        /// Length in metres.
        package var length: Double
        /// Heading of the device in radians clockwise from the plan's top; nil if unknown.
        package var heading: Double?

        /// Whether a person can have made the displacement; a faulty sensor reports implausible ones.
        var isPlausible: Bool { (0...10).contains(length) && heading?.isFinite ?? true }
    }

    /// The probability of a map below which all its particles are drawn from the evidence, because a device that comes
    /// there was elsewhere before.
    private static let remote = 0.02

    var particles = Particles()
    /// The memory of an update. Between calls only the allocation is of use.
    package var workspace = Workspace()
    /// The beacons of ``Particles/errors``.
    private(set) var remembered = RememberedBeacons()
    var generator: SeededGenerator
    let motion: MotionModel
    let walls: [WallIndex]
    let resampling: Resampling
    /// The receiver prior of new particles, by map.
    package var receivers: [ReceiverOffset]
    /// Number of particles.
    package let count: Int
    /// Minimum number of particles on a map, which the estimate on an improbable map needs.
    private let fewest: Int
    /// Mean and standard deviation of new particles' step scale: the ratio of the step length to the detector's
    /// estimate.
    var stepMean = 1.0
    var stepDeviation: Double

    /// Whether the filter has no particles.
    package var isEmpty: Bool { particles.count == 0 }

    /// Creates a filter without particles; `walls` contains the walls of each map in order.
    package init(
        walls: [WallIndex], motion: MotionModel, resampling: Resampling = Resampling(), count: Int,
        fewest: Int = PositioningEffort().fewestParticles, seed: UInt64
    ) {
        self.walls = walls
        self.motion = motion
        self.resampling = resampling
        self.count = count
        self.fewest = fewest
        stepDeviation = motion.stepScale
        receivers = walls.map { _ in ReceiverOffset(deviation: 0) }
        generator = SeededGenerator(seed: seed)
    }

    /// Distributes the particles over the maps by probability, and draws some of them from the grid posterior.
    ///
    /// - Parameters:
    ///   - probabilities: the probability of each map; sums to 1.
    ///   - share: the share of a map's particles that are drawn from the posterior, in [0, 1]; all of them on a map
    ///     without particles.
    package mutating func redistribute(
        to probabilities: [Double], posterior: GridPosterior, likelihood: Likelihood, share: Double
    ) {
        let part = share > 0 ? min(share, 1) : 0
        remember(likelihood)
        setAside(makingRoomFor: probabilities)
        var next = 0
        workspace.drawn.removeAll(keepingCapacity: true)
        for (mapIndex, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let members = workspace.spare.range(of: mapIndex)
            let isRemote = part > 0 && probability < Self.remote
            let fresh = members.isEmpty || isRemote ? wanted : Int((Double(wanted) * part).rounded())
            let even = Float(probability / Double(wanted))
            resample(members, count: wanted - fresh, at: &next, mapIndex: mapIndex, weight: even)
            let first = next
            let cells = posterior.draw(fresh, mapIndex: mapIndex, using: &generator)
            for cell in cells {
                place(&next, cell: cell, mapIndex: mapIndex, field: likelihood.field, weight: even)
            }
            workspace.drawn.append((first, cells, mapIndex))
        }
        // A map whose posterior is zero everywhere yields no particles.
        particles.resize(to: next)
        rearrangeErrors(count: next)
        for (first, cells, mapIndex) in workspace.drawn {
            teach(first..<first + cells.count, mapIndex: mapIndex, likelihood)
            refine(first..<first + cells.count, cells: cells, mapIndex: mapIndex, likelihood)
        }
    }

    /// Gives slots for lasting errors to the beacons of the evidence.
    ///
    /// Without a survey, nearly all of an error is shadowing that changes over many metres: an error that is remembered
    /// then keeps wrong particles alive, which makes the mean error of data set tetam half as large again.
    mutating func remember(_ likelihood: Likelihood) {
        guard likelihood.field.areLevelsKnown else { return }
        let changed = remembered.remember(likelihood.evidence)
        particles.errors.open(remembered.count)
        for slot in 0..<remembered.count where changed & 1 << slot != 0 { particles.errors.forget(slot) }
    }

    /// Notes that the readings of the evidence were used.
    mutating func use(_ evidence: Evidence) { remembered.use(evidence) }

    /// Moves the particles to the workspace as the source of resampling, and resizes `particles` for the new ones.
    ///
    /// The lasting errors stay in `particles`, in their former order, until ``rearrangeErrors(count:)``.
    mutating func setAside(makingRoomFor probabilities: [Double]) {
        setAside(makingRoomFor: probabilities.reduce(0) { $0 + wanted($1) })
    }

    mutating func setAside(makingRoomFor count: Int) {
        swap(&particles, &workspace.spare)
        swap(&particles.errors, &workspace.spare.errors)
        particles.resize(to: count)
        workspace.origins.resize(to: 0, with: -1)
        workspace.origins.resize(to: count, with: -1)
    }

    /// Gives the first particles after a resampling the lasting errors of those that they are copies of.
    mutating func rearrangeErrors(count: Int) {
        workspace.origins.resize(to: count, with: -1)
        particles.errors.rearrange(&workspace.origins, fresh: &workspace.picks, scratch: &workspace.sums)
    }

    /// Returns the number of particles for a map of the given probability.
    func wanted(_ probability: Double) -> Int {
        max(fewest, Int((probability * Double(count)).rounded()))
    }

    /// Places a particle at random in a cell, with a random velocity.
    private mutating func place(_ next: inout Int, cell: Int, mapIndex: Int, field: SignalField, weight: Float) {
        let grid = field.maps[mapIndex].grid
        let center = grid.center(of: cell)
        let x = center.x + (generator.uniform() - 0.5) * grid.cellSize
        let point = MapPoint(x: x, y: center.y + (generator.uniform() - 0.5) * grid.cellSize)
        place(&next, at: point, mapIndex: mapIndex, weight: weight)
    }

    /// Places a particle near a point, with a random velocity.
    mutating func place(_ next: inout Int, around point: MapPoint, deviation: Double, mapIndex: Int, weight: Float) {
        let (dx, dy) = generator.normalPair()
        place(&next, at: point + MapPoint(x: dx, y: dy) * deviation, mapIndex: mapIndex, weight: weight)
    }

    mutating func place(_ next: inout Int, at point: MapPoint, mapIndex: Int, weight: Float) {
        particles.x[next] = Float(point.x)
        particles.y[next] = Float(point.y)
        let (vx, vy) = generator.normalPair()
        particles.velocityX[next] = Float(vx * motion.walkingSpeed)
        particles.velocityY[next] = Float(vy * motion.walkingSpeed)
        let isUnknown = generator.uniform() < motion.headingUnknown
        let (turn, scale) = generator.normalPair()
        let bias = isUnknown ? generator.uniform() * 2 * .pi : turn * motion.headingBias * .pi / 180
        particles.bias[next] = Float(bias)
        particles.scale[next] = Float(max(0.4, stepMean + scale * stepDeviation))
        particles.isWalking[next] = generator.uniform() < motion.startRate / (motion.startRate + motion.stopRate)
        particles.mapIndex[next] = Int32(mapIndex)
        particles.weight[next] = weight
        particles.receivers.begin(next..<next + 1, with: receivers[mapIndex])
        next += 1
    }
}

extension ParticleFilter {
    /// Number of iterations from the mean toward the median: two more change the mean error on no data set by more than
    /// 1 cm.
    private static let medianSteps = 4
    /// Softening distance in metres, within which a particle's pull is reduced: a particle represents an area, not a
    /// point.
    private static let medianSoftness = 0.3

    /// Returns the geometric median of a map's particles, the point that minimizes the expected error.
    ///
    /// If the belief has one mode, the median equals the mean. If the belief has two modes, the mean lies between them,
    /// far from the device; the median lies near the more probable mode.
    /// Source: E. Weiszfeld, *Sur le point pour lequel la somme des distances de n points donnés est minimum*, Tôhoku
    /// Mathematical Journal 43, 1937.
    ///
    /// - Parameter mean: the mean position of the map's particles.
    package func median(mapIndex: Int, from mean: MapPoint) -> MapPoint {
        let range = particles.range(of: mapIndex)
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
