import NMEASending
import XCTest

/// The bytes that wait for one reader.
final class CycleQueueTests: XCTestCase {
    func testAFullQueueLosesTheOldestWholeCycleAndKeepsTheOneThatIsPartlyWritten() {
        var queue = CycleQueue()
        queue.append([100, 101, 102])
        XCTAssertEqual(Array(queue.next()), [100, 101, 102])
        queue.consume(1)
        for number in 0..<UInt8(CycleQueue.capacity + 2) { queue.append([number]) }
        XCTAssertEqual(queue.lost, 2)
        XCTAssertEqual(Array(queue.next()), [101, 102])
        queue.consume(2)
        var left: [UInt8] = []
        while !queue.isEmpty {
            left += queue.next()
            queue.consume(1)
        }
        XCTAssertEqual(left, Array(2..<UInt8(CycleQueue.capacity + 2)))
        XCTAssertEqual(queue.drainLosses(), 2)
        XCTAssertEqual(queue.lost, 0)
    }

    func testAnotherReaderDoesNotReceiveTheRestOfACycle() {
        var queue = CycleQueue()
        queue.append([1, 2])
        queue.append([3])
        _ = queue.next()
        queue.consume(1)
        queue.dropRest()
        queue.dropRest()
        XCTAssertEqual(queue.lost, 1)
        XCTAssertEqual(Array(queue.next()), [3])
    }
}
