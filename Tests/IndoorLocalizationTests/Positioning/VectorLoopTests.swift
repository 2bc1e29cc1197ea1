import CMath
import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// The loops in C, each against the formula it stands for, with every kind of vectors that this machine has.
final class VectorLoopTests: XCTestCase {
    private static let levels = 0...cmath_vector_level()

    /// How often a beacon is heard in a table of 30 × 20 cells of a grid of 50 × 40.
    private struct Table {
        var rate: [Float] = []
        static let columns: Int32 = 50
        static let cells: Int32 = 2000

        init(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<600 { rate.append(Float(-6 + 7 * generator.uniform())) }
        }

        func with(_ body: (inout cmath_rates) -> Void) {
            rate.withUnsafeBufferPointer { rate in
                guard let rate = rate.baseAddress else { return XCTFail("the table is empty") }
                var rates = cmath_rates(
                    log_rate: rate, first_column: 7, columns: 30, first_row: 11, rows: 20, draw: 0.4, outside: -3.5)
                body(&rates)
            }
        }

        /// What it adds to a cell, in double precision.
        func expected(_ cell: Int32) -> Double {
            let (row, column) = (Int(cell / Self.columns) - 11, Int(cell % Self.columns) - 7)
            guard cell >= 0, (0..<20).contains(row), (0..<30).contains(column) else { return 0 }
            return 0.4 * (Double(rate[row * 30 + column]) + 3.5)
        }
    }

    func testEachCellAddsItsRateRelativeToTheOutsideRate() {
        let table = Table(seed: 1)
        var generator = SeededGenerator(seed: 1)
        let cells = (-1..<Table.cells).map { $0 }.shuffled(using: &generator)
        for level in Self.levels {
            var sums = cells.map { Float($0) / 100 }
            table.with { cmath_add_rates_at(level, &$0, Table.columns, cells, cells.count, &sums) }
            for (cell, sum) in zip(cells, sums) {
                let expected = Double(cell) / 100 + table.expected(cell)
                XCTAssertEqual(Double(sum), expected, accuracy: 1e-5, "cell \(cell), level \(level)")
            }
        }
    }

    func testTheGridsRatesAreThoseOfItsCells() {
        let table = Table(seed: 3)
        let cells = Array(0..<Table.cells)
        for level in Self.levels {
            var (grid, single) = (cells.map { Float($0) / 100 }, cells.map { Float($0) / 100 })
            table.with {
                cmath_add_rates_grid_at(level, &$0, Table.columns, &grid)
                cmath_add_rates_at(level, &$0, Table.columns, cells, cells.count, &single)
            }
            XCTAssertEqual(grid, single, "level \(level)")
        }
    }

    func testATableAsWideAsTheGridIsAddedToItsLastCell() {
        let table = Table(seed: 4)
        for level in Self.levels {
            var sums = [Float](repeating: 0, count: 30 * 31)
            table.with {
                $0.first_column = 0
                cmath_add_rates_grid_at(level, &$0, 30, &sums)
            }
            XCTAssertEqual(sums[..<330].filter { $0 != 0 }.count, 0)
            XCTAssertEqual(sums[330...].filter { $0 == 0 }.count, 0)
        }
    }

    /// Equal seeds give equal bytes, on whatever processor.
    func testAllVectorLevelsGiveTheSameBits() {
        let table = Table(seed: 5)
        let cells = (-1..<Table.cells).map { $0 }
        let angles = (0..<1999).map { Float($0) * 0.02 - 20 }
        func bits(_ level: Int32) -> [[UInt32]] {
            var sums = [Float](repeating: 0, count: cells.count)
            table.with { cmath_add_rates_at(level, &$0, Table.columns, cells, cells.count, &sums) }
            var (x, y) = (angles, angles)
            cmath_normal_pairs_at(level, SeededGenerator(seed: 99).ahead, angles.count, &x, &y)
            var (sines, cosines) = (x, y)
            cmath_sines_cosines_at(level, angles, angles.count, &sines, &cosines)
            var (powers, weights) = (angles, angles)
            cmath_exp_below_at(level, &powers, 20, powers.count)
            var results = [Double](repeating: 0, count: 7)
            results.withUnsafeMutableBufferPointer { results in
                guard let results = results.baseAddress else { return XCTFail("no room for results") }
                cmath_posterior_at(level, powers, 3, 1900, &weights, results)
                cmath_grid_moments_at(level, weights, 3, 19, 100, results + 2)
            }
            return [sums, x, y, sines, cosines, powers, weights].map { $0.map(\.bitPattern) } + [
                results.flatMap { [UInt32(truncatingIfNeeded: $0.bitPattern), UInt32($0.bitPattern >> 32)] }
            ]
        }
        for level in Self.levels { XCTAssertEqual(bits(level), bits(0), "level \(level)") }
    }

