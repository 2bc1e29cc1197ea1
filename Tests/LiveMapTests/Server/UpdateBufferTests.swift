import LiveMap
import XCTest

/// The updates that wait for a slow reader.
final class UpdateBufferTests: XCTestCase {
    private func take(_ buffer: inout UpdateBuffer, _ count: Int = 1_000) -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        let taken = bytes.withUnsafeMutableBytes { buffer.take(into: $0) }
        return String(decoding: bytes.prefix(taken), as: UTF8.self)
    }

    private func append(_ text: String, isFrame: Bool, to buffer: inout UpdateBuffer) {
        buffer.append(Array(text.utf8), isFrame: isFrame)
    }

    func testUpdatesKeepTheirOrderInPiecesOfAnySize() {
        for size in 1...12 {
            var buffer = UpdateBuffer(limit: 1_000)
            for text in ["abc", "", "defg", "h"] { append(text, isFrame: true, to: &buffer) }
            var whole = ""
            while !buffer.isEmpty { whole += take(&buffer, size) }
            XCTAssertEqual(whole, "abcdefgh", "pieces of \(size)")
            XCTAssertEqual(take(&buffer, size), "")
        }
    }

    func testASlowReaderLosesTheOldestFramesBeforeEvents() {
        var buffer = UpdateBuffer(limit: 12)
        append("E111", isFrame: false, to: &buffer)
        append("F111", isFrame: true, to: &buffer)
        append("F222", isFrame: true, to: &buffer)
        append("F333", isFrame: true, to: &buffer)
        append("E222", isFrame: false, to: &buffer)
        XCTAssertEqual(buffer.lostFrames, 2)
        XCTAssertEqual(buffer.lostEvents, 0)
        XCTAssertEqual(take(&buffer), "E111F333E222")
    }

    func testEventsAreLostOnlyWithoutFrames() {
        var buffer = UpdateBuffer(limit: 8)
        for text in ["E111", "E222", "F111"] { append(text, isFrame: text.hasPrefix("F"), to: &buffer) }
        // The newest update is kept, so an older event is discarded.
        XCTAssertEqual(buffer.lostEvents, 1)
        XCTAssertEqual(take(&buffer), "E222F111")
    }

    func testTheNewestUpdateIsKeptEvenIfItIsLarge() {
        var buffer = UpdateBuffer(limit: 4)
        append("F1", isFrame: true, to: &buffer)
        append("F2222222", isFrame: true, to: &buffer)
        XCTAssertEqual(take(&buffer), "F2222222")
        XCTAssertTrue(buffer.isEmpty)
    }

    func testAnUpdateThatIsBeingSentIsNotCut() {
        var buffer = UpdateBuffer(limit: 4)
        append("F111", isFrame: true, to: &buffer)
        XCTAssertEqual(take(&buffer, 2), "F1")
        append("F222", isFrame: true, to: &buffer)
        append("F333", isFrame: true, to: &buffer)
        XCTAssertEqual(take(&buffer), "11F333")
    }
}
