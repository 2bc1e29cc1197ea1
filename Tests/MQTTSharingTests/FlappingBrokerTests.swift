import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import MQTTSharing
import XCTest

/// A real broker that is killed and restarted again and again.
final class FlappingBrokerTests: XCTestCase {
    func testSharingComesBackEachTimeAndNothingArrivesTwice() async throws {
        let broker = try broker()
        let (cart, cartHears) = try await device("cart", in: "hall", broker)
        let (fork, forkHears) = try await device("fork", in: "hall", broker)
        let all = fork.events
        let rounds = 5
        for round in 1...rounds {
            try await cart.send("round \(round)", tag: "flap", to: "hall")
            let message = try await forkHears.hearsMessage()
            XCTAssertEqual(message.text, "round \(round)")
            broker.kill()
            _ = try await cartHears.hearsDisconnection()
            _ = try await forkHears.hearsDisconnection()
            // Only the newest of all positions waits.
            for number in 1...2000 { try await cart.share(.at(x: Double(round * 10_000 + number))) }
            try broker.restart()
            for hears in [cartHears, forkHears] {
                try await hears.hears(.connected)
                try await hears.hears(.joined(room: "hall"))
            }
            _ = try await forkHears.hearsPosition(of: "cart", x: Double(round * 10_000 + 2000))
        }
        try await cart.send("end", tag: "flap", to: "hall")
        let events = try await Bounded.elements(of: all, until: "the last text") {
            if case .message(let message) = $0 { message.text == "end" } else { false }
        }
        let texts = events.compactMap { if case .message(let message) = $0 { message.text } else { nil } }
        XCTAssertEqual(texts, (1...rounds).map { "round \($0)" } + ["end"], "each text once, in order")
        // A device that subscribes while the newest position arrives also gets the retained one, which is the same.
        let positions = events.compactMap { if case .position(let position) = $0 { position.x } else { nil } }
        let changes = positions.enumerated().filter { $0.offset == 0 || positions[$0.offset - 1] != $0.element }
        XCTAssertEqual(
            changes.map(\.element), (1...rounds).map { Double($0 * 10_000 + 2000) },
            "no position of an outage is queued")
    }
}
