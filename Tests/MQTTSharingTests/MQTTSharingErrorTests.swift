import IndoorLocalization
import MQTTSharing
import XCTest

final class MQTTSharingErrorTests: XCTestCase {
    private func cart() throws -> MQTTPositionSharing {
        try MQTTPositionSharing(MQTTBroker(host: "127.0.0.1"), device: DeviceID("cart"))
    }

    /// An error of another type would not compile: each case can be told apart without a cast.
    func testWhatSharingThrowsIsOfOneType() async throws {
        let cart = try cart()
        do throws(MQTTSharingError) {
            try await cart.join("hall")
            XCTFail("joined without a connection")
        } catch {
            switch error {
            case .notConnected: break
            default: XCTFail("\(error)")
            }
        }
        do throws(MQTTPositionSharing.Failure) {
            try await cart.share(.at(x: .infinity), level: 1)
            XCTFail("shared nowhere")
        } catch { XCTAssertEqual(error, .badPosition(.outOfRange(field: "x", value: .infinity))) }
    }

    /// What was wrong, where, and what to do.
    func testEachErrorSaysWhereAndWhatToDo() throws {
        let errors: [(error: MQTTSharingError, parts: [String])] = [
            (.noAnswer(host: "h", port: 1884, to: "to subscribe"), ["h:1884", "to subscribe", "see whether"]),
            (
                .refused(host: "h", reason: "identifier rejected"),
                ["at h", "identifier rejected", "see the broker's log"]
            ),
            (.connectionLost(host: "h", reason: "the broker closed it"), ["at h", "closed it", "see whether"]),
            (.textTooLong(bytes: 5000, longest: 4096), ["5000", "send at most 4096"]),
            (.tagTooLong(bytes: 300, longest: 256), ["300", "give one of at most 256"]),
            (.badPosition(.outOfRange(field: "radius", value: -1)), ["radius is -1.0", "give metres from 0 on"]),
            (.badRoom(.empty), ["must not be empty", "give 1 to 64"]),
            (.badRoom(.forbidden("$", name: "$SYS")), ["\"$SYS\"", "begin it otherwise"]),
            (.roomFull("cell", capacity: 2), ["'cell'", "2 devices", "raise 'roomCapacity'"]),
            (.serverFull(capacity: 1), ["1 device:", "raise 'serverCapacity'"]),
            (
                .library(function: "mosquitto_publish", reason: "Invalid"),
                ["mosquitto_publish", "Invalid", "see whether"]
            ),
        ]
        for (error, parts) in errors {
            for part in parts { XCTAssertTrue("\(error)".contains(part), "\(error), without \(part)") }
        }
    }
}
