import Foundation
import TextFormats
import XCTest

final class TextTests: XCTestCase {
    // MARK: - Base64

    func testBase64DecodesAsFoundationEncodes() {
        for count in 0..<50 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 200) }
            let text = Data(bytes).base64EncodedString()
            for text in [text, text.replacing("=", with: "")] {
                var decoded: [UInt8] = []
                XCTAssertTrue(Base64Text.append(Array(text.utf8).span, to: &decoded), text)
                XCTAssertEqual(decoded, bytes)
            }
        }
    }

    func testInvalidBase64IsRejected() {
        for text in ["A", "AAAAA", "AB==C", "A===", "AA=", "AAA*", "AB", "AAB=", "====", " AAA"] {
            var decoded: [UInt8] = []
            XCTAssertFalse(Base64Text.append(Array(text.utf8).span, to: &decoded), text)
        }
    }

    // MARK: - Words of a command line

    func testAWordOfACommandLineIsOneArgumentOfTheShell() throws {
        for word in [
            "a/b-c_1.jsonl", "mqtt://host:1883", "my walk.csv", "it's", "$HOME", "a*b", "", "~", "a\nb", "grün",
        ] {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "printf '<%s>' \(ShellWord.quoted(word))"]
            process.standardOutput = output
            try process.run()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            XCTAssertEqual(String(decoding: text, as: UTF8.self), "<\(word)>")
        }
        XCTAssertEqual(ShellWord.quoted("plans/a.png"), "plans/a.png")
    }

    // MARK: - Hexadecimal digits

    func testPairsOfDigitsReadBackAsTheyAreWritten() {
        let bytes = [UInt8](0...255)
        for isUpper in [true, false] {
            let text = HexDigits.text(of: bytes, uppercase: isUpper)
            XCTAssertEqual(text, isUpper ? text.uppercased() : text.lowercased())
            var read: [UInt8] = []
            XCTAssertTrue(HexDigits.append(Array(text.utf8).span, to: &read))
            XCTAssertEqual(read, bytes)
        }
        for text in ["a", "0g", "0 ", "+1", "-1"] {
            var read: [UInt8] = []
            XCTAssertFalse(HexDigits.append(Array(text.utf8).span, to: &read), text)
        }
    }

    func testANumberHasOneToSixteenDigits() {
        for (text, number) in [("0", 0), ("fF", 255), ("ffffffffffffffff", .max)] as [(String, UInt64)] {
            XCTAssertEqual(HexDigits.number(Array(text.utf8).span), number, text)
        }
        for text in ["", "g", "00000000000000000", "0x1", "+1"] {
            XCTAssertNil(HexDigits.number(Array(text.utf8).span), text)
        }
    }

    func testAnEscapedTextReadsBackEqual() {
        let text = "a/b %é~"
        let escaped = EscapedText.escaped(text, mark: UInt8(ascii: "%"), plain: "~")
        XCTAssertEqual(escaped, "a%2Fb%20%25%C3%A9~")
        XCTAssertEqual(EscapedText.unescaped(escaped.utf8, mark: UInt8(ascii: "%")), Array(text.utf8))
        for text in ["%", "%2", "%2g", "a%"] {
            XCTAssertNil(EscapedText.unescaped(text.utf8, mark: UInt8(ascii: "%")), text)
        }
    }

    // MARK: - Comma-separated values

    func testARecordMayHaveLineBreaksInQuotesAndStatesItsLine() throws {
        var reader = CSVReader(Array("\u{FEFF}a,\"b\nc\",d\r\n\n\"e\"\"\",,\n".utf8))
        var records: [(Int, [String])] = []
        while let record = try reader.next() { records.append((record.line, record.fields)) }
        XCTAssertEqual(records.map(\.0), [1, 4])
        XCTAssertEqual(records.map(\.1), [["a", "b\nc", "d"], ["e\"", "", ""]])
    }

    func testALineIsSplitAtItsSeparatorOutsideQuotes() {
        XCTAssertEqual(
            CSVText.fields(Array(#" a ; "b;""c" ;é;"#.utf8), separator: UInt8(ascii: ";")), ["a", #"b;"c"#, "é", ""])
        XCTAssertNil(CSVText.fields(Array(#"a,"b"#.utf8), separator: UInt8(ascii: ",")))
    }

    func testAWrittenFieldReadsBackEqual() throws {
        for text in ["", "a", "a,b", "\"", "a\u{301}\"\u{301},", " x "] {
            let field = CSVText.field(text.unicodeScalars)
            var reader = CSVReader(Array("1,\(field)\n".utf8))
            XCTAssertEqual(try reader.next()?.fields, ["1", text])
        }
    }

    // MARK: - Strings of JSON

    func testAStyleDecidesTheEscapesOfControlCharacters() {
        func escaped(_ style: JSONEscapes.Style) -> String {
            var bytes: [UInt8] = []
            JSONEscapes.append("\u{8}\t\n\u{C}\r\u{1F}\"\\/\u{7F}é", to: &bytes, style: style)
            return String(decoding: bytes, as: UTF8.self)
        }
        let end = #"\"\\/"# + "\u{7F}é\""
        XCTAssertEqual(escaped(.digits), #""\u0008\u0009\u000A\u000C\u000D\u001F"# + end)
        XCTAssertEqual(escaped(.lines), #""\u0008\t\n\u000c\r\u001f"# + end)
        XCTAssertEqual(escaped(.letters), #""\b\t\n\f\r\u001f"# + end)
    }
}