    func testNormalPairsUseTheGeneratorsDraws() {
        for seed in UInt64(1)...3 {
            var generator = SeededGenerator(seed: seed)
            let ahead = generator.ahead
            let draws = (0..<5000).map { _ in generator.next() }
            for level in Self.levels {
                var (x, y) = ([Float](repeating: 0, count: 5000), [Float](repeating: 0, count: 5000))
                cmath_normal_pairs_at(level, ahead, 5000, &x, &y)
                for (index, draw) in draws.enumerated() {
                    let radius = (-2 * log1p(-Double(draw >> 32) * 0x1p-32)).squareRoot()
                    let angle = 2 * Double.pi * Double(draw & 0xFFFF_FFFF) * 0x1p-32
                    XCTAssertEqual(Double(x[index]), radius * cos(angle), accuracy: 2e-6, "pair \(index), seed \(seed)")
                    XCTAssertEqual(Double(y[index]), radius * sin(angle), accuracy: 2e-6, "pair \(index), seed \(seed)")
                }
            }
        }
    }

    func testTheNumbersOfManyPairsAreNormalAndUncorrelated() {
        let count = 100_000
        var (x, y) = ([Float](repeating: 0, count: count), [Float](repeating: 0, count: count))
        cmath_normal_pairs(SeededGenerator(seed: 4).ahead, count, &x, &y)
        // Four standard errors of each mean over 100,000 numbers.
        func mean(_ value: (Double, Double) -> Double) -> Double {
            zip(x, y).reduce(0) { $0 + value(Double($1.0), Double($1.1)) } / Double(count)
        }
        let error = 4 / Double(count).squareRoot()
        XCTAssertEqual(mean { x, _ in x }, 0, accuracy: error)
        XCTAssertEqual(mean { _, y in y }, 0, accuracy: error)
        XCTAssertEqual(mean { x, y in x * y }, 0, accuracy: error)
        XCTAssertEqual(mean { x, _ in x * x }, 1, accuracy: error * 2.0.squareRoot())
        XCTAssertEqual(mean { _, y in y * y }, 1, accuracy: error * 2.0.squareRoot())
        XCTAssertEqual(mean { x, _ in x * x * x * x }, 3, accuracy: error * 96.0.squareRoot())
        XCTAssertEqual(mean { x, y in x * x * y * y }, 1, accuracy: error * 8.0.squareRoot())
    }

    func testAPosteriorIsThePriorTimesTheLikelihood() {
        let seed: UInt64 = 12
        var generator = SeededGenerator(seed: seed)
        let logarithms = (0..<50).map { _ in Float(-20 * generator.uniform()) }
        let prior = (0..<37).map { _ in Float(generator.uniform()) }
        for level in Self.levels {
            var values = logarithms
            var result = [0.0, 0.0]
            cmath_posterior_at(level, prior, 5, 37, &values, &result)
            let part = logarithms[5..<42]
            XCTAssertEqual(result[0], Double(part.max() ?? 0), "level \(level)")
            let expected = zip(prior, part).map { Double($0) * exp(Double($1) - result[0]) }
            for (value, expected) in zip(values[5...], expected) {
                XCTAssertEqual(Double(value), expected, accuracy: 1e-5 * expected, "seed \(seed), level \(level)")
            }
            XCTAssertEqual(result[1], expected.reduce(0, +), accuracy: 1e-4, "seed \(seed), level \(level)")
            XCTAssertEqual(values[..<5], logarithms[..<5])
            XCTAssertEqual(values[42...], logarithms[42...])
        }
    }

    func testTheMomentsOfAGridAreItsSums() {
        let seed: UInt64 = 13
        var generator = SeededGenerator(seed: seed)
        for (columns, rows) in [(1, 1), (3, 5), (8, 2), (27, 20)] {
            let weights = (0..<2 + columns * rows).map { _ in Float(generator.uniform()) }
            var expected = [Double](repeating: 0, count: 5)
            for (index, weight) in weights.dropFirst(2).enumerated() {
                let (row, column, weight) = (Double(index / columns), Double(index % columns), Double(weight))
                for (kind, factor) in [1, column, row, column * column, row * row].enumerated() {
                    expected[kind] += weight * factor
                }
            }
            for level in Self.levels {
                var sums = [Double](repeating: 0, count: 5)
                cmath_grid_moments_at(level, weights, 2, columns, rows, &sums)
                for (sum, expected) in zip(sums, expected) {
                    XCTAssertEqual(sum, expected, accuracy: 1e-9 * (1 + expected), "\(columns) × \(rows)")
                }
            }
        }
    }

