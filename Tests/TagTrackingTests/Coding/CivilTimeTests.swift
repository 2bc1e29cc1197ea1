import IndoorVocabulary
import TagTracking
import TextFormats
import XCTest

final class CivilTimeTests: XCTestCase {
    func testKnownInstantsHaveTheirDates() {
        // Checked with `date -u -d @SECONDS`.
        let cases: [(seconds: Int64, text: String)] = [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"), (1_795_338_000, "2026-11-22T09:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.000Z"),
        ]
        for (seconds, text) in cases {
            var json = JSONWriter()
            json.value(time: Instant(nanoseconds: seconds * 1_000_000_000))
            XCTAssertEqual(json.text, "\"\(text)\"")
        }
    }

    func testEachDayOfTwoCenturiesIsReadAsItIsWritten() {
        for day in 0..<(Int64(146_097) / 2) {
            let instant = Instant(nanoseconds: day * 86_400_000_000_000 + 12_345_000_000)
            var json = JSONWriter()
            json.value(time: instant)
            let text = Array(json.bytes.dropFirst().dropLast())
            let read = TimeText.time(text.span)
            XCTAssertEqual(read?.nanoseconds, instant.nanoseconds, json.text)
        }
    }
}
