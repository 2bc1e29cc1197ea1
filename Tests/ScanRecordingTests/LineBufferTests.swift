import IndoorLocalization
import ScanRecording
import XCTest

final class LineBufferTests: XCTestCase {
    /// Returns the lines of a stream that arrives in these chunks; nil represents a line that was too long.
    private func lines(_ chunks: [[UInt8]]) -> [String?] {
        var buffer = LineBuffer()
        var chunks = chunks.filter { !$0.isEmpty }[...]
        var lines: [String?] = []
        while true {
            switch buffer.next() {
            case .line(let range): lines.append(String(decoding: buffer.bytes[range], as: UTF8.self))
            case .tooLong: lines.append(nil)
            case .needsMore: buffer.fill { bytes in bytes += chunks.popFirst() ?? [] }
            case .end: return lines
            }
        }
    }

    func testTheSizeOfTheChunksDoesNotChangeTheLines() {
        let seed: UInt64 = 8
        var generator = SeededGenerator(seed: seed)
        let bytes = Array("first\n\nthird é\r\nlast".utf8)
        let expected = ["first", "", "third é\r", "last"]
        XCTAssertEqual(lines([bytes]), expected, "whole")
        XCTAssertEqual(lines(bytes.map { [$0] }), expected, "byte by byte")
        for cut in bytes.indices {
            XCTAssertEqual(lines([Array(bytes[..<cut]), Array(bytes[cut...])]), expected, "cut at \(cut)")
        }
        for _ in 0..<100 {
            let cuts = (0..<3).map { _ in Int.random(in: bytes.indices, using: &generator) }.sorted()
            let chunks = [bytes[..<cuts[0]], bytes[cuts[0]..<cuts[1]], bytes[cuts[1]..<cuts[2]], bytes[cuts[2]...]]
            XCTAssertEqual(lines(chunks.map(Array.init)), expected, "cut at \(cuts), seed \(seed)")
        }
    }

    func testAByteOrderMarkIsSkippedOnceAtTheBeginning() {
        for text in ["first\nsecond", "first\n", "first", "", "\nsecond"] {
            let marked = Array("\u{FEFF}\(text)".utf8)
            let expected = text.isEmpty ? [""] : lines([Array(text.utf8)])
            XCTAssertEqual(lines([marked]), expected, text)
            XCTAssertEqual(lines(marked.map { [$0] }), expected, text)
        }
        XCTAssertEqual(lines([Array("a\n\u{FEFF}b".utf8)]), ["a", "\u{FEFF}b"])
        let longest = String(repeating: "a", count: LineBuffer.maximumLineLength)
        XCTAssertEqual(lines([Array("\u{FEFF}\(longest)\nb".utf8)]), [longest, "b"])
    }

    func testAFinalNewlineDoesNotBeginALine() {
        XCTAssertEqual(lines([Array("a\n".utf8)]), ["a"])
        XCTAssertEqual(lines([]), [])
        XCTAssertEqual(lines([Array("\n".utf8)]), [""])
    }

    func testALineBeyondTheLimitIsSkippedAndNotStored() {
        let limit = LineBuffer.maximumLineLength
        let long = [UInt8](repeating: 0x61, count: limit + 1) + [0x0A]
        let longest = [UInt8](repeating: 0x62, count: limit) + [0x0A]
        let bytes = Array("x\n".utf8) + long + longest + Array("y\n".utf8)
        for size in [1 << 16, bytes.count] {
            let chunks = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            let found = lines(chunks)
            XCTAssertEqual(found.map { $0?.utf8.count }, [1, nil, limit, 1], "chunks of \(size)")
        }
    }

    /// A strict reader stops at the limit and doesn't have to read gigabytes first.
    func testAnEndlessLineIsReportedAtTheLimitAndUsesAFewChunksOfMemory() {
        var buffer = LineBuffer()
        let chunk = [UInt8](repeating: 0x61, count: 1 << 16)
        var reportedAfter: [Int] = []
        for count in 0..<200 {
            var piece = buffer.next()
            if piece == .tooLong {
                reportedAfter.append(count * chunk.count)
                piece = buffer.next()
            }
            XCTAssertEqual(piece, .needsMore)
            buffer.fill { bytes in bytes += chunk }
            XCTAssertLessThanOrEqual(buffer.bytes.count, LineBuffer.maximumLineLength + 2 * chunk.count)
        }
        XCTAssertEqual(reportedAfter, [LineBuffer.maximumLineLength + chunk.count])
        buffer.fill { _ in }
        XCTAssertEqual(buffer.next(), .end)
    }
}