    func testExponentialsAreAccurateToSevenDigitsAndNeverZero() {
        let values: [Float] = (0..<4000).map { -Float($0) * 0.01 } + [-60, -86, -87, -200, -.infinity, .nan]
        for level in Self.levels {
            var powers = values
            cmath_exp_below_at(level, &powers, 0, powers.count)
            for (value, power) in zip(values, powers) {
                let expected = exp(max(Double(value.isNaN ? -87 : value), -87))
                XCTAssertEqual(Double(power), expected, accuracy: 5e-6 * expected, "\(value), level \(level)")
            }
        }
    }

    func testSinesAndCosinesAreAccurateToSixDigits() {
        let angles = (0..<4000).map { Float($0 - 2000) * 0.01 }
        for level in Self.levels {
            var (sines, cosines) = (angles, angles)
            cmath_sines_cosines_at(level, angles, angles.count, &sines, &cosines)
            for index in angles.indices {
                XCTAssertEqual(Double(sines[index]), sin(Double(angles[index])), accuracy: 2e-6, "\(angles[index])")
                XCTAssertEqual(Double(cosines[index]), cos(Double(angles[index])), accuracy: 2e-6, "\(angles[index])")
            }
        }
    }

    func testEmptyArraysAreValid() {
        for level in Self.levels {
            var (values, other): ([Float], [Float]) = ([3], [4])
            cmath_exp_below_at(level, &values, 0, 0)
            cmath_sines_cosines_at(level, [1], 0, &values, &other)
            XCTAssertEqual(other, [4])
            XCTAssertEqual(values, [3])
        }
    }
}

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

/// The loops that make tables, each against its formula, with every kind of vectors that this machine has.
final class TableLoopTests: XCTestCase {
    private static let levels = 0...cmath_vector_level()
    /// 37 × 11 cells, 7 columns and 5 rows into a grid of 50 columns; their point lies among them.
    private static let columns = 37
    private static let rows = 11
    private static let stride = 50
    private static let first = 5 * stride + 7
    private static let room = 20 * stride
    private static let rectangle = cmath_rectangle(x: -9.3, y: -4.1, size: 0.7, columns: 37, rows: 11, stride: 50)
    private static let loss = cmath_path_loss(power: -59, slope: 5.2, height: 0.25)
    private static let sensitivity = cmath_sensitivity(level: -85, width: 4)

    /// Compares a grid's values with what a formula says within the rectangle, of the square of the distance in m², and
    /// with what was there before elsewhere.
    private func compare(
        _ values: [Float], before: Float, accuracy: Double, _ note: String, file: StaticString = #filePath,
        line: UInt = #line, _ formula: (_ square: Double, _ entry: Int) -> Double
    ) {
        for (index, value) in values.enumerated() {
            let (row, column) = (index / Self.stride - 5, index % Self.stride - 7)
            var expected = Double(before)
            if (0..<Self.rows).contains(row), (0..<Self.columns).contains(column) {
                let x = Double(Self.rectangle.x) + Double(column) * Double(Self.rectangle.size)
                let y = Double(Self.rectangle.y) + Double(row) * Double(Self.rectangle.size)
                expected = formula(x * x + y * y, row * Self.columns + column)
            }
            XCTAssertEqual(
                Double(value), expected, accuracy: accuracy, "\(note), index \(index)", file: file, line: line)
        }
    }

    private func level(_ square: Double) -> Double { -59 - 5.2 * log(square + 0.25) }

    private func rate(_ square: Double) -> Double { 1 / (1 + exp((-85 - level(square)) / 4)) }

    func testLevelsFollowPathLoss() {
        for kind in Self.levels {
            var (rectangle, loss) = (Self.rectangle, Self.loss)
            rectangle.stride = Int32(Self.columns)
            var values = [Float](repeating: 0, count: Self.columns * Self.rows)
            cmath_levels_at(kind, &rectangle, &loss, &values)
            for (index, value) in values.enumerated() {
                let x = -9.3 + 0.7 * Double(index % Self.columns)
                let y = -4.1 + 0.7 * Double(index / Self.columns)
                XCTAssertEqual(Double(value), level(x * x + y * y), accuracy: 1e-4, "\(index)")
            }
        }
    }

    func testABeaconHasALevelAtItsOwnPosition() {
        var rectangle = cmath_rectangle(x: 0, y: 0, size: 1, columns: 1, rows: 1, stride: 1)
        var loss = cmath_path_loss(power: -59, slope: 5, height: 0)
        for kind in Self.levels {
            var values: [Float] = [0]
            cmath_levels_at(kind, &rectangle, &loss, &values)
            XCTAssertTrue(values[0].isFinite)
        }
    }

