import CMath
import XCTest

import IndoorLocalization

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
