import IndoorLocalization
import XCTest

final class CholeskyTests: XCTestCase {
    func testTheSolutionOfTwoEquationsMatchesTheManualOne() throws {
        // 4x + 2y = 10 and 2x + 3y = 9: x = 1.5, y = 2.
        let factor = try XCTUnwrap(Cholesky([4, 2, 2, 3], order: 2))
        let solution = factor.solve([10, 9])
        XCTAssertEqual(solution[0], 1.5, accuracy: 1e-12)
        XCTAssertEqual(solution[1], 2, accuracy: 1e-12)
    }

    func testWhitenedVectorsHaveTheProductsOfTheInverse() throws {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let order = 1 + Int(seed) % 9
            let factor = try XCTUnwrap(Cholesky(positiveDefinite(order, using: &generator), order: order))
            let (a, b) = ((0..<order).map { _ in generator.normal() }, (0..<order).map { _ in generator.normal() })
            let white = factor.whitened(each: [a, b])
            let product = zip(white[0], white[1]).reduce(0) { $0 + $1.0 * $1.1 }
            let expected = zip(a, factor.solve(b)).reduce(0) { $0 + $1.0 * $1.1 }
            XCTAssertEqual(product, expected, accuracy: 1e-8 * (1 + abs(expected)), "seed \(seed)")
        }
    }

    func testTheInverseDiagonalOfTwoByTwoMatchesTheManualOne() throws {
        // The inverse of [4 2; 2 3] is [3 -2; -2 4] / 8.
        let diagonal = try XCTUnwrap(Cholesky([4, 2, 2, 3], order: 2)).inverseDiagonal()
        XCTAssertEqual(diagonal[0], 0.375, accuracy: 1e-12)
        XCTAssertEqual(diagonal[1], 0.5, accuracy: 1e-12)
    }

    func testTheFactorizationReadsOnlyTheLowerTriangle() throws {
        let solution = try XCTUnwrap(Cholesky([4, 999, 2, 3], order: 2)).solve([10, 9])
        XCTAssertEqual(solution[0], 1.5, accuracy: 1e-12)
    }

    func testTheFactorSolvesRandomEquations() throws {
        for seed in UInt64(1)...30 {
            var generator = SeededGenerator(seed: seed)
            let order = 1 + Int(seed) % 12
            let matrix = positiveDefinite(order, using: &generator)
            let right = (0..<order).map { _ in generator.normal() }
            let solution = try XCTUnwrap(Cholesky(matrix, order: order), "seed \(seed)").solve(right)
            for row in 0..<order {
                let product = (0..<order).reduce(0) { $0 + matrix[row * order + $1] * solution[$1] }
                XCTAssertEqual(product, right[row], accuracy: 1e-9, "seed \(seed), row \(row)")
            }
        }
    }

    func testSolvingManyRightSidesGivesTheBitsOfSolvingEach() throws {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let order = 1 + Int(seed) % 9
            let factor = try XCTUnwrap(Cholesky(positiveDefinite(order, using: &generator), order: order))
            let rights = (0..<Int(seed) % 4).map { _ in (0..<order).map { _ in generator.normal() } }
            XCTAssertEqual(factor.solve(each: rights), rights.map { factor.solve($0) }, "seed \(seed)")
        }
    }

    func testTheInverseDiagonalMatchesTheSolutionsForUnitVectors() throws {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let order = 1 + Int(seed) % 9
            let factor = try XCTUnwrap(Cholesky(positiveDefinite(order, using: &generator), order: order))
            let diagonal = factor.inverseDiagonal()
            for row in 0..<order {
                var unit = [Double](repeating: 0, count: order)
                unit[row] = 1
                XCTAssertEqual(diagonal[row], factor.solve(unit)[row], accuracy: 1e-9, "seed \(seed), row \(row)")
            }
        }
    }

    func testAnIndefiniteMatrixHasNoFactor() {
        XCTAssertNil(Cholesky([1, 2, 2, 1], order: 2))
    }

    func testASingularMatrixHasNoFactor() {
        XCTAssertNil(Cholesky([1, 1, 1, 1], order: 2))
    }

    func testAMatrixWithNotANumberHasNoFactor() {
        XCTAssertNil(Cholesky([1, 0, .nan, 1], order: 2))
    }

    /// A·Aᵀ + I of a random A, which no rounding makes singular.
    private func positiveDefinite(_ order: Int, using generator: inout SeededGenerator) -> [Double] {
        let root = (0..<order * order).map { _ in generator.normal() }
        return (0..<order * order).map { position in
            let (row, column) = position.quotientAndRemainder(dividingBy: order)
            let product = (0..<order).reduce(0) { $0 + root[row * order + $1] * root[column * order + $1] }
            return product + (row == column ? 1 : 0)
        }
    }
}
