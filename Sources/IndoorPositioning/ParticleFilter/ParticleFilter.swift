import CMath
import IndoorVocabulary
import VenueModel

/// Many guesses of where the device is, on all maps at once: moved as people move, weighed by evidence.
///
/// Source: N. J. Gordon, D. J. Salmond, A. F. M. Smith, *Novel Approach to Nonlinear/Non-Gaussian Bayesian State
/// Estimation*, IEE Proceedings F 140(2), 1993; new guesses from the evidence itself: S. Lenser, M. Veloso, *Sensor
/// Resetting Localization for Poorly Modelled Mobile Robots*, ICRA 2000.
package struct ParticleFilter: Sendable {
    /// A displacement that sensors measured.
    package struct Stride: Hashable, Sendable {
        /// Metres.
        package var length: Double
        /// Course of the device in radians clockwise from the plan's top; nil if unknown.
        package var heading: Double?

        /// Whether somebody may have made it; a broken sensor tells other things, too.
        var isPlausible: Bool { (0...10).contains(length) && heading?.isFinite ?? true }
    }

    /// Fewest particles on a map, however improbable it is: what is to be told of it needs some.
    private static let fewest = 100

    /// On a map less probable than this all are drawn anew: who comes there was elsewhere before.
    private static let remote = 0.02

    var particles = Particles()
    /// The particles before they are drawn anew; what it holds tells nothing, but its memory is used again.
    var spare = Particles()
    var picks: [Int32] = []
    /// The strides of a step, as the loop in C takes them.
    var strides: [cmath_stride] = []
    var generator: SeededGenerator
    let motion: MotionModel
    let walls: [WallIndex]
    let resampling: Resampling
    /// The cells of the particles when these were last weighed, by map.
    var occupied: [OccupiedCells] = []
    var lookup: [Int32] = []
    var sums: [Float] = []
    var evidence: [Double] = []
    /// What is known of the receiver before a guess of the place, by map.
    package var receivers: [ReceiverOffset]
    var heardCells: [Int32] = []
    var cellSums: [Float] = []
    /// Number of particles.
    package let count: Int
    /// Mean and standard deviation of the step length of new particles, against the detector's.
    var stepMean = 1.0
    var stepDeviation: Double

    /// Whether there are particles at all.
    package var isEmpty: Bool { particles.count == 0 }

    /// Creates a filter without particles for the maps whose walls are given in order.
    package init(
        walls: [WallIndex], motion: MotionModel, resampling: Resampling = Resampling(), count: Int, seed: UInt64
    ) {
        self.walls = walls
        self.motion = motion
        self.resampling = resampling
        self.count = count
        stepDeviation = motion.stepScale
        receivers = walls.map { _ in ReceiverOffset(deviation: 0) }
        generator = SeededGenerator(seed: seed)
    }

    /// Shares the particles out to the maps as these are probable, and renews some from the grid posterior.
    ///
    /// - Parameters:
    ///   - probabilities: of each map; sums to 1.
    ///   - share: of the particles of a map that are drawn anew, in [0, 1]; on a map without particles all are.
    package mutating func redistribute(
        to probabilities: [Double], posterior: GridPosterior, likelihood: Likelihood, share: Double
    ) {
        let part = share > 0 ? min(share, 1) : 0
        setAside(makingRoomFor: probabilities)
        var next = 0
        for (mapIndex, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let members = spare.range(of: mapIndex)
            let isRemote = part > 0 && probability < Self.remote
            let fresh = members.isEmpty || isRemote ? wanted : Int((Double(wanted) * part).rounded())
            let even = Float(probability / Double(wanted))
            resample(members, count: wanted - fresh, at: &next, mapIndex: mapIndex, weight: even)
            let first = next
            for cell in posterior.draw(fresh, mapIndex: mapIndex, using: &generator) {
                place(&next, cell: cell, mapIndex: mapIndex, field: likelihood.field, weight: even)
            }
            teach(first..<next, mapIndex: mapIndex, likelihood)
        }
        // A map on which nothing is probable has no cells to draw.
        particles.resize(to: next)
    }

    /// Makes `spare` of the particles, to draw new ones from them, and room for these.
    mutating func setAside(makingRoomFor probabilities: [Double]) {
        swap(&particles, &spare)
        particles.resize(to: probabilities.reduce(0) { $0 + wanted($1) })
    }

    /// How many particles a map of that probability gets.
    func wanted(_ probability: Double) -> Int {
        max(Self.fewest, Int((probability * Double(count)).rounded()))
    }

    /// Puts a particle somewhere in a cell, moving in any way.
    private mutating func place(_ next: inout Int, cell: Int, mapIndex: Int, field: SignalField, weight: Float) {
        let grid = field.maps[mapIndex].grid
        let center = grid.center(of: cell)
        let x = center.x + (generator.uniform() - 0.5) * grid.cellSize
        let point = MapPoint(x: x, y: center.y + (generator.uniform() - 0.5) * grid.cellSize)
        place(&next, at: point, mapIndex: mapIndex, weight: weight)
    }

    /// Puts a particle near a point, moving in any way.
    mutating func place(_ next: inout Int, around point: MapPoint, deviation: Double, mapIndex: Int, weight: Float) {
        let (dx, dy) = generator.normalPair()
        place(&next, at: point + MapPoint(x: dx, y: dy) * deviation, mapIndex: mapIndex, weight: weight)
    }

    private mutating func place(_ next: inout Int, at point: MapPoint, mapIndex: Int, weight: Float) {
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
    /// Steps from the mean toward the median: two more change the mean error on no data set by more than 1 cm.
    private static let medianSteps = 4
    /// Metres within which a particle pulls less than farther ones: a guess is no point.
    private static let medianSoftness = 0.3

    /// The point on a map with the least mean distance to the particles, which is the least error to be expected.
    ///
    /// Where the belief is of one place it is the mean. Where it is of two, the mean lies between them, where the device is
    /// not; this point lies by the more probable one.
    /// Source: E. Weiszfeld, *Sur le point pour lequel la somme des distances de n points donnés est minimum*, Tôhoku
    /// Mathematical Journal 43, 1937.
    ///
    /// - Parameter mean: the mean place of the map's particles.
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
