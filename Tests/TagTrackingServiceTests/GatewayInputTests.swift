import TagTracking
import TagTrackingService
import XCTest

/// The queue of messages and the topic filters.
final class GatewayInputTests: XCTestCase {
    private func message(_ payload: [UInt8]) -> GatewayMessage {
        GatewayMessage(topic: "", payload: payload, arrival: .zero)
    }

    func testMessagesThatDoNotFitAreCounted() {
        let queue = MessageQueue(capacity: 260)
        for payload: [UInt8] in [[1, 1], [2, 2, 2], [3]] { queue.append(message(payload)) }
        let first = queue.drain()
        XCTAssertEqual(first.messages.map(\.payload), [[1, 1], [3]])
        XCTAssertEqual(first.lost, 1)
        queue.append(message([4, 4, 4, 4]))
        let second = queue.drain()
        XCTAssertEqual(second.messages.map(\.payload), [[4, 4, 4, 4]])
        XCTAssertEqual(second.lost, 0)
    }

    func testAnOfferedMessageThatDoesNotFitIsRefusedAndNotLost() {
        let queue = MessageQueue(capacity: 130)
        XCTAssertTrue(queue.offer(message([1, 1])))
        XCTAssertFalse(queue.offer(message([2])))
        XCTAssertEqual(queue.drain().lost, 0)
        XCTAssertTrue(queue.offer(message([2])))
    }

    func testAFilterMayNameItsFormat() throws {
        XCTAssertEqual(try GatewayFilter(text: "minew/office=minewLong"), GatewayFilter("minew/office", .minewLong))
        XCTAssertEqual(try GatewayFilter(text: "home/+/#"), GatewayFilter("home/+/#"))
    }

    func testAnInvalidFilterIsReportedWithItsRemedy() {
        for (text, reason) in [
            ("", "1 to 65,535 bytes"), ("a/b#", "must be whole levels"), ("#/a", "must be the last level"),
            ("a/+b", "must be whole levels"), ("a=wifi", "give one of espresense, "), ("a=", "format '' is unknown"),
        ] {
            XCTAssertThrowsError(try GatewayFilter(text: text), text) { error in
                XCTAssertTrue("\(error)".contains(reason), "\(text): \(error)")
            }
        }
    }
}
