import IndoorLocalization
import XCTest

final class PluginHandshakeTests: XCTestCase {
    private let first = PluginID(rawValue: 1)
    private let second = PluginID(rawValue: 2)
    private let third = PluginID(rawValue: 3)

    func testTwoPluginsKnowEachOtherOnceTheSecondIsAdded() throws {
        var early = PluginHandshake(tag: "maps", own: first)
        var late = PluginHandshake(tag: "maps", own: second)
        let greeting = late.greeting
        XCTAssertEqual(greeting.operation, .initialize)
        XCTAssertEqual(greeting.operation.rawValue, 0)
        let answer = try XCTUnwrap(early.handle(greeting))
        XCTAssertEqual(answer.operation.rawValue, -1)
        XCTAssertEqual(answer.value(as: PluginID.self), second, "the newcomer's number")
        XCTAssertNil(late.handle(answer))
        XCTAssertEqual(early.peers, [second])
        XCTAssertEqual(late.peers, [first])
        let farewell = late.farewell
        XCTAssertEqual(farewell.operation.rawValue, -2)
        XCTAssertNil(early.handle(farewell))
        XCTAssertEqual(early.peers, [])
    }

    func testAnAnswerToAnotherPluginIsIgnored() throws {
        var early = PluginHandshake(tag: "maps", own: first)
        var bystander = PluginHandshake(tag: "maps", own: third)
        let answer = try XCTUnwrap(early.handle(PluginHandshake(tag: "maps", own: second).greeting))
        XCTAssertNil(bystander.handle(answer))
        XCTAssertEqual(bystander.peers, [])
    }

    func testOtherDataIsNoHandshake() {
        var handshake = PluginHandshake(tag: "maps", own: first)
        XCTAssertNil(handshake.handle(handshake.greeting), "its own")
        XCTAssertNil(handshake.handle(PluginHandshake(tag: "routes", own: second).greeting), "another tag")
        XCTAssertNil(handshake.handle(PluginData(tag: "maps", operation: .initialize)), "nobody's")
        XCTAssertNil(handshake.handle(PluginData(tag: "maps", operation: 1, sender: second)), "data")
        XCTAssertNil(
            handshake.handle(PluginData(tag: "maps", operation: .acknowledge, sender: second, payload: "one")))
        XCTAssertEqual(handshake.peers, [])
    }
}
