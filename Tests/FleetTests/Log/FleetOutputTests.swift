import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import XCTest

/// The outputs of a worker on a real broker that requires a password.
final class FleetOutputTests: XCTestCase {
    func testAWorkerPublishesItsOutputsOnABrokerWithAPassword() async throws {
        let folder = try temporaryFolder()
        let passwords = try FleetProcess(
            ["-c", "-b", folder + "/passwords", "fleet", "swordfish"], program: "/usr/bin/mosquitto_passwd")
        try await passwords.end()
        // The broker reads the file as another user.
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/passwords")
        let listener = "allow_anonymous false\npassword_file \(folder)/passwords"
        let broker = try MosquittoBroker(folder: folder, MosquittoBroker.Configuration(listener: listener))
        defer { broker.kill() }
        let file = folder + "/password"
        try SecretText.write("swordfish\n", to: file)
        let stage = try await FleetStage([try natsServer()], partitions: 1)
        let worker = try stage.work(
            "worker",
            [
                "--outputs", "mqtt://fleet@127.0.0.1:\(broker.port)", "--broker-password-file", file,
                "--broker-plain-password",
            ])
        try await stage.log.append(FleetStage.readings(tags: 4, at: FleetStage.now))
        // The reader of the log runs on this task only, while the test waits for it.
        nonisolated(unsafe) let logged = broker
        try await Bounded.wait(for: "the outputs of a tag") {
            while !logged.log.contains("'indoorloc/v1/tags/tag-1/presence'") { try Task.checkCancellation() }
        }
        XCTAssertTrue(broker.log.contains("u'fleet'"), broker.log)
        worker.send(SIGTERM)
        let status = try await worker.end()
        XCTAssertEqual(status, 0, worker.lines.joined(separator: "\n"))
    }

    func testTheOptionsOfTheBrokerAreChecked() throws {
        for (arguments, message) in [
            (["--outputs", "mqtt://fleet@localhost", "--broker-password-file", "/dev/null"], "no password"),
            (["--outputs", "mqtt://localhost", "--broker-ca", "ca.pem"], "--broker-ca requires an address"),
            (["--outputs", "mqtt://localhost", "--broker-password-file", "a"], "requires a user"),
        ] {
            let words = ["work", "--nats", "nats://localhost", "--venue", try FleetStage.venue()] + arguments
            let result = try FleetProgram(words, folder: try temporaryFolder()).end()
            XCTAssertNotEqual(result.status, 0, "\(arguments)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }
}
