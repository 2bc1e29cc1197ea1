import TextFormats
import XCTest

final class JSONReaderTests: XCTestCase {
    private static let deepest = 32

    private func reader(_ bytes: [UInt8]) -> JSONReader {
        JSONReader(bytes, limits: JSONLimits(depth: Self.deepest, permitsControls: true))
    }

    private func reader(_ text: String) -> JSONReader { reader(Array(text.utf8)) }

    /// Reads a whole document, and returns the failure; nil for a valid one.
    private func failure(_ text: String) -> JSONReader.Failure? { failure(Array(text.utf8)) }

    private func failure(_ bytes: [UInt8]) -> JSONReader.Failure? {
        var reader = reader(bytes)
        do throws(JSONReader.Failure) {
            try reader.skipValue()
            try reader.finish()
            return nil
        } catch {
            return error
        }
    }

    private func text(_ document: String) throws -> String {
        var reader = reader(document)
        let string = try reader.string()
        try reader.finish()
        return try reader.text(of: string)
    }

    private func assertFailure(_ error: any Error, _ offset: Int, _ expected: String, line: UInt = #line) {
        let failure = error as? JSONReader.Failure
        XCTAssertEqual(failure?.offset, offset, line: line)
        XCTAssertEqual(failure?.expected, expected, line: line)
    }

    // MARK: - Structure

