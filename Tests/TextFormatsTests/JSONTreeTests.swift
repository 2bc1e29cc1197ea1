import Foundation
import TextFormats
import XCTest

final class JSONTreeTests: XCTestCase {
    private static let limits = JSONLimits(depth: 64, values: 2_000_000, permitsLoneSurrogates: true)

    private func tree(_ text: String, limits: JSONLimits = JSONTreeTests.limits) throws -> JSONTree {
        try JSONTree(Array(text.utf8), limits: limits)
    }

    private func message(_ text: String, limits: JSONLimits = JSONTreeTests.limits) -> String? {
        do {
            _ = try tree(text, limits: limits)
            return nil
        } catch {
            return (error as? JSONDocumentError)?.message
        }
    }

    func testEveryKindOfValueIsRead() throws {
        let text = """
            \u{FEFF}{"a": [0, -0.5, 12.25e-1, 123456789012345678901234567890, true, false, null, ""],
             "\\u00e4\\n\\ud83d\\ude00": "\\"\\\\\\/\\b\\f\\t\\r ü😀", "b": {}, "c": []}
            """
        guard case .object(let fields) = try tree(text) else { return XCTFail("no object") }
        XCTAssertEqual(
            fields["a"],
            .array([
                .number(0), .number(-0.5), .number(1.225), .number(1.2345678901234568e29), .bool(true),
                .bool(false), .null, .string(""),
            ]))
        XCTAssertEqual(fields["ä\n😀"], .string("\"\\/\u{8}\u{C}\t\r ü😀"))
        XCTAssertEqual(fields["b"], .object([:]))
        XCTAssertEqual(fields["c"], .array([]))
    }

    func testADecimalNumberIsTheNearestDouble() throws {
        for text in ["0.1", "13.37", "-52.520008", "999999999999999", "0.000001", "1e22", "123456.789012345", "5e-324"]
        {
            XCTAssertEqual(try tree(text), .number(Double(text) ?? .nan), text)
        }
    }

    func testAValueThatCannotBeRepresentedIsUnreadableAndNotASyntaxError() throws {
        for text in ["1e999", "\"\\ud800\"", "\"\\udc00 \\ud800\""] {
            XCTAssertEqual(try tree(text), .unreadable, text)
        }
    }

    func testTheFirstValueOfADuplicateKeyIsUsed() throws {
        XCTAssertEqual(try tree(#"{"a": 1, "a": 2}"#), .object(["a": .number(1)]))
    }

    func testTextThatIsNearlyJSONIsReportedWithItsPosition() {
        let cases = [
            ("[1,]", "line 1, column 4"), ("{\"a\": 1,}", "line 1, column 9"), ("[01]", "line 1, column 3"),
            ("['a']", "line 1, column 2"), ("\"\\u12\"", "line 1, column 6"), ("[1]\n]", "line 2, column 1"),
            ("{\"\\ud800\": 1}", "line 1, column 2"), ("[.5]", "line 1, column 2"), ("[1e]", "line 1, column 4"),
        ]
        for (text, place) in cases {
            XCTAssertEqual(message(text), "is not JSON at \(place); correct it there", text)
        }
    }

    func testTheDepthIsLimited() {
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        XCTAssertNil(message(deepest))
        XCTAssertEqual(
            message("[" + deepest + "]"), "is nested deeper than 64 levels at line 1, column 65; correct it there")
        XCTAssertEqual(
            message(String(repeating: "{\"a\":", count: 100_000)),
            "is nested deeper than 64 levels at line 1, column 321; correct it there")
    }

    /// Two arrays, one object, its key and its value, and a number.
    func testTheNumberOfValuesIsLimited() {
        var limits = Self.limits
        limits.values = 6
        XCTAssertNil(message("[[], {\"a\": 1}, 2]", limits: limits))
        XCTAssertEqual(
            message("[[], {\"a\": 1},\n2, 3]", limits: limits),
            "has more than 6 values and keys, the next at line 2, column 4; correct it there")
    }

    // MARK: - Writing

    private let written = JSONTree.object([
        "a/b": .string("\u{1}\u{8}\t\n\"\\/\u{7F}\u{2028}é😀"), "B": .array([]), "a10": .object([:]), "a9": .null,
        "ä": .array([
            .bool(true), .number(-0.0), .number(1), .number(1e16), .number(0.1), .number(.leastNonzeroMagnitude),
        ]),
        "": .object(["x": .array([.array([.string("")]), .object(["y": .number(-12.5)])])]),
    ])

    func testATreeIsWrittenAsFoundationWritesIt() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        XCTAssertEqual(written.lines(), Array(try encoder.encode(written)) + [10])
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        XCTAssertEqual(written.line(), Array(try encoder.encode(written)))
    }

    func testAWrittenTreeReadsBackEqual() throws {
        for bytes in [written.lines(), written.line()] {
            XCTAssertEqual(try JSONTree(bytes, limits: Self.limits), written)
        }
    }

    func testANumberThatIsNotFiniteIsWrittenAsText() {
        XCTAssertEqual(
            JSONTree.array([.number(.nan), .number(.infinity), .number(-.infinity), .unreadable]).line(),
            Array(#"["NaN","Infinity","-Infinity","Infinity"]"#.utf8))
    }

    // MARK: - Lines of keys

    func testEachValueHasTheLineOfItsKey() {
        let text = "\u{FEFF}{\n\"a\": {\"b\":\n1,\n\"\\u0063\": [{\"d\":\n2}]}, \"e\": {},\n\"a\": 3}"
        let lines = JSONKeyLines(Array(text.utf8), limits: Self.limits, limit: 10)
        XCTAssertEqual(
            lines.leaves,
            [
                JSONKeyLines.Leaf(keys: ["a", "b"], line: 2), JSONKeyLines.Leaf(keys: ["a", "c"], line: 4),
                JSONKeyLines.Leaf(keys: ["a"], line: 6),
            ])
        XCTAssertEqual(JSONKeyLines(Array(text.utf8), limits: Self.limits, limit: 1).leaves.count, 1)
    }
}

/// What Foundation's encoder writes of a tree, to compare it with what the tree writes.
extension JSONTree: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        case .unreadable: try container.encode(Double.infinity)
        }
    }
}
