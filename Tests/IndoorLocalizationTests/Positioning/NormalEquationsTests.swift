import XCTest

@testable import IndoorPositioning
import IndoorLocalization

final class NormalEquationsTests: XCTestCase {
    private typealias Prior = (mean: Double, deviation: Double)
    /// As good as no prior.
    private static let unknown: Prior = (0, 1e5)

    func testTwoEffectsOfThreeReadingsMatchTheManualSolution() throws {
        // a = 1, a + b = 5 and b = 4 agree. HᵀH = [2 1; 1 2], whose inverse has 2/3 on its diagonal.
        let solution = try XCTUnwrap(Self.threeReadings(1, 5, 4).solve([Self.unknown, Self.unknown]))
        expectEqual(solution.values, [1, 4])
        expectEqual(solution.variances, [2.0 / 3, 2.0 / 3])
    }

    func testTheSolutionOfInconsistentReadingsIsTheLeastSquaresFit() throws {
        // Hᵀy = [7; 10]: a = (2·7 - 10) / 3, b = (2·10 - 7) / 3.
        let solution = try XCTUnwrap(Self.threeReadings(1, 6, 4).solve([Self.unknown, Self.unknown]))
        expectEqual(solution.values, [4.0 / 3, 13.0 / 3])
    }

    func testCorrelatedReadingsHaveTheWeightOfTheirInverseCovariance() throws {
        // K = [2 1; 1 2], K⁻¹ = [2 -1; -1 2] / 3. One effect with h = (1, 0) and y = (4, 3):
        // hᵀK⁻¹h = 2/3 and hᵀK⁻¹y = (2·4 - 3) / 3, so that 5/2 with variance 3/2.
        var equations = NormalEquations(count: 1)
        equations.add([0], [[1, 0]], [[2.0 / 3, -1.0 / 3]], [5.0 / 3, 2.0 / 3])
        let solution = try XCTUnwrap(equations.solve([Self.unknown]))
        expectEqual(solution.values, [2.5])
        expectEqual(solution.variances, [1.5])
    }

    func testAPriorHasTheWeightOfAReading() throws {
        var equations = NormalEquations(count: 1)
        equations.add([0], [[1]], [[1]], [5])
        // A reading of 5 ± 1 and a prior of 3 ± 1.
        let solution = try XCTUnwrap(equations.solve([(3, 1)]))
        expectEqual(solution.values, [4])
        expectEqual(solution.variances, [0.5])
        // Of 3 ± 0.5: four times the weight.
        expectEqual(try XCTUnwrap(equations.solve([(3, 0.5)])).values, [3.4])
    }

    func testAnEffectWithoutReadingsKeepsItsPrior() throws {
        var equations = NormalEquations(count: 2)
        equations.add([1], [[1]], [[1]], [5])
        let solution = try XCTUnwrap(equations.solve([(7, 2), Self.unknown]))
        expectEqual(solution.values, [7, 5])
        expectEqual(solution.variances, [4, 1])
    }

    func testGroupsContributeToTheirEffects() throws {
        var equations = NormalEquations(count: 3)
        equations.add([2, 0], [[1, 0], [0, 1]], [[1, 0], [0, 1]], [8, 2])
        equations.add([0], [[1]], [[1]], [4])
        equations.add([1], [[1]], [[1]], [-3])
        let solution = try XCTUnwrap(equations.solve([Self.unknown, Self.unknown, Self.unknown]))
        expectEqual(solution.values, [3, -3, 8])
        expectEqual(solution.variances, [0.5, 1, 1])
    }

    func testEffectsWithoutAPriorAreZero() throws {
        // a = 1 and a = 5, as if b were 0.
        let solution = try XCTUnwrap(Self.threeReadings(1, 5, 4).solve([Self.unknown]))
        expectEqual(solution.values, [3])
        expectEqual(solution.variances, [0.5])
    }

    func testInseparableEffectsHaveNoSolution() {
        var equations = NormalEquations(count: 2)
        equations.add([0, 1], [[1], [1]], [[1], [1]], [2])
        XCTAssertNil(equations.solve([(0, .infinity), (0, .infinity)]))
        XCTAssertNil(NormalEquations(count: 1).solve([(0, .infinity)]))
    }

    func testAPriorOfZeroDeviationDoesNotDivideByZero() throws {
        let solution = try XCTUnwrap(Self.threeReadings(1, 5, 4).solve([(2, 0), Self.unknown]))
        XCTAssertEqual(solution.values[0], 2, accuracy: 1e-4)
        XCTAssertEqual(solution.values[1], 3.5, accuracy: 1e-4)
    }

    /// Readings of a, of a + b and of b, each with variance 1.
    private static func threeReadings(_ first: Double, _ both: Double, _ second: Double) -> NormalEquations {
        var equations = NormalEquations(count: 2)
        let columns: [[Double]] = [[1, 1, 0], [0, 1, 1]]
        equations.add([0, 1], columns, columns, [first, both, second])
        return equations
    }

    /// To the share that a prior of 1e5 still counts with.
    private func expectEqual(_ values: [Double], _ expected: [Double], line: UInt = #line) {
        XCTAssertEqual(values.count, expected.count, line: line)
        for (value, expected) in zip(values, expected) { XCTAssertEqual(value, expected, accuracy: 1e-7, line: line) }
    }
}
