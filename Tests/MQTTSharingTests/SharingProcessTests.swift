import Foundation
import IndoorLocalization
import LoopbackServers
import MQTTSharing
import XCTest

/// Processes that share through a real broker and end in different ways.
final class SharingProcessTests: XCTestCase {
    func testTwoProcessesSeeEachOther() throws {
        let broker = try broker()
        let cart = try DeviceProcess("cart", in: "hall", broker)
        _ = try cart.line("joined hall")
        let fork = try DeviceProcess("fork", in: "hall", broker)
        _ = try fork.line("joined hall")
        try cart.share(x: 1.5)
        XCTAssertEqual(try fork.line("position "), "cart 1.5")
        try fork.share(x: 2.5)
        XCTAssertEqual(try cart.line("position "), "fork 2.5")
        XCTAssertEqual(try fork.end(), 0)
        XCTAssertEqual(try cart.end(), 0)
    }

    func testTheLastWillRemovesAKilledProcessFromTheRoom() async throws {
        let broker = try broker()
        let (_, hears) = try await device("guard", in: "hall", broker)
        let cart = try DeviceProcess("cart", in: "hall", broker)
        _ = try cart.line("joined hall")
        try await hears.hears(.occupancy(room: "hall", devices: 2))
        cart.kill()
        try await hears.hears(.occupancy(room: "hall", devices: 1))
        // The broker retains no message of the process.
        let reader = try await PlainClient(port: broker.port, filter: "indoorloc/v1/devices/#")
        reader.publish("indoorloc/v1/devices/end", "")
        let first = try await reader.message("indoorloc/v1/devices/guard/presence")
        XCTAssertTrue(first.isRetained)
        reader.publish("indoorloc/v1/devices/cart/presence", "")
        let next = try await reader.message("indoorloc/v1/devices/cart/presence")
        XCTAssertFalse(next.isRetained, "the first message is the one published now")
        reader.close()
    }

    func testAProcessIsPresentAgainAfterAKillAndARestart() async throws {
        let broker = try broker()
        let (_, hears) = try await device("guard", in: "hall", broker)
        for _ in 0..<2 {
            let cart = try DeviceProcess("cart", in: "hall", broker)
            _ = try cart.line("joined hall")
            try await hears.hears(.occupancy(room: "hall", devices: 2))
            cart.kill()
            try await hears.hears(.occupancy(room: "hall", devices: 1))
        }
    }
}
