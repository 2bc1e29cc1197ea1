import CMath
import Foundation
import IndoorLocalization
import XCTest
@testable import IndoorPositioning

/// The elementary functions of the core, each against libm's.
final class ElementaryFunctionTests: XCTestCase {
    private func check(
        _ name: String, _ range: ClosedRange<Double>, units: Double = 3, _ own: (Double, Double) -> Double,
        _ libm: (Double, Double) -> Double
    ) {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let x = range.lowerBound + (range.upperBound - range.lowerBound) * generator.uniform()
            let y = -9 + 18 * generator.uniform()
            let (result, expected) = (own(x, y), libm(x, y))
            XCTAssertEqual(result, expected, accuracy: units * expected.ulp, "\(name)(\(x), \(y))")
        }
    }

    func testResultsAreWithinAFewUnitsInTheLastPlaceOfLibms() {
        check("exp", -700...700, { x, _ in cmath_exp(x) }, { x, _ in exp(x) })
        check("exp", -1...1, { x, _ in cmath_exp(x) }, { x, _ in exp(x) })
        check("log", 0...10, { x, _ in cmath_log(x) }, { x, _ in log(x) })
        check("log", 0.99...1.01, { x, _ in cmath_log(x) }, { x, _ in log(x) })
        check("log10", 0...1000, { x, _ in cmath_log10(x) }, { x, _ in log10(x) })
        check("pow", 0...100, units: 6, { x, y in cmath_pow(x, y) }, { x, y in pow(x, y) })
        check("pow", -12...12, units: 6, { x, _ in cmath_pow(10, x) }, { x, _ in pow(10, x) })
        check("sin", -100...100, { x, _ in cmath_sin(x) }, { x, _ in sin(x) })
        check("cos", -1e6...1e6, { x, _ in cmath_cos(x) }, { x, _ in cos(x) })
        check("asin", -1...1, units: 5, { x, _ in cmath_asin(x) }, { x, _ in asin(x) })
        check("atan2", -10...10, { x, y in cmath_atan2(x, y) }, { x, y in atan2(x, y) })
        check("hypot", -10...10, { x, y in cmath_hypot(x, y) }, { x, y in hypot(x, y) })
        check("fmod", -1e9...1e9, units: 0, { x, y in cmath_fmod(x, y) }, { x, y in fmod(x, y) })
    }

    func testFloatFunctionsAreRounded() {
        for step in 1..<2000 {
            let x = Float(step) / 37
            XCTAssertEqual(cmath_expf(-x), expf(-x), accuracy: 2 * expf(-x).ulp, "exp(-\(x))")
            XCTAssertEqual(cmath_logf(x), logf(x), accuracy: 2 * logf(x).ulp, "log(\(x))")
            XCTAssertEqual(cmath_log1pf(x), log1pf(x), accuracy: 2 * log1pf(x).ulp, "log1p(\(x))")
            XCTAssertEqual(cmath_log1pf(x * 1e-9), log1pf(x * 1e-9), accuracy: 2 * (x * 1e-9).ulp, "log1p of \(x)e-9")
        }
    }

    /// Zeros, infinities, NaN, the smallest numbers and the largest give what C's standard says.
    func testSpecialValuesAreThoseOfLibm() {
        let special = [
            0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, -3, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 0x1p-1030,
            1e308, -1e308, 0x1p53,
            709.78, 710, -745.1, -746,
        ]
        func check(_ name: String, _ own: Double, _ libm: Double, _ arguments: Double...) {
            if libm.isNaN { return XCTAssertTrue(own.isNaN, "\(name)\(arguments): \(own)") }
            XCTAssertEqual(own.sign, libm.sign, "\(name)\(arguments)")
            guard libm.isFinite else { return XCTAssertEqual(own, libm, "\(name)\(arguments)") }
            XCTAssertEqual(own, libm, accuracy: 2 * libm.ulp, "\(name)\(arguments)")
        }
        for x in special {
            check("exp", cmath_exp(x), exp(x), x)
            check("log", cmath_log(x), log(x), x)
            check("log10", cmath_log10(x), log10(x), x)
            check("asin", cmath_asin(x), asin(x), x)
            if !(abs(x) > 1e6 && x.isFinite) {
                check("sin", cmath_sin(x), sin(x), x)
                check("cos", cmath_cos(x), cos(x), x)
            }
            for y in special {
                check("pow", cmath_pow(x, y), pow(x, y), x, y)
                check("atan2", cmath_atan2(x, y), atan2(x, y), x, y)
                check("hypot", cmath_hypot(x, y), hypot(x, y), x, y)
                check("fmod", cmath_fmod(x, y), fmod(x, y), x, y)
            }
        }
    }
}

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
        return (0..<order * order).map { position -> Double in
            let (row, column) = position.quotientAndRemainder(dividingBy: order)
            var sum = row == column ? 1.0 : 0
            for k in 0..<order { sum += root[row * order + k] * root[column * order + k] }
            return sum
        }
    }
}

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

final class RotationTests: XCTestCase {
    func testTheLengthFollowsPythagoras() {
        XCTAssertEqual(Vector3(x: 2, y: 3, z: 6).length, 7, accuracy: 1e-12)
    }

