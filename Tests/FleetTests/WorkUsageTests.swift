import IndoorLocalizationTesting
import XCTest

final class WorkUsageTests: XCTestCase {
    private func work(_ options: String..., environment: [String: String] = [:]) throws -> FleetProgram.Result {
        let arguments = ["work", "--nats", "nats://127.0.0.1:1", "--venue", try FixtureFolder("tags/office").path]
        return try FleetProgram(arguments + options, folder: try temporaryFolder(), environment: environment).end()
    }

    func testWorkRefusesAPasswordFileForABrokerWithoutAUser() throws {
        let result = try work("--outputs", "mqtt://localhost", "--broker-password-file", "password")
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--broker-password-file requires a user"), result.errors)
    }

    func testWorkSendsNoPasswordUnencryptedToAnotherHost() throws {
        let result = try work(
            "--outputs", "mqtt://fleet@192.0.2.1", environment: ["INDOORLOC_MQTT_PASSWORD": "a password"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.errors.contains("--outputs: "), result.errors)
    }
}
