import CMath
import XCTest

@testable import IndoorPositioning
import IndoorLocalization

/// The loops over particles in C, with every kind of vectors that this machine has.
final class ParticleLoopTests: XCTestCase {
    private static let levels = 0...cmath_vector_level()
    private static let seed: UInt64 = 17

    /// Equal seeds give equal bytes, on whatever processor.
    func testAllVectorLevelsMoveParticlesToTheSameBits() {
        for level in Self.levels {
            XCTAssertEqual(Self.journey(level), Self.journey(0), "level \(level)")
        }
    }

    func testAllVectorLevelsGiveTheSameSums() {
        let particles = Self.crowd(count: 999)
        func bits(_ level: Int32) -> [UInt64] {
            var (sums, squares) = ([Double](repeating: 0, count: 6), [Float](repeating: 0, count: 2))
            cmath_moments_at(
                level, 5, 990, particles.x, particles.y, particles.velocityX, particles.velocityY,
                particles.isWalking, particles.weight, &sums)
            cmath_sum_squares_at(level, 5, 990, particles.weight, &squares)
            var pulls = [Float](repeating: 0, count: 3)
            cmath_pull_at(level, 5, 990, particles.x, particles.y, particles.weight, 3, 4, 0.3, &pulls)
            var picks = [Int32](repeating: 0, count: 501)
            cmath_pick_at(level, 5, 990, particles.weight, squares[0], 0.3, 500, &picks)
            return sums.map(\.bitPattern) + (squares + pulls).map { UInt64($0.bitPattern) } + picks.map { UInt64($0) }
        }
        for level in Self.levels { XCTAssertEqual(bits(level), bits(0), "level \(level)") }
    }

    func testMomentsAreTheSumsOfTheFormula() {
        for count in [0, 1, 7, 8, 9, 250] {
            let particles = Self.crowd(count: count + 3)
            for level in Self.levels {
                var sums = [Double](repeating: 9, count: 6)
                cmath_moments_at(
                    level, 3, count, particles.x, particles.y, particles.velocityX, particles.velocityY,
                    particles.isWalking, particles.weight, &sums)
                for (sum, expected) in zip(sums, Self.moments(particles, from: 3)) {
                    XCTAssertEqual(sum, expected, accuracy: 1e-6 * (1 + abs(expected)), "\(count), level \(level)")
                }
            }
        }
    }

    func testAPullIsTheSumOfTheFormula() {
        for count in [0, 1, 15, 16, 17, 250] {
            let particles = Self.crowd(count: count + 3)
            var expected = [0.0, 0, 0]
            for index in 3..<count + 3 {
                let (dx, dy) = (Double(particles.x[index]) - 3, Double(particles.y[index]) - 4)
                let share = Double(particles.weight[index]) / (dx * dx + dy * dy + 0.09).squareRoot()
                expected[0] += share
                expected[1] += share * dx
                expected[2] += share * dy
            }
            for level in Self.levels {
                var sums: [Float] = [9, 9, 9]
                cmath_pull_at(level, 3, count, particles.x, particles.y, particles.weight, 3, 4, 0.3, &sums)
                for (sum, expected) in zip(sums, expected) {
                    XCTAssertEqual(Double(sum), expected, accuracy: 1e-5 * (1 + abs(expected)), "\(count), \(level)")
                }
            }
        }
    }

    func testTheSumsIncludeOnlyTheRange() {
        for count in [0, 1, 15, 16, 17, 250] {
            let values = (0..<count + 4).map { Float($0 + 1) }
            let part = values[3..<3 + count]
            for level in Self.levels {
                var sums: [Float] = [0, 0]
                cmath_sum_squares_at(level, 3, count, values, &sums)
                XCTAssertEqual(sums[0], part.reduce(0, +), accuracy: 1e-5 * sums[0], "\(count), level \(level)")
                let squares = part.reduce(0) { $0 + $1 * $1 }
                XCTAssertEqual(sums[1], squares, accuracy: 1e-5 * squares, "\(count), level \(level)")
            }
        }
    }

