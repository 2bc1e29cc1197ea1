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

extension ParticleFilter {
    /// The states of all particles, with one array per quantity, grouped by map in the maps' order.
    package struct Particles: Sendable {
        var x: [Float] = []
        var y: [Float] = []
        var velocityX: [Float] = []
        var velocityY: [Float] = []
        /// Direction of walking relative to the device's heading, in radians.
        var bias: [Float] = []
        /// Ratio of the step length to the detector's estimate.
        var scale: [Float] = []
        var isWalking: [Bool] = []
        /// Index of the map in the field; non-decreasing.
        var mapIndex: [Int32] = []
        var weight: [Float] = []
        /// The receiver state of each particle.
        var receivers = ReceiverStates()
        /// The lasting errors of each particle's readings.
        var errors = LastingErrors()

        var count: Int { x.count }

        /// Creates an empty set of particles.
        package init() {}

        /// Replaces the particles by ones at the given points, with equal map and weight and with the prior receiver
        /// state.
        package mutating func place(_ points: [MapPoint], _ receiver: ReceiverOffset) {
            resize(to: points.count)
            for (index, point) in points.enumerated() { (x[index], y[index]) = (Float(point.x), Float(point.y)) }
            forget(receiver)
        }

        /// Resets the receiver state of all particles to the prior.
        package mutating func forget(_ receiver: ReceiverOffset) { receivers.begin(0..<count, with: receiver) }

        /// Passes positions, receiver states and lasting errors to a C loop.
        @inline(__always)
        mutating func hear(
            _ body: (_ x: [Float], _ y: [Float], _ receivers: cmath_receivers, _ errors: inout LastingErrors) -> Void
        ) {
            receivers.withPointers { body(x, y, $0, &errors) }
        }

        /// Returns the range of the particles on a map.
        func range(of wanted: Int) -> Range<Int> { firstIndex(from: wanted)..<firstIndex(from: wanted + 1) }

        /// Returns the index of the first particle on the map or a later map.
        private func firstIndex(from wanted: Int) -> Int {
            (0..<mapIndex.count).bisection { mapIndex[$0] >= wanted }
        }

        /// Returns the sum of the weights in a range.
        func weight(of range: Range<Int>) -> Float { evenness(range).sum }

        /// Returns the sum of the weights in a range, the sum of their squares, and the number of particles.
        func evenness(_ range: Range<Int>) -> (sum: Float, squares: Float, count: Int) {
            var sums: (sum: Float, squares: Float) = (0, 0)
            withUnsafeMutableBytes(of: &sums) { sums in
                guard let sums = sums.assumingMemoryBound(to: Float.self).baseAddress else { return }
                cmath_sum_squares(range.lowerBound, range.count, weight, sums)
            }
            return (sums.sum, sums.squares, range.count)
        }

        /// Resizes the arrays to `count` particles; larger memory is kept.
        mutating func resize(to count: Int) {
            if count > x.capacity { reserve(count) }
            x.resize(to: count, with: 0)
            y.resize(to: count, with: 0)
            velocityX.resize(to: count, with: 0)
            velocityY.resize(to: count, with: 0)
            bias.resize(to: count, with: 0)
            scale.resize(to: count, with: 1)
            isWalking.resize(to: count, with: false)
            mapIndex.resize(to: count, with: 0)
            weight.resize(to: count, with: 0)
            receivers.resize(to: count)
        }

        /// Allocates memory for exactly `count` particles; arrays that grow by appending double their memory.
        private mutating func reserve(_ count: Int) {
            x.reserveCapacity(count)
            y.reserveCapacity(count)
            velocityX.reserveCapacity(count)
            velocityY.reserveCapacity(count)
            bias.reserveCapacity(count)
            scale.reserveCapacity(count)
            isWalking.reserveCapacity(count)
            mapIndex.reserveCapacity(count)
            weight.reserveCapacity(count)
        }

        /// The bytes of the arrays.
        package var byteCount: Int {
            let floats =
                x.capacity + y.capacity + velocityX.capacity + velocityY.capacity + bias.capacity + scale.capacity
                + weight.capacity + mapIndex.capacity
            return 4 * floats + isWalking.capacity + receivers.byteCount + errors.byteCount
        }

        /// Overwrites the particles from `start` on with copies of others, all with the same map and weight.
        mutating func replace(
            from start: Int, with other: Particles, _ picks: [Int32], mapIndex: Int, weight even: Float
        ) {
            precondition(start + picks.count <= count, "no room for \(picks.count) particles from \(start) on")
            cmath_gather(other.x, picks, picks.count, &x, start)
            cmath_gather(other.y, picks, picks.count, &y, start)
            cmath_gather(other.velocityX, picks, picks.count, &velocityX, start)
            cmath_gather(other.velocityY, picks, picks.count, &velocityY, start)
            cmath_gather(other.bias, picks, picks.count, &bias, start)
            cmath_gather(other.scale, picks, picks.count, &scale, start)
            cmath_gather_flags(other.isWalking, picks, picks.count, &isWalking, start)
            receivers.replace(from: start, with: other.receivers, picks)
            for index in start..<start + picks.count {
                self.mapIndex[index] = Int32(truncatingIfNeeded: mapIndex)
                weight[index] = even
            }
        }

        /// Overwrites the particles in a range with the same particles of another set.
        mutating func replace(_ range: Range<Int>, with other: Particles) {
            for index in range {
                x[index] = other.x[index]
                y[index] = other.y[index]
                velocityX[index] = other.velocityX[index]
                velocityY[index] = other.velocityY[index]
                bias[index] = other.bias[index]
                scale[index] = other.scale[index]
                isWalking[index] = other.isWalking[index]
                mapIndex[index] = other.mapIndex[index]
                weight[index] = other.weight[index]
            }
            receivers.replace(range, with: other.receivers)
        }

        /// Picks particles of a range in proportion to their weights, by systematic sampling; uniformly if all weights
        /// are zero.
        ///
        /// - Parameter start: the offset of the first pick as a share of the distance between two picks, in [0, 1).
        func pick(_ count: Int, of range: Range<Int>, start: Float, into picks: inout [Int32]) {
            guard count > 0, !range.isEmpty else { return picks.resize(to: 0, with: 0) }
            let total = weight(of: range)
            picks.resize(to: count + 1, with: 0)
            if total > 0, total.isFinite {
                cmath_pick(range.lowerBound, range.count, weight, total, start, count, &picks)
            } else {
                for pick in 0..<count { picks[pick] = Int32(range.lowerBound + pick * range.count / count) }
            }
            picks.resize(to: count, with: 0)
        }
    }
}