    func testExpectedRatesAreALogisticFunctionOfTheLevel() {
        let levels = (0..<700).map { Float($0) / 2 - 250 }
        for kind in Self.levels {
            var sensitivity = Self.sensitivity
            var values = levels
            cmath_log_rates_at(kind, levels, levels.count, &sensitivity, 0.001, &values)
            for (level, value) in zip(levels, values) {
                let rate = 1 / (1 + exp((-85 - Double(level)) / 4)) + 0.001
                XCTAssertEqual(Double(value), log(rate), accuracy: 2e-6, "\(level) dBm")
            }
        }
    }

    func testTheLoopAddsExpectedRatesOnlyWithinTheRectangle() {
        for kind in Self.levels {
            var (rectangle, loss, sensitivity) = (Self.rectangle, Self.loss, Self.sensitivity)
            var values = [Float](repeating: 2, count: Self.room)
            cmath_add_expected_at(kind, &rectangle, &loss, &sensitivity, Self.first, &values)
            compare(values, before: 2, accuracy: 3e-6, "kind \(kind)") { square, _ in 2 + self.rate(square) }
        }
    }

    func testTheLoopAddsATablesRatesOnlyWithinTheRectangle() {
        let rates = (0..<Self.columns * Self.rows).map { Float($0) / 40 - 8 }
        for kind in Self.levels {
            var rectangle = Self.rectangle
            var values = [Float](repeating: 1, count: Self.room)
            cmath_add_exponentials_at(kind, &rectangle, rates, 0.25, Self.first, &values)
            compare(values, before: 1, accuracy: 2e-5, "kind \(kind)") { _, entry in
                0.75 + exp(Double(rates[entry]))
            }
        }
    }

    func testAReadingAddsShadowingAroundIt() {
        for kind in Self.levels {
            var rectangle = Self.rectangle
            var reading = cmath_survey_reading(
                weight: 0.3, amplitude: 16, scale: Float(3.0.squareRoot() / 8), constant: 25, gain: 1 / 44)
            var (mean, variance) = ([Float](repeating: -70, count: Self.room), [Float](repeating: 20, count: Self.room))
            cmath_add_shadowing_at(kind, &rectangle, &reading, Self.first, &mean, &variance)
            func covariance(_ square: Double) -> Double {
                let scaled = (3 * square).squareRoot() / 8
                return 16 * (1 + scaled) * exp(-scaled)
            }
            compare(mean, before: -70, accuracy: 2e-5, "mean, kind \(kind)") { square, _ in
                -70 + 0.3 * covariance(square)
            }
            compare(variance, before: 20, accuracy: 2e-5, "variance, kind \(kind)") { square, _ in
                min(20, 41 - (covariance(square) + 25) * (covariance(square) + 25) / 44)
            }
        }
    }

    func testTheLoopSpreadsAGaussianAroundItsPoint() {
        for kind in Self.levels {
            var rectangle = Self.rectangle
            var values = [Float](repeating: 0.5, count: Self.room)
            cmath_spread_at(kind, &rectangle, 0.2, 3, Self.first, &values)
            compare(values, before: 0.5, accuracy: 2e-6, "kind \(kind)") { square, _ in 0.5 + 3 * exp(-0.2 * square) }
        }
    }

    func testAllVectorLevelsGiveTheSameBits() {
        func bits(_ kind: Int32) -> [[UInt32]] {
            var (rectangle, loss, sensitivity) = (Self.rectangle, Self.loss, Self.sensitivity)
            var reading = cmath_survey_reading(weight: 0.3, amplitude: 16, scale: 0.2, constant: 25, gain: 0.02)
            var levels = [Float](repeating: 0, count: Self.room)
            cmath_levels_at(kind, &rectangle, &loss, &levels)
            var rates = levels
            cmath_log_rates_at(kind, levels, levels.count, &sensitivity, 0.001, &rates)
            var sums = levels
            cmath_add_expected_at(kind, &rectangle, &loss, &sensitivity, Self.first, &sums)
            cmath_add_exponentials_at(kind, &rectangle, rates, 0.001, Self.first, &sums)
            cmath_spread_at(kind, &rectangle, 0.2, 3, Self.first, &sums)
            var (mean, variance) = (levels, [Float](repeating: 30, count: Self.room))
            cmath_add_shadowing_at(kind, &rectangle, &reading, Self.first, &mean, &variance)
            return [levels, rates, sums, mean, variance].map { $0.map(\.bitPattern) }
        }
        for kind in Self.levels { XCTAssertEqual(bits(kind), bits(0), "kind \(kind)") }
    }
}