    func testTheLoopPicksEachParticleByItsWeightWithinOne() {
        let particles = Self.crowd(count: 700)
        let total = particles.weight[100...].reduce(0, +)
        for (wanted, start) in [(1, 0), (37, 0.5), (600, 0.999), (5000, 0.01)] as [(Int, Float)] {
            var picks = [Int32](repeating: 0, count: wanted + 1)
            cmath_pick(100, 600, particles.weight, total, start, wanted, &picks)
            XCTAssertEqual(picks.prefix(wanted), picks.prefix(wanted).sorted()[...])
            var counts = [Int](repeating: 0, count: 700)
            for pick in picks.prefix(wanted) { counts[Int(pick)] += 1 }
            for index in 100..<700 {
                let expected = Double(particles.weight[index] / total) * Double(wanted)
                XCTAssertEqual(Double(counts[index]), expected, accuracy: 1.01, "\(index) of \(wanted)")
            }
            XCTAssertEqual(counts[..<100].reduce(0, +), 0)
        }
    }

    func testZeroWeightsGiveUniformPicks() {
        var particles = Self.crowd(count: 50)
        for index in 0..<50 { particles.weight[index] = 0 }
        var picks: [Int32] = []
        particles.pick(20, of: 10..<50, start: 0.5, into: &picks)
        XCTAssertEqual(picks, (0..<20).map { Int32(10 + 2 * $0) })
    }

    func testParticlesStartAndStopAtTheGivenRates() {
        var filter = Self.filter(Self.crowd(count: 20_000))
        for index in 0..<20_000 { filter.particles.isWalking[index] = index < 10_000 }
        filter.drift(seconds: 1)
        let motion = MotionModel()
        // Four standard errors of a share of 10,000.
        let walking = filter.particles.isWalking
        XCTAssertEqual(
            Double(walking[..<10_000].filter { !$0 }.count) / 1e4, 1 - exp(-motion.stopRate), accuracy: 0.012)
        XCTAssertEqual(
            Double(walking[10_000...].filter { $0 }.count) / 1e4, 1 - exp(-motion.startRate), accuracy: 0.016)
    }

    func testWalkingParticlesTurnAtTheGivenRate() {
        var motion = MotionModel()
        (motion.stopRate, motion.velocityTime) = (0, 1e9)
        for (rate, seconds) in [(0.0, 1.0), (0.5, 1), (0.5, 0.25), (3, 1)] {
            motion.turnRate = rate
            var filter = ParticleFilter(walls: [WallIndex(walls: [])], motion: motion, count: 10_000, seed: Self.seed)
            filter.particles.resize(to: 10_000)
            for index in 0..<10_000 {
                filter.particles.isWalking[index] = true
                filter.particles.velocityX[index] = 1
            }
            filter.drift(seconds: seconds)
            let others = zip(filter.particles.velocityX, filter.particles.velocityY).filter { $0 != 1 || $1 != 0 }
            let expected = 1 - exp(-rate * seconds)
            // Four standard errors of a share of 10,000, and of a variance of as many.
            XCTAssertEqual(Double(others.count) / 1e4, expected, accuracy: 0.02, "\(rate) a second")
            guard !others.isEmpty else { continue }
            let squares = others.reduce(0.0) { $0 + Double($1.0 * $1.0 + $1.1 * $1.1) } / Double(2 * others.count)
            XCTAssertEqual(squares.squareRoot(), motion.walkingSpeed, accuracy: 0.06, "\(rate) a second")
        }
    }

    func testStandingParticlesKeepTheirVelocity() {
        var motion = MotionModel()
        (motion.startRate, motion.turnRate) = (0, 100)
        var filter = ParticleFilter(walls: [WallIndex(walls: [])], motion: motion, count: 100, seed: Self.seed)
        filter.particles.resize(to: 100)
        filter.drift(seconds: 1)
        XCTAssertFalse(filter.particles.isWalking.contains(true))
        XCTAssertEqual(Set(filter.particles.velocityX), [0])
    }