    func testTheReaderReturnsThePartsInTheirOrder() throws {
        var reader = reader(#" { "a" : [ 1 , "two" , { } , [ ] ] , "b" : null , "c":true,"d":false } "#)
        try reader.enterObject()
        var key = try XCTUnwrap(try reader.nextKey())
        XCTAssertTrue(reader.matches(key, "a"))
        XCTAssertEqual(try reader.kind(), .array)
        try reader.enterArray()
        XCTAssertTrue(try reader.nextElement())
        XCTAssertEqual(try reader.number(), 1)
        XCTAssertTrue(try reader.nextElement())
        let two = try reader.string()
        XCTAssertEqual(try reader.text(of: two), "two")
        XCTAssertTrue(try reader.nextElement())
        XCTAssertEqual(try reader.kind(), .object)
        try reader.enterObject()
        XCTAssertNil(try reader.nextKey())
        XCTAssertTrue(try reader.nextElement())
        try reader.skipValue()
        XCTAssertFalse(try reader.nextElement())
        key = try XCTUnwrap(try reader.nextKey())
        XCTAssertEqual(try reader.kind(), .null)
        try reader.null()
        key = try XCTUnwrap(try reader.nextKey())
        XCTAssertTrue(try reader.bool())
        key = try XCTUnwrap(try reader.nextKey())
        XCTAssertTrue(reader.matches(key, "d"))
        XCTAssertFalse(try reader.bool())
        XCTAssertNil(try reader.nextKey())
        try reader.finish()
    }

    func testTheReaderAcceptsValidDocuments() {
        for document in [
            "0", "-0", "1.5e+3", "[]", "{}", " [ [ ] , { } ] ", #""""#, #"{"":""}"#, "[1,2]", "true", "null", "1E9",
            #"["\u00e9\ud83e\udded\"\\\/\b\f\n\r\t"]"#, #"{"a":1,"a":2}"#,
        ] { XCTAssertNil(failure(document), document) }
    }

    func testTheReaderRejectsInvalidDocumentsAtTheirFirstInvalidByte() {
        let cases: [(String, Int)] = [
            ("", 0), (" ", 1), ("[1,]", 3), ("{\"a\":1,}", 7), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{a:1}", 1), ("[", 1),
            ("{\"a\":", 5), ("01", 0), ("-", 1), ("1.", 2), (".5", 0), ("1e", 2), ("+1", 0), ("nul", 0), ("tru", 0),
            ("[1}", 2), ("{]", 1), ("1 2", 2), ("[,1]", 1), ("{,}", 1), ("\"a", 2), ("\"\\x\"", 2),
            ("\"\\u12", 5), ("\"\\u12g4\"", 5), ("\"\\ud83e\"", 3), ("\"\\ud83e\\u0041\"", 3), ("\"\\udded\"", 3),
            ("\"\\", 2), ("NaN", 0), ("/**/1", 0), ("[1]]", 3),
        ]
        for (document, offset) in cases { XCTAssertEqual(failure(document)?.offset, offset, document) }
    }

    func testTheReaderLimitsTheDepth() {
        let deepest = Self.deepest
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        XCTAssertNil(failure(nested(deepest)))
        XCTAssertEqual(failure(nested(deepest + 1))?.offset, deepest)
        XCTAssertEqual(failure(String(repeating: "[", count: 1_000_000))?.offset, deepest)
    }

    func testAFailureStatesTheExpectedKind() {
        var reader = reader(" 5")
        XCTAssertThrowsError(try reader.string()) {
            assertFailure($0, 1, "a string")
        }
        XCTAssertThrowsError(try reader.enterObject()) {
            assertFailure($0, 1, "an object")
        }
    }

    // MARK: - Strings

    func testEscapesStandForTheirCharacters() throws {
        XCTAssertEqual(try text(#""a\"\\\/\b\f\n\r\t\u0041\u00E9\ud83e\udDEDz""#), "a\"\\/\u{8}\u{C}\n\r\tAé🧭z")
        XCTAssertEqual(try text("\"é🧭\""), "é🧭")
        XCTAssertEqual(try text(#""\u0000""#), "\0")
    }

    func testAKeyWithEscapesMatchesItsWord() throws {
        var reader = reader(#"{"rs\u0073i":1,"rssi":2,"rssi2":3,"RSSI":4}"#)
        try reader.enterObject()
        var matches: [Bool] = []
        while let key = try reader.nextKey() {
            matches.append(reader.matches(key, "rssi"))
            try reader.skipValue()
        }
        XCTAssertEqual(matches, [true, true, false, false])
    }

    func testAStringOfEveryLengthEndsAtItsQuote() throws {
        for count in 0..<40 {
            let plain = String(repeating: "x", count: count)
            XCTAssertEqual(try text("\"\(plain)\""), plain)
            for end in ["é", "\\n", "\u{7F}"] {
                XCTAssertEqual(
                    try text("\"\(plain)\(end)\(plain)\""), plain + (end == "\\n" ? "\n" : end) + plain, "\(count)")
            }
            // A string with a control character can be skipped, but is no text.
            let broken = "\"\(plain)\u{1F}\(plain)\""
            XCTAssertNil(failure(broken))
            XCTAssertThrowsError(try text(broken)) {
                XCTAssertEqual(($0 as? JSONReader.Failure)?.offset, count + 1)
            }
        }
    }

    func testATextThatIsNoUTF8Fails() throws {
        var reader = reader([0x22, 0x61, 0xFF, 0x22])
        let string = try reader.string()
        XCTAssertThrowsError(try reader.text(of: string)) {
            assertFailure($0, 1, "UTF-8")
        }
    }

    // MARK: - Numbers

    func testANumberIsTheNearestDouble() throws {
        for text in [
            "0", "-0", "-71.25", "1653668027.125", "-79.81192947697268", "0.1", "123456789012345678", "1e22", "1e-22",
            "9007199254740993", "12345678901234567890", "2.2250738585072014e-308", "1.7976931348623157e308", "5e-324",
            "0.30000000000000004", "6440186562.48137284", "905097784227635.032", "1e23", "1E+2",
            "100000000000000000000000", "1e-400",
        ] {
            var reader = reader(text)
            let expected = try XCTUnwrap(Double(text))
            XCTAssertEqual(try reader.number().bitPattern, expected.bitPattern, text)
            try reader.finish()
        }
    }

    func testANumberBeyondTheRangeOfADoubleFails() {
        for text in ["1e309", "-1e999", "1" + String(repeating: "0", count: 400)] {
            var reader = reader(text)
            XCTAssertThrowsError(try reader.number(), text)
        }
    }

    func testAnIntegerIsExact() throws {
        for (text, value) in [
            ("9223372036854775807", Int64.max), ("-5", -5), ("1692208603262000001", 1_692_208_603_262_000_001),
        ] {
            var reader = reader(text)
            XCTAssertEqual(try reader.integer(), value)
        }
        for text in ["9223372036854775808", "1.5", "1e3", "99999999999999999999", "\"5\""] {
            var reader = reader(text)
            XCTAssertThrowsError(try reader.integer(), text)
        }
    }

    // MARK: - What readers differ in

    func testAByteOrderMarkIsSkippedAndCountedInOffsets() throws {
        var marked = reader("\u{FEFF}[1 2]")
        try marked.enterArray()
        XCTAssertTrue(try marked.nextElement())
        XCTAssertEqual(try marked.number(), 1)
        XCTAssertThrowsError(try marked.nextElement()) { XCTAssertEqual(($0 as? JSONSyntaxError)?.offset, 6) }
        XCTAssertEqual(failure("1\u{FEFF}")?.offset, 1)
    }

    func testHalfOfASurrogatePairIsAnErrorOrAStringWithoutText() throws {
        for text in [
            #""\ud83e""#, #""\udded""#, #""\ud83ex""#, #""\ud83e\n""#, #""\ud83e\u0041""#, #""\ud83e\ud83e\udded""#,
        ] {
            XCTAssertNotNil(failure(text), text)
            var tolerant = JSONReader(Array(text.utf8), limits: JSONLimits(depth: 1, permitsLoneSurrogates: true))
            XCTAssertNil(try tolerant.representableText(), text)
            try tolerant.finish()
        }
        var broken = JSONReader(
            Array(#""\ud83e\u12g4""#.utf8), limits: JSONLimits(depth: 1, permitsLoneSurrogates: true))
        XCTAssertThrowsError(try broken.string()) { XCTAssertEqual(($0 as? JSONSyntaxError)?.offset, 11) }
    }

    func testAControlCharacterIsAnErrorUnlessItIsPermitted() {
        var strict = JSONReader([0x22, 0x61, 0x01, 0x22], limits: JSONLimits(depth: 1))
        XCTAssertThrowsError(try strict.string()) {
            XCTAssertEqual($0 as? JSONSyntaxError, JSONSyntaxError(.control, at: 2))
        }
    }

    func testTheValuesAreCounted() throws {
        let limits = JSONLimits(depth: 4, values: 6)
        var few = JSONReader(Array("[[], {\"a\": 1}, 2]".utf8), limits: limits)
        try few.skipValue()
        var many = JSONReader(Array("[[], {\"a\": 1}, 2, 3]".utf8), limits: limits)
        XCTAssertThrowsError(try many.skipValue()) {
            XCTAssertEqual($0 as? JSONSyntaxError, JSONSyntaxError(.values(6), at: 18))
        }
    }
}
