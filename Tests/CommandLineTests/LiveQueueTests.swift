import XCTest

@testable import indoorloc

/// Queues for a slow reader are bounded, and lost items are counted.
final class LiveQueueTests: XCTestCase {
    func testAFullQueueLosesWholeLines() {
        var queue = LineQueue()
        let line = String(repeating: "x", count: 1023)
        for _ in 0..<2000 { queue.append(line) }
        XCTAssertLessThanOrEqual(queue.count, LineQueue.room)
        XCTAssertEqual(queue.lines + queue.lost, 2000)
        XCTAssertGreaterThan(queue.lines, 1000)
        XCTAssertEqual(queue.count % 1024, 0, "a line was torn")
        let lost = queue.lost
        XCTAssertEqual(queue.drainLosses(), lost)
        XCTAssertEqual(queue.drainLosses(), 0)
        queue.consume(1024 * 10)
        queue.append(line)
        XCTAssertEqual(queue.lost, 0, "the queue has room again")
    }

    func testTheQueueReturnsBytesInOrder() {
        var queue = LineQueue()
        var given: [UInt8] = []
        for index in 0..<50_000 {
            queue.append("line \(index)")
            let piece = queue.next(index % 31)
            given += piece
            queue.consume(piece.count)
        }
        while !queue.isEmpty {
            let piece = queue.next(4096)
            given += piece
            queue.consume(piece.count)
        }
        let lines = String(decoding: given, as: UTF8.self).split(separator: "\n")
        XCTAssertEqual(lines.count + queue.lost, 50_000)
        XCTAssertEqual(lines.first, "line 0")
        XCTAssertEqual(lines.map { Int($0.dropFirst(5)) ?? -1 }, lines.map { Int($0.dropFirst(5)) ?? -1 }.sorted())
    }

    func testDroppedLinesCountAsLost() {
        var queue = LineQueue()
        for _ in 0..<3 { queue.append("abc") }
        queue.consume(5)
        queue.drop()
        XCTAssertEqual(queue.drainLosses(), 2, "the line that was begun, and the last one")
        XCTAssertTrue(queue.isEmpty)
    }

    func testElementsAreBoundedAndTheEndIsNeverLost() async {
        let mailbox = LiveMailbox<Int>()
        let room = LiveMailbox<Int>.room
        for index in 0..<room + 100 {
            mailbox.put(.element(index))
            mailbox.put(.tick)
        }
        mailbox.put(.interrupted)
        XCTAssertEqual(mailbox.lost, 100)
        var elements: [Int] = []
        var ticks = 0
        loop: for await occurrence in mailbox {
            switch occurrence {
            case .element(let element): elements.append(element)
            case .tick: ticks += 1
            case .ended, .limitReached: XCTFail("unexpected occurrence")
            case .interrupted: break loop
            }
        }
        XCTAssertEqual(elements, Array(0..<room))
        XCTAssertEqual(ticks, 1)
        mailbox.put(.element(7))
        var rest = mailbox.makeAsyncIterator()
        let next = await rest.next()
        guard case .element(7) = next else {
            return XCTFail("the queue has room again, but gives \(String(describing: next))")
        }
    }
}
