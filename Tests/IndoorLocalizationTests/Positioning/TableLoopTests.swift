import CMath
import XCTest

import IndoorLocalization

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
