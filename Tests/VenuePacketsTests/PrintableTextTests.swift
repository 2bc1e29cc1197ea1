import VenuePackets
import XCTest

/// Text of others in messages and logs.
final class PrintableTextTests: XCTestCase {
    func testInvisibleCharactersAreEscaped() {
        for (text, escaped) in [
            ("a\u{FEFF}b", "a\\uFEFFb"), ("a\u{200B}b", "a\\u200Bb"), ("a\u{2060}b", "a\\u2060b"),
            ("a\u{AD}b", "a\\u00ADb"), ("a\u{061C}b", "a\\u061Cb"), ("a\u{202E}b", "a\\u202Eb"),
            ("a\u{3164}b", "a\\u3164b"), ("a\u{E0041}b", "a\\uDB40\\uDC41b"), ("a\u{7}b", "a\\u0007b"),
            ("a\u{2028}b", "a\\u2028b"), ("a\u{85}b", "a\\u0085b"), ("a\u{FFF9}b", "a\\uFFF9b"),
        ] { XCTAssertEqual(PrintableText.line(text), escaped) }
    }

    func testVisibleTextStaysAsItIs() {
        for text in ["Küche 2", "कक्षा\u{200D}", "می\u{200C}خواهم", "👨\u{200D}👩\u{200D}👧", "☎\u{FE0F}", "階段", "a b"] {
            XCTAssertEqual(PrintableText.line(text), text)
        }
    }
}
