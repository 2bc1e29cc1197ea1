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

    /// Fewest particles on a level, however improbable it is: what is to be told of it needs some.
    private static let fewest = 100

    /// On a level less probable than this all are drawn anew: who comes there was elsewhere before.
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
    /// The cells of the particles when these were last weighed, by level.
    var occupied: [OccupiedCells] = []
    var lookup: [Int32] = []
    var sums: [Float] = []
    var evidence: [Double] = []
    /// What is known of the receiver before a guess of the place, by level.
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

    /// Creates a filter without particles for the levels whose walls are given in order.
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

    /// Shares the particles out to the levels as these are probable, and renews some from the grid posterior.
    ///
    /// - Parameters:
    ///   - probabilities: of each level; sums to 1.
    ///   - share: of the particles of a level that are drawn anew, in [0, 1]; on a level without particles all are.
    package mutating func redistribute(
        to probabilities: [Double], posterior: GridPosterior, likelihood: Likelihood, share: Double
    ) {
        let part = share > 0 ? min(share, 1) : 0
        setAside(makingRoomFor: probabilities)
        var next = 0
        for (level, probability) in probabilities.enumerated() {
            let wanted = wanted(probability)
            let members = spare.range(of: level)
            let isRemote = part > 0 && probability < Self.remote
            let fresh = members.isEmpty || isRemote ? wanted : Int((Double(wanted) * part).rounded())
            let even = Float(probability / Double(wanted))
            resample(members, count: wanted - fresh, at: &next, level: level, weight: even)
            let first = next
            for cell in posterior.draw(fresh, level: level, using: &generator) {
                place(&next, cell: cell, level: level, field: likelihood.field, weight: even)
            }
            teach(first..<next, level: level, likelihood)
        }
        // A level on which nothing is probable has no cells to draw.
        particles.resize(to: next)
    }

    /// Makes `spare` of the particles, to draw new ones from them, and room for these.
    mutating func setAside(makingRoomFor probabilities: [Double]) {
        swap(&particles, &spare)
        particles.resize(to: probabilities.reduce(0) { $0 + wanted($1) })
    }

    /// How many particles a level of that probability gets.
    func wanted(_ probability: Double) -> Int {
        max(Self.fewest, Int((probability * Double(count)).rounded()))
    }

    /// Puts a particle somewhere in a cell, moving in any way.
    private mutating func place(_ next: inout Int, cell: Int, level: Int, field: SignalField, weight: Float) {
        let grid = field.levels[level].grid
        let center = grid.center(of: cell)
        let x = center.x + (generator.uniform() - 0.5) * grid.cellSize
        let point = MapPoint(x: x, y: center.y + (generator.uniform() - 0.5) * grid.cellSize)
        place(&next, at: point, level: level, weight: weight)
    }

    /// Puts a particle near a point, moving in any way.
    mutating func place(_ next: inout Int, around point: MapPoint, deviation: Double, level: Int, weight: Float) {
        let (dx, dy) = generator.normalPair()
        place(&next, at: point + MapPoint(x: dx, y: dy) * deviation, level: level, weight: weight)
    }

    private mutating func place(_ next: inout Int, at point: MapPoint, level: Int, weight: Float) {
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
        particles.level[next] = Int32(level)
        particles.weight[next] = weight
        particles.receivers.begin(next..<next + 1, with: receivers[level])
        next += 1
    }
}