    private static func crowd(count: Int) -> ParticleFilter.Particles {
        var generator = SeededGenerator(seed: seed)
        var particles = ParticleFilter.Particles()
        particles.resize(to: count)
        for index in 0..<count {
            particles.x[index] = Float(24 * generator.uniform() - 2)
            particles.y[index] = Float(24 * generator.uniform() - 2)
            particles.velocityX[index] = Float(generator.normal())
            particles.velocityY[index] = Float(generator.normal())
            particles.bias[index] = Float(generator.normal())
            particles.isWalking[index] = generator.uniform() < 0.5
            particles.weight[index] = Float(generator.uniform() * generator.uniform())
        }
        return particles
    }

    /// Rooms of 4 m with a gap in each wall.
    private static let walls = WallIndex(
        walls: (0...5).flatMap { line in
            (0..<5).flatMap { room -> [[MapPoint]] in
                let (across, from) = (Double(line) * 4, Double(room) * 4)
                return [
                    [MapPoint(x: across, y: from), MapPoint(x: across, y: from + 3)],
                    [MapPoint(x: from, y: across), MapPoint(x: from + 3, y: across)],
                ]
            }
        })

    private static func filter(_ particles: ParticleFilter.Particles) -> ParticleFilter {
        var filter = ParticleFilter(walls: [walls], motion: MotionModel(), count: particles.count, seed: seed)
        filter.particles = particles
        return filter
    }

    /// The bits of a crowd that drifts and walks through the rooms.
    private static func journey(_ level: Int32) -> [UInt32] {
        var crowd = crowd(count: 1500)
        var drift = cmath_drift(
            seconds: 0.5, keep: 0.9, kick: 0.4, speed: 0.9, start_chance: 400_000_000, stop_chance: 200_000_000,
            turn_chance: 300_000_000, walking_wander: 0.2, standing_wander: 0.1)
        var walk = cmath_walk(drift: 0.03, turn: 0.1, stretch: 0.1, wander: 0.1)
        let strides = [
            cmath_stride(length: 0.7, heading: 1, has_heading: true),
            cmath_stride(length: 3, heading: 0, has_heading: false),
        ]
        let generator = SeededGenerator(seed: seed).ahead
        withUnsafePointer(to: walls.table.grid) { grid in
            for _ in 0..<5 {
                cmath_drift_at(
                    level, &drift, grid, walls.table.cells, walls.table.lines, generator, 3, 1490, &crowd.isWalking,
                    &crowd.x,
                    &crowd.y, &crowd.velocityX, &crowd.velocityY, &crowd.weight)
                cmath_walk_at(
                    level, &walk, strides, 2, grid, walls.table.cells, walls.table.lines, generator, 3, 1490,
                    &crowd.isWalking,
                    &crowd.x, &crowd.y, &crowd.velocityX, &crowd.velocityY, &crowd.bias, crowd.scale, &crowd.weight)
            }
        }
        var cells = [Int32](repeating: 0, count: 1490)
        var grid = cmath_grid(left: 0, top: 0, scale: 2, columns: 40, rows: 40)
        cmath_cells_at(level, &grid, 3, 1490, crowd.x, crowd.y, &cells)
        cmath_multiply_at(level, 3, 1490, &crowd.weight, 0.7)
        return [crowd.x, crowd.y, crowd.velocityX, crowd.velocityY, crowd.bias, crowd.weight].flatMap {
            $0.map(\.bitPattern)
        } + cells.map { UInt32(bitPattern: $0) } + crowd.isWalking.map { $0 ? 1 : 0 }
    }

    private static func moments(_ particles: ParticleFilter.Particles, from first: Int) -> [Double] {
        var sums = [Double](repeating: 0, count: 6)
        for index in first..<particles.count {
            let weight = Double(particles.weight[index])
            let (x, y) = (Double(particles.x[index]), Double(particles.y[index]))
            for (kind, value) in [1, x, y, x * x + y * y].enumerated() { sums[kind] += weight * value }
            guard particles.isWalking[index] else { continue }
            sums[4] += weight * Double(particles.velocityX[index])
            sums[5] += weight * Double(particles.velocityY[index])
        }
        return sums
    }
}