extension ParticleFilter {
    /// Resamples the particles that were set aside in proportion to their weights, by the configured scheme.
    ///
    /// - Parameter next: the index of the first new particle; the index after the last one on return.
    mutating func resample(_ members: Range<Int>, count: Int, at next: inout Int, mapIndex: Int, weight: Float) {
        guard count > 0, !members.isEmpty else { return }
        switch resampling.scheme {
        case .systematic:
            workspace.spare.pick(count, of: members, start: Float(generator.uniform()), into: &workspace.picks)
        case .stratified: workspace.spare.pick(count, of: members, using: &generator, into: &workspace.picks)
        }
        particles.replace(from: next, with: workspace.spare, workspace.picks, mapIndex: mapIndex, weight: weight)
        for offset in workspace.picks.indices { workspace.origins[next + offset] = workspace.picks[offset] }
        next += count
    }

    /// Resamples the particles of each map whose effective sample size is too small.
    package mutating func resampleIfNeeded(mapCount: Int) {
        guard (0..<mapCount).contains(where: { isUneven(particles.evenness(particles.range(of: $0))) }) else { return }
        setAside(makingRoomFor: particles.count)
        for mapIndex in 0..<mapCount {
            let members = workspace.spare.range(of: mapIndex)
            let sums = workspace.spare.evenness(members)
            if isUneven(sums) {
                var next = members.lowerBound
                let even = sums.sum / Float(members.count)
                resample(members, count: members.count, at: &next, mapIndex: mapIndex, weight: even)
            } else {
                particles.replace(members, with: workspace.spare)
                for index in members { workspace.origins[index] = Int32(index) }
            }
        }
        rearrangeErrors(count: particles.count)
    }

    /// Returns whether the effective sample size is below the threshold.
    private func isUneven(_ sums: (sum: Float, squares: Float, count: Int)) -> Bool {
        sums.sum * sums.sum < sums.squares * Float(sums.count) * Float(resampling.effectiveShare)
    }
}

