import IndoorLocalization
import ScanRecording
import XCTest

final class NumberTests: XCTestCase {
    private func double(_ text: String) -> Double {
        let bytes = Array(text.utf8)
        return DecimalText.double(in: bytes.indices, of: bytes.span)
    }

    private func nanoseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        return DecimalText.nanoseconds(in: bytes.indices, of: bytes.span)
    }

    func testNumbersParseAsInTheStandardLibrary() {
        let seed: UInt64 = 13
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let digits = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let fraction = String(generator.next() >> UInt64.random(in: 0..<64, using: &generator))
            let exponent = Int.random(in: -330...330, using: &generator)
            for text in ["\(digits).\(fraction)", "-\(digits)e\(exponent)", "\(digits).\(fraction)E\(exponent % 20)"] {
                XCTAssertEqual(double(text), Double(text), "\(text) seed \(seed)")
            }
        }
    }

    func testNumbersThatAreHardToRoundParseCorrectly() {
        for text in [
            "0", "-0", "9007199254740993", "9007199254740992.5", "1e22", "1e23", "1e-22", "123456789012345678",
            "1.7976931348623157e308", "1e309", "4.9e-324", "2e-324", "0.1", "3.14159265358979323846264338327950288",
            "1e99999999999999999999", "1e-99999999999999999999", "0.000000000000000000000000000000000001",
        ] {
            XCTAssertEqual(double(text), Double(text), text)
        }
        XCTAssertEqual(double("-0").sign, .minus)
    }

    func testSecondsKeepTheirNanoseconds() {
        for (text, expected) in [
            ("0", 0), ("0.1", 100_000_000), ("-1.5", -1_500_000_000), ("123456789.123456789", 123_456_789_123_456_789),
            ("1e3", 1_000_000_000_000), ("1.5e-9", 2), ("0.0000000004", 0), ("0.1000000000000000055511", 100_000_000),
            ("9199999999.999999999", 9_199_999_999_999_999_999),
        ] as [(String, Int64)] {
            XCTAssertEqual(nanoseconds(text), expected, text)
        }
    }

    func testSecondsBeyondTheTimelineAreNil() {
        for text in ["9200000000", "-9200000000", "1e300", "1e999", "99999999999999999999"] {
            XCTAssertNil(nanoseconds(text), text)
        }
    }

    func testWrittenNumbersReadBackEqual() {
        let seed: UInt64 = 21
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite else { continue }
            XCTAssertEqual(double(NumberText.shortest(number)), number, "seed \(seed)")
            let instant = Instant(
                nanoseconds: Int64.random(in: -9_199_999_999_999_999_999...9_199_999_999_999_999_999, using: &generator)
            )
            XCTAssertEqual(nanoseconds(NumberText.seconds(instant)), instant.nanoseconds, "seed \(seed)")
        }
        XCTAssertEqual(NumberText.shortest(1000), "1000")
        XCTAssertEqual(NumberText.shortest(-0.5), "-0.5")
        XCTAssertEqual(NumberText.seconds(Instant(nanoseconds: -1)), "-0.000000001")
    }
}
