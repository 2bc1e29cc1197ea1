import CMath
import XCTest

@testable import IndoorLocalization

/// The loops in C, each against the formula it stands for, with every kind of vectors that this machine has.
final class VectorLoopTests: XCTestCase {
    private static let levels = 0...cmath_vector_level()

    /// A table of 30 × 20 cells in a grid of 50 × 40, and a reading.
    private struct Table {
        var mean: [Float] = []
        var variance: [Float] = []
        var rate: [Float] = []
        static let columns: Int32 = 50
        static let cells: Int32 = 2000

        init(seed: UInt64) {
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<600 {
                mean.append(Float(-100 + 60 * generator.uniform()))
                variance.append(Float(0.1 + 40 * generator.uniform()))
                rate.append(Float(-6 + 7 * generator.uniform()))
            }
        }

        func with(isSurveyed: Bool = true, _ body: (inout cmath_reading) -> Void) {
            mean.withUnsafeBufferPointer { mean in
                variance.withUnsafeBufferPointer { variance in
                    rate.withUnsafeBufferPointer { rate in
                        var reading = cmath_reading(
                            mean: mean.baseAddress!, variance: variance.baseAddress!,
                            log_rate: isSurveyed ? rate.baseAddress : nil, first_column: 7, columns: 30, first_row: 11,
                            rows: 20, rssi: -71.5, noise: 14.25, share: 0.7, draw: 0.4, outside: -3.5, freedom: 8,
                            log_freedom: log(8))
                        body(&reading)
                    }
                }
            }
        }

        /// Student's t distribution in double precision, as the textbook writes it.
        func expected(_ cell: Int32, isSurveyed: Bool) -> Double {
            let (row, column) = (Int(cell / Self.columns) - 11, Int(cell % Self.columns) - 7)
            guard cell >= 0, (0..<20).contains(row), (0..<30).contains(column) else { return 0 }
            let entry = row * 30 + column
            let difference = -71.5 - Double(mean[entry])
            let variance = 14.25 + Double(variance[entry])
            let density = -4.5 * log1p(difference * difference / (8 * variance)) - log(variance) / 2
            return 0.7 * density + (isSurveyed ? 0.4 * Double(rate[entry]) : 0) + 3.5
        }
    }

    func testEachCellsLikelihoodIsThatOfTheFormula() {
        for (seed, isSurveyed) in [(UInt64(1), true), (2, false)] {
            let table = Table(seed: seed)
            var generator = SeededGenerator(seed: seed)
            let cells = (-1..<Table.cells).map { $0 }.shuffled(using: &generator)
            for level in Self.levels {
                var sums = cells.map { Float($0) / 100 }
                table.with(isSurveyed: isSurveyed) {
                    cmath_weigh_cells_at(level, &$0, Table.columns, cells, cells.count, &sums)
                }
                for (cell, sum) in zip(cells, sums) {
                    let expected = Double(cell) / 100 + table.expected(cell, isSurveyed: isSurveyed)
                    XCTAssertEqual(Double(sum), expected, accuracy: 2e-5, "cell \(cell), level \(level)")
                }
            }
        }
    }

    func testTheGridsLikelihoodIsThatOfItsCells() {
        let table = Table(seed: 3)
        let cells = Array(0..<Table.cells)
        for level in Self.levels {
            var (grid, single) = ([Float](repeating: 0, count: cells.count), [Float](repeating: 0, count: cells.count))
            table.with {
                cmath_weigh_grid_at(level, &$0, Table.columns, &grid)
                cmath_weigh_cells_at(level, &$0, Table.columns, cells, cells.count, &single)
            }
            XCTAssertEqual(grid, single, "level \(level)")
        }
    }

    func testATableAsWideAsTheGridIsWeighedToItsLastCell() {
        let table = Table(seed: 4)
        for level in Self.levels {
            var sums = [Float](repeating: 0, count: 30 * 31)
            table.with {
                $0.first_column = 0
                cmath_weigh_grid_at(level, &$0, 30, &sums)
            }
            XCTAssertEqual(sums[..<330].filter { $0 != 0 }.count, 0)
            XCTAssertEqual(sums[330...].filter { $0 == 0 }.count, 0)
        }
    }

    /// Equal seeds give equal bytes, on whatever processor.
    func testAllKindsOfVectorsComeToTheSameBits() {
        let table = Table(seed: 5)
        let cells = (-1..<Table.cells).map { $0 }
        let draws = (0..<1999).map { Int32($0 * 3 + 1) }
        let angles = (0..<1999).map { Float($0) * 0.02 - 20 }
        func bits(_ level: Int32) -> [[UInt32]] {
            var sums = [Float](repeating: 0, count: cells.count)
            table.with { cmath_weigh_cells_at(level, &$0, Table.columns, cells, cells.count, &sums) }
            var (x, y) = ([Float](repeating: 0, count: draws.count), [Float](repeating: 0, count: draws.count))
            cmath_normal_pairs_at(level, 99, SeededGenerator.step, draws, draws.count, &x, &y)
            var (sines, cosines) = (x, y)
            cmath_sines_cosines_at(level, angles, angles.count, &sines, &cosines)
            var powers = angles
            cmath_exp_below_at(level, &powers, 20, powers.count)
            return [sums, x, y, sines, cosines, powers].map { $0.map(\.bitPattern) }
        }
        for level in Self.levels { XCTAssertEqual(bits(level), bits(0), "level \(level)") }
    }

    func testNormalPairsAreThoseOfTheGenerator() {
        for seed in UInt64(1)...3 {
            let generator = SeededGenerator(seed: seed)
            let draws = (0..<5000).map { Int32(1 + 2 * $0) }
            for level in Self.levels {
                var (x, y) = ([Float](repeating: 0, count: 5000), [Float](repeating: 0, count: 5000))
                cmath_normal_pairs_at(level, generator.state, SeededGenerator.step, draws, 5000, &x, &y)
                var same = generator
                for index in 0..<5000 {
                    let pair = same.normalPair()
                    XCTAssertEqual(Double(x[index]), pair.0, accuracy: 2e-6, "pair \(index), seed \(seed)")
                    XCTAssertEqual(Double(y[index]), pair.1, accuracy: 2e-6, "pair \(index), seed \(seed)")
                }
            }
        }
    }

    func testNumbersAheadAreThoseThatCome() {
        var generator = SeededGenerator(seed: 6)
        let ahead = (1...20).map { generator.uniform(ahead: $0) }
        var skipped = generator
        skipped.skip(20)
        XCTAssertEqual(ahead, (1...20).map { _ in generator.uniform() })
        XCTAssertEqual(skipped, generator)
    }

    func testPowersAreRightToSevenDigitsAndNeverNothing() {
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

    func testSinesAndCosinesAreRightToSixDigits() {
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

    func testNoNumbersAreNoWork() {
        for level in Self.levels {
            var (values, other): ([Float], [Float]) = ([3], [4])
            cmath_exp_below_at(level, &values, 0, 0)
            cmath_sines_cosines_at(level, [1], 0, &values, &other)
            XCTAssertEqual(other, [4])
            XCTAssertEqual(values, [3])
        }
    }
}