extension ParticleFilter.Particles {
    /// Picks particles of a range in proportion to their weights, one at random within each of `count` equal shares of
    /// the total weight; uniformly if all weights are zero.
    func pick(_ count: Int, of range: Range<Int>, using generator: inout SeededGenerator, into picks: inout [Int32]) {
        guard count > 0, !range.isEmpty else { return picks.resize(to: 0, with: 0) }
        let total = range.reduce(0.0) { $0 + Double(weight[$1]) }
        guard total > 0, total.isFinite else { return pick(count, of: range, start: 0, into: &picks) }
        picks.resize(to: count, with: 0)
        let share = total / Double(count)
        var index = range.lowerBound
        var sum = Double(weight[index])
        for draw in 0..<count {
            let next = (Double(draw) + generator.uniform()) * share
            // Rounding must not pick a particle of weight zero, nor go beyond the last one.
            while sum <= next, index + 1 < range.upperBound {
                index += 1
                sum += Double(weight[index])
            }
            picks[draw] = Int32(index)
        }
    }
}

/// The resampling scheme of the particle filter and its threshold.
public struct Resampling: Hashable, Sendable {
    /// A resampling scheme.
    ///
    /// On average, each scheme draws every particle in proportion to its weight.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// One random number with equally spaced draws. This is the default: it has the lowest variance and is the
        /// fastest.
        ///
        /// Source: J. Carpenter, P. Clifford, P. Fearnhead, *Improved Particle Filter for Nonlinear Problems*, IEE
        /// Proceedings Radar 146(1), 1999.
        case systematic
        /// One random number per draw, within an equal share of the total weight. It avoids the errors of equally
        /// spaced draws when the weights follow a pattern.
        ///
        /// Source: G. Kitagawa, *Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models*, Journal of
        /// Computational and Graphical Statistics 5(1), 1996.
        case stratified
    }

    /// The resampling scheme.
    public var scheme: Scheme = .systematic
    /// Effective sample size, as a share of a map's particles in [0, 1], below which the particles are resampled; 0
    /// means never.
    ///
    /// The effective sample size is (Σw)² / Σw². Source: A. Kong, J. S. Liu, W. H. Wong, *Sequential Imputations and
    /// Bayesian Missing Data Problems*, Journal of the American Statistical Association 89(425), 1994.
    public var effectiveShare = 0.5

    /// Creates the default: systematic resampling at an effective sample size below half of the particles.
    public init() {}

    /// Creates resampling settings.
    public init(scheme: Scheme, effectiveShare: Double = 0.5) {
        self.scheme = scheme
        self.effectiveShare = effectiveShare
    }
}

extension Resampling {
    /// The settings of resampling.
    package static let list: [Setting<Resampling>] = [
        .choice(
            "scheme", \.scheme, fromWorst: [.stratified, .systematic],
            "The resampling scheme."),
        .number(
            "effectiveShare", \.effectiveShare, in: 0...1,
            "The share of effective particles below which the particles are resampled; 0 disables resampling."),
    ]
}

extension ParticleFilter {
    /// The memory that an update of a filter needs, in addition to the particles.
    ///
    /// The contents have no meaning between two updates. Filters that are updated in turn can share one workspace: each
    /// exchanges its own, empty one with the shared one before an update and again afterwards, which takes constant time
    /// and allocates nothing. A filter of a device owns its workspace.
    package struct Workspace: Sendable {
        /// The particles before resampling.
        var spare = Particles()
        var picks: [Int32] = []
        /// For each new particle, the particle that it is a copy of; -1 for a newly drawn one.
        var origins: [Int32] = []
        /// The cells that the particles of each map from `first` on were drawn from.
        var drawn: [(first: Int, cells: [Int], mapIndex: Int)] = []
        /// The strides of an update, in the form of the C loop.
        var strides: [cmath_stride] = []
        /// The occupied cells of the maps.
        var occupied: [OccupiedCells] = []
        var lookup: [Int32] = []
        var sums: [Float] = []
        var evidence: [Double] = []
        var heardCells: [Int32] = []
        var cellSums: [Float] = []
        /// The test of the beacons against each other.
        var consensus = BeaconConsensus()

        /// Creates a workspace without memory.
        package init() {}

        /// The bytes of the arrays.
        package var byteCount: Int {
            spare.byteCount + consensus.byteCount
                + 4
                * (picks.capacity + origins.capacity + lookup.capacity + sums.capacity + heardCells.capacity
                    + cellSums.capacity)
                + 8 * evidence.capacity + MemoryLayout<cmath_stride>.stride * strides.capacity
                + occupied.reduce(0) { $0 + 4 * ($1.cells.capacity + $1.slots.capacity) }
        }
    }

    /// The bytes that the filter holds, without the walls, which filters share.
    package var byteCount: Int {
        particles.byteCount + workspace.byteCount + MemoryLayout<ReceiverOffset>.stride * receivers.capacity
    }
}
