import IndoorLocalization
import XCTest

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
