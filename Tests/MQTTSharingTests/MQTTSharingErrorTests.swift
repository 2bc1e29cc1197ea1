import IndoorLocalization
import MQTTSharing
import XCTest

final class MQTTSharingErrorTests: XCTestCase {
    private func cart() throws -> MQTTPositionSharing {
        try MQTTPositionSharing(MQTTBroker(host: "127.0.0.1"), device: DeviceID("cart"))
    }

    /// The test compiles only if each function throws `MQTTSharingError`.
    func testSharingThrowsErrorsOfOneType() async throws {
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
            XCTFail("sent without a connection")
        } catch { XCTAssertEqual(error, .badPosition(.outOfRange(field: "x", value: .infinity))) }
    }

    /// Each description contains the problem, the place and the remedy.
    func testEachErrorSaysWhereAndWhatToDo() throws {
        let errors: [(error: MQTTSharingError, parts: [String])] = [
            (
                .noAnswer(host: "h", port: 1884, to: "to the subscription"),
                ["h:1884", "to the subscription", "check host"]
            ),
            (
                .refused(host: "h", reason: "identifier rejected"),
                ["at h", "identifier rejected", "see the broker's log"]
            ),
            (
                .connectionLost(host: "h", reason: "the broker closed the connection"),
                ["at h", "closed the", "check that"]
            ),
            (.textTooLong(bytes: 5000, longest: 4096), ["5000", "send at most 4096"]),
            (.tagTooLong(bytes: 300, longest: 256), ["300", "give one of at most 256"]),
            (.badPosition(.outOfRange(field: "radius", value: -1)), ["radius is -1.0", "give metres from 0 on"]),
            (.badRoom(.empty), ["must not be empty", "it needs 1 to 64"]),
            (.badRoom(.forbidden("$", name: "$SYS")), ["\"$SYS\"", "begin it with another character"]),
            (.roomFull("cell", capacity: 2), ["'cell'", "2 devices", "raise 'roomCapacity'"]),
            (.serverFull(capacity: 1), ["1 device:", "raise 'serverCapacity'"]),
            (
                .library(function: "mosquitto_publish", reason: "Invalid"),
                ["mosquitto_publish", "Invalid", "check that"]
            ),
        ]
        for (error, parts) in errors {
            for part in parts { XCTAssertTrue("\(error)".contains(part), "\(error), without \(part)") }
        }
    }
}
