import IndoorLocalization
import XCTest

final class RangeDensityTests: XCTestCase {
    private func integral(_ density: RangeDensity, over range: ClosedRange<Float>, step: Float = 0.01) -> Double {
        stride(from: range.lowerBound, to: range.upperBound, by: step).reduce(0) {
            $0 + Double(density.value(at: $1) * step)
        }
    }

    func testTheDensityIntegratesToOne() {
        for (deviation, excess) in [(0.15, 1.0), (1, 4), (0.05, 10)] {
            let density = RangeDensity(deviation: deviation, excess: excess, excessShare: 0.5)
            // The tail beyond 300 m, and the error of the logistic function.
            XCTAssertEqual(integral(density, over: -20...300), 1, accuracy: 0.05, "σ \(deviation), λ \(excess)")
        }
    }

    func testLongErrorsAreMoreProbableThanShortOnes() {
        let density = RangeDensity(deviation: 0.15, excess: 1, excessShare: 0.3)
        XCTAssertGreaterThan(density.value(at: 2), 100 * density.value(at: -2))
        XCTAssertEqual(density.value(at: 0.1), density.value(at: -0.1), accuracy: 0.2)
    }

    func testEveryErrorHasAPositiveFiniteDensity() {
        for share in [0.0, 0.3, 1] {
            let density = RangeDensity(deviation: 50, excess: 0.001, excessShare: share)
            for error in [Float(-10_000), -500, -1, 0, 1, 500, 10_000] {
                let value = density.value(at: error)
                XCTAssertTrue(value > 0 && value.isFinite, "\(value) at \(error)")
            }
        }
    }
}