    func testAQuarterTurnAboutZTurnsXToY() {
        let turned = Self.turn(degrees: 90, about: Vector3(x: 0, y: 0, z: 1)).rotate(Vector3(x: 1, y: 0, z: 0))
        expect(turned, Vector3(x: 0, y: 1, z: 0))
    }

    func testAQuarterTurnAboutXTurnsYToZ() {
        let turned = Self.turn(degrees: 90, about: Vector3(x: 1, y: 0, z: 0)).rotate(Vector3(x: 0, y: 1, z: 0))
        expect(turned, Vector3(x: 0, y: 0, z: 1))
    }

    func testAQuarterTurnAboutYTurnsZToX() {
        let turned = Self.turn(degrees: 90, about: Vector3(x: 0, y: 1, z: 0)).rotate(Vector3(x: 0, y: 0, z: 1))
        expect(turned, Vector3(x: 1, y: 0, z: 0))
    }

    func testANonUnitQuaternionTurnsLikeAUnitQuaternion() {
        var long = Self.turn(degrees: 90, about: Vector3(x: 0, y: 0, z: 1))
        (long.w, long.z) = (long.w * 7, long.z * 7)
        expect(long.rotate(Vector3(x: 1, y: 2, z: 3)), Vector3(x: -2, y: 1, z: 3))
    }

    func testAZeroQuaternionTurnsNothing() {
        let vector = Vector3(x: 1, y: 2, z: 3)
        XCTAssertEqual(Quaternion(w: 0, x: 0, y: 0, z: 0).rotate(vector), vector)
    }

    func testRotationsKeepLengthsAndConjugatesReverseThem() {
        let seed: UInt64 = 5
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let (w, x) = generator.normalPair()
            let (y, z) = generator.normalPair()
            let vector = Vector3(x: generator.normal(), y: generator.normal(), z: generator.normal())
            let turned = Quaternion(w: w, x: x, y: y, z: z).rotate(vector)
            XCTAssertEqual(turned.length, vector.length, accuracy: 1e-9, "seed \(seed)")
            expect(Quaternion(w: w, x: -x, y: -y, z: -z).rotate(turned), vector)
        }
    }

    private func expect(_ vector: Vector3, _ expected: Vector3, file: StaticString = #filePath, line: UInt = #line) {
        let error = Vector3(x: vector.x - expected.x, y: vector.y - expected.y, z: vector.z - expected.z).length
        XCTAssertEqual(error, 0, accuracy: 1e-9, "\(vector) instead of \(expected)", file: file, line: line)
    }

    static func turn(degrees: Double, about axis: Vector3) -> Quaternion {
        let half = degrees * .pi / 360
        return Quaternion(w: cos(half), x: axis.x * sin(half), y: axis.y * sin(half), z: axis.z * sin(half))
    }
}

final class SeededGeneratorTests: XCTestCase {
    private let seed: UInt64 = 20_26
    private let count = 20_000

    func testTheFirstNumbersMatchSplitMix() {
        // Seed 1234567: the reference sequence of splitmix64.c (S. Vigna, prng.di.unimi.it), as widely published.
        var generator = SeededGenerator(seed: 1_234_567)
        XCTAssertEqual(generator.next(), 6_457_827_717_110_365_317)
        XCTAssertEqual(generator.next(), 3_203_168_211_198_807_973)
        XCTAssertEqual(generator.next(), 9_817_491_932_198_370_423)
    }

    func testUniformNumbersHaveTheirMeanAndVariance() {
        var generator = SeededGenerator(seed: seed)
        let numbers = (0..<count).map { _ in generator.uniform() }
        let (mean, variance) = moments(numbers)
        // Four standard errors: 4·√(1/12/20000) = 0.0082; of the variance 4·√(1/180/20000) = 0.0021.
        XCTAssertEqual(mean, 0.5, accuracy: 0.0082, "seed \(seed)")
        XCTAssertEqual(variance, 1.0 / 12, accuracy: 0.0021, "seed \(seed)")
    }

    func testUniformNumbersAreAtLeastZeroAndBelowOne() {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<count {
            let number = generator.uniform()
            XCTAssertTrue(number >= 0 && number < 1, "\(number), seed \(seed)")
        }
    }

    func testNormalNumbersHaveMeanZeroVarianceOneAndNormalTails() {
        var generator = SeededGenerator(seed: seed)
        let numbers = (0..<count).map { _ in generator.normal() }
        let (mean, variance) = moments(numbers)
        XCTAssertEqual(mean, 0, accuracy: 4 / Double(count).squareRoot(), "seed \(seed)")
        XCTAssertEqual(variance, 1, accuracy: 4 * (2 / Double(count)).squareRoot(), "seed \(seed)")
        let beyond = Double(numbers.filter { abs($0) > 2 }.count) / Double(count)
        // Share beyond two deviations: 0.0455, four standard errors 0.0059.
        XCTAssertEqual(beyond, 0.0455, accuracy: 0.0059, "seed \(seed)")
    }

    func testTheTwoNumbersOfAPairAreUncorrelated() {
        var generator = SeededGenerator(seed: seed)
        let products = (0..<count).map { _ in
            let (first, second) = generator.normalPair()
            return first * second
        }
        XCTAssertEqual(moments(products).mean, 0, accuracy: 4 / Double(count).squareRoot(), "seed \(seed)")
    }

    private func moments(_ numbers: [Double]) -> (mean: Double, variance: Double) {
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        return (mean, numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(numbers.count))
    }
}
