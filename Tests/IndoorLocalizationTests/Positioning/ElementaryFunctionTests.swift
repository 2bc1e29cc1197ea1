import CMath
import Foundation
import IndoorLocalization
import XCTest

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
