import IndoorVocabulary
import TextFormats
import XCTest

final class NumberTests: XCTestCase {
    private func number(_ bytes: [UInt8]) throws -> JSONNumber {
        var cursor = JSONCursor(limits: JSONLimits(depth: 1))
        let number = try cursor.decimal(bytes.span)
        try cursor.finish(bytes.span)
        return number
    }

    private func double(_ text: String) throws -> Double {
        let bytes = Array(text.utf8)
        return try number(bytes).double(bytes.span)
    }

    private func nanoseconds(_ text: String) throws -> Int64? {
        let bytes = Array(text.utf8)
        return try number(bytes).nanoseconds(bytes.span)
    }

    func testNumbersParseAsInTheStandardLibrary() throws {
        let seed: UInt64 = 13
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let digits = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let fraction = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let exponent = Int.random(in: -330...330, using: &generator)
            for text in ["\(digits).\(fraction)", "-\(digits)e\(exponent)", "\(digits).\(fraction)E\(exponent % 20)"] {
                XCTAssertEqual(try double(text), Double(text), "\(text) seed \(seed)")
            }
        }
    }

    func testNumbersThatAreHardToRoundParseCorrectly() throws {
        for text in [
            "0", "-0", "9007199254740993", "9007199254740992.5", "1e22", "1e23", "1e-22", "123456789012345678",
            "1.7976931348623157e308", "1e309", "4.9e-324", "2e-324", "0.1", "3.14159265358979323846264338327950288",
            "1e99999999999999999999", "1e-99999999999999999999", "0.000000000000000000000000000000000001",
        ] {
            XCTAssertEqual(try double(text), Double(text), text)
        }
        XCTAssertEqual(try double("-0").sign, .minus)
    }

    func testSecondsKeepTheirNanoseconds() throws {
        for (text, expected) in [
            ("0", 0), ("0.1", 100_000_000), ("-1.5", -1_500_000_000), ("123456789.123456789", 123_456_789_123_456_789),
            ("1e3", 1_000_000_000_000), ("1.5e-9", 2), ("0.0000000004", 0), ("0.1000000000000000055511", 100_000_000),
            ("9199999999.999999999", 9_199_999_999_999_999_999),
        ] as [(String, Int64)] {
            XCTAssertEqual(try nanoseconds(text), expected, text)
        }
    }

    func testSecondsBeyondTheTimelineAreNil() throws {
        for text in ["9200000000", "-9200000000", "1e300", "1e999", "99999999999999999999"] {
            XCTAssertNil(try nanoseconds(text), text)
        }
    }

    func testWrittenNumbersReadBackEqual() throws {
        let seed: UInt64 = 21
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            XCTAssertEqual(try double(ShortestNumber.text(number)), number, "seed \(seed)")
            let nanoseconds = Int64.random(
                in: -9_199_999_999_999_999_999...9_199_999_999_999_999_999, using: &generator)
            XCTAssertEqual(
                try self.nanoseconds(ShortestNumber.text(billionths: nanoseconds)), nanoseconds, "seed \(seed)")
        }
        XCTAssertEqual(ShortestNumber.text(1000), "1000")
        XCTAssertEqual(ShortestNumber.text(-0.5), "-0.5")
        XCTAssertEqual(ShortestNumber.text(billionths: -1), "-0.000000001")
    }

    func testANumberWithFixedDecimalsIsRoundedHalfAwayFromZero() {
        for (value, decimals, text) in [
            (0.5, 0, "1"), (-0.5, 0, "-1"), (2.5, 0, "3"), (0.125, 2, "0.13"), (-0.125, 2, "-0.13"),
            (-0.001, 2, "0.00"),
            (1, 3, "1.000"), (-12.5, 1, "-12.5"), (0, 9, "0.000000000"), (123_456_789.25, 1, "123456789.3"),
        ] as [(Double, Int, String)] {
            XCTAssertEqual(FixedDecimals.text(value, decimals), text)
            var bytes: [UInt8] = []
            XCTAssertTrue(FixedDecimals.append(value, decimals, to: &bytes))
            XCTAssertEqual(String(decoding: bytes, as: UTF8.self), text)
        }
    }

    func testANumberWithTooManyDigitsHasNoFixedDecimals() {
        var bytes: [UInt8] = []
        for value in [Double.nan, .infinity, -.infinity, 1e19] {
            XCTAssertNil(FixedDecimals.text(value, 0))
            XCTAssertFalse(FixedDecimals.append(value, 0, to: &bytes))
        }
        XCTAssertNil(FixedDecimals.text(1e18, 0))
        XCTAssertEqual(FixedDecimals.text(9e17, 0), "900000000000000000")
        XCTAssertEqual(bytes, [])
    }
}
