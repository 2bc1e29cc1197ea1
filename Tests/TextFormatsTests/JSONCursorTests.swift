import IndoorVocabulary
import TextFormats
import XCTest

final class JSONCursorTests: XCTestCase {
    private static let limits = JSONLimits(depth: 65)

    /// Returns the name of each member, and the kind and text of its value.
    private func members(_ text: String) throws(JSONSyntaxError) -> [String] { try members(Array(text.utf8)) }

    private func members(_ bytes: [UInt8]) throws(JSONSyntaxError) -> [String] {
        var cursor = JSONCursor(limits: Self.limits)
        var members: [String] = []
        try cursor.enterObject(bytes.span)
        while let name = try cursor.nextKey(bytes.span) {
            let value = try cursor.skipValue(bytes.span)
            members.append(
                "\(text(name.range, bytes)) \(value.kind) \(String(decoding: bytes[value.range], as: UTF8.self))")
        }
        try cursor.finishText(bytes.span)
        return members
    }

    private func text(_ range: Range<Int>, _ bytes: [UInt8]) -> String {
        String(decoding: JSONEscapes.removed(from: bytes.span.extracting(range)), as: UTF8.self)
    }

    func testTheCursorReturnsMembersInOrderWithTheirKinds() throws {
        XCTAssertEqual(
            try members(
                #" { "a" : 1.5e+3 , "b":"x\ny","c":[1,[2],{"d":{}}],"e":{"f":[]},"g":true,"h":false,"i":null} "#),
            [
                "a number 1.5e+3", #"b string x\ny"#, #"c array [1,[2],{"d":{}}]"#, #"e object {"f":[]}"#,
                "g bool true",
                "h bool false", "i null null",
            ])
        XCTAssertEqual(try members("{}"), [])
    }

    func testTheCursorAcceptsExactlyTheNumbersOfTheGrammar() throws {
        for number in ["0", "-0", "10", "0.5", "-1.25", "1e5", "1E+5", "1.5e-5", "123456789012345678901234567890"] {
            XCTAssertEqual(try members("{\"n\":\(number)}"), ["n number \(number)"])
        }
        for number in ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", "1_000", "--1", "1.2.3"]
        {
            XCTAssertThrowsError(try members("{\"n\":\(number)}"), number)
        }
    }

    func testAnErrorReportsTheOffsetOfTheByte() {
        for (line, offset) in [
            ("", 0), ("[]", 0), ("{", 1), ("{,}", 1), ("{\"a\"}", 4), ("{\"a\":}", 5), ("{\"a\":1,}", 7),
            ("{\"a\":1 \"b\":2}", 7),
            ("{\"a\":1}x", 7), ("{\"a\":1}{}", 7), ("{\"a\":tru}", 8), ("{\"a\":[1,]}", 8), ("{\"a\":[1 2]}", 8),
            ("{\"a\":[}", 6), ("{\"a\":{\"b\"}}", 9), ("{\"a\":{\"b\":1,}}", 12), ("{\"a\":[1}", 7), ("{a:1}", 1),
            ("{\"a\":\"\u{1}\"}", 6), ("{\"a\":\"\\x\"}", 7), ("{\"a\":\"b", 7), ("{\"a\":'b'}", 5),
            ("{\"\\u12G4\":1}", 6),
        ] {
            do throws(JSONSyntaxError) {
                XCTFail("\(line): \(try members(line))")
            } catch {
                XCTAssertEqual(error.byte, offset, "\(line): \(error.expected)")
            }
        }
    }

    func testEscapesAndSurrogatePairsAreDecoded() throws {
        let bytes = Array(#"{"\u0074":"\"\\\/\b\f\n\r\t\u00e9\uD83E\uDDED\u0000"}"#.utf8)
        var cursor = JSONCursor(limits: Self.limits)
        try cursor.enterObject(bytes.span)
        let name = try XCTUnwrap(try cursor.nextKey(bytes.span))
        XCTAssertEqual(text(name.range, bytes), "t")
        XCTAssertEqual(text(try cursor.skipValue(bytes.span).range, bytes), "\"\\/\u{8}\u{C}\n\r\té🧭\0")
        XCTAssertNil(try cursor.nextKey(bytes.span))
    }

    func testLoneSurrogatesAreErrors() {
        for text in [#"\uD83E"#, #"\uDDED"#, #"\uD83Ex"#, #"\uD83E\n"#, #"\uD83E\u0041"#, #"\uD83E\uD83E"#] {
            XCTAssertThrowsError(try members("{\"a\":\"\(text)\"}"), text)
        }
    }

    func testInvalidUTF8IsAnErrorAtItsByte() {
        for bytes in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]] {
            do throws(JSONSyntaxError) {
                XCTFail("\(try members(Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)))")
            } catch {
                XCTAssertEqual(error.offset, 6, "\(bytes)")
            }
        }
    }

    func testDeepNestingIsAnErrorAndDoesNotUseTheStack() throws {
        let depth = Self.limits.depth - 1
        let opening = { (count: Int) in String(repeating: "[", count: count) }
        let closing = { (count: Int) in String(repeating: "]", count: count) }
        XCTAssertEqual(try members("{\"a\":\(opening(depth))\(closing(depth))}").count, 1)
        XCTAssertThrowsError(try members("{\"a\":\(opening(depth + 1))\(closing(depth + 1))}"))
        XCTAssertThrowsError(try members("{\"a\":" + opening(1_000_000)))
    }

    func testNoPrefixOfAnObjectIsAnObject() {
        let whole = Array(#"{"a":[1,{"b":"\uD83E\uDDED é"}],"c":-1.5e-7,"d":null}"#.utf8)
        for count in whole.indices {
            XCTAssertThrowsError(try members(Array(whole.prefix(count))), "first \(count) bytes")
        }
        XCTAssertNoThrow(try members(whole))
    }

    func testRandomBytesAndMutatedObjectsNeverTrap() {
        let seed: UInt64 = 77
        var generator = SeededGenerator(seed: seed)
        let whole = Array(#"{"t":0.5,"type":"motion","acceleration":[0.1,-2,3e1],"x":{"y":["\u00e9",null,true]}}"#.utf8)
        let alphabet = Array("{}[]\",:\\u0123456789eE+-.tfn \u{1}é".utf8)
        var accepted = 0
        for _ in 0..<30_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                switch generator.next() % 3 {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes[index] = alphabet.randomElement(using: &generator) ?? 0
                default: bytes.remove(at: index)
                }
            }
            if (try? members(bytes)) != nil { accepted += 1 }
        }
        XCTAssertTrue((1000...29_000).contains(accepted), "\(accepted) of 30000 accepted; seed \(seed)")
    }
}
