import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import LoopbackServers
import NATSLog
import TagTracking
import XCTest

/// The errors of servers that can't serve a fleet, and the security of the connection.
final class NATSErrorTests: XCTestCase {
    private func run(_ words: [String]) async throws -> (status: Int32?, text: String) {
        let process = try FleetProcess(words)
        let status = try await process.end()
        return (status, process.lines.joined(separator: "\n"))
    }

    func testSetupNamesTheServerThatDoesNotAnswer() async throws {
        let url = "nats://127.0.0.1:\(try TestPort.free())"
        let result = try await run(["setup", "--nats", url])
        XCTAssertEqual(result.status, 1)
        XCTAssertEqual(
            result.text,
            "indoorloc-fleet: the log doesn't answer: no NATS server at \(url) accepts a connection; start it, or "
                + "check the URL")
    }

    func testSetupReportsAServerWithoutJetStream() async throws {
        let server = try NATSServer(folder: try temporaryFolder(), hasJetStream: false)
        defer { server.kill() }
        let result = try await run(["setup", "--nats", server.url])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.text.contains("has no JetStream; start it with -js"), result.text)
    }

    func testSetupCreatesThePartsOnceAndRefusesOtherSettings() async throws {
        let server = try natsServer()
        let first = try await run(["setup", "--nats", server.url])
        XCTAssertEqual(
            first.text,
            """
            stream READINGS: ready, 1 replica, keeps 3600 s
            stream POSITIONS: ready, 1 replica, keeps 3600 s
            bucket indoorloc-leases: ready, 1 replica, values expire after 3 s
            bucket indoorloc-state: ready, 1 replica
            bucket indoorloc-receivers: ready, 1 replica, values expire after 60 s
            partitioning: stored, 64 partitions, 16 groups of gateways
            """)
        let again = try await run(["setup", "--nats", server.url])
        XCTAssertEqual(again.status, 0)
        XCTAssertTrue(again.text.hasSuffix("partitioning: exists, 64 partitions, 16 groups of gateways"), again.text)
        let other = try await run(["setup", "--nats", server.url, "--partitions", "8"])
        XCTAssertEqual(other.status, 1)
        XCTAssertTrue(other.text.contains("the fleet has 64 partitions"), other.text)
        let stream = try await run(["setup", "--nats", server.url, "--max-age", "600"])
        XCTAssertEqual(stream.status, 1)
        XCTAssertTrue(stream.text.contains("READINGS exists with other settings"), stream.text)
        let outputs = try await run(["setup", "--nats", server.url, "--output-age", "600"])
        XCTAssertEqual(outputs.status, 1)
        XCTAssertTrue(outputs.text.contains("POSITIONS exists with other settings"), outputs.text)
        let replicas = try await run(["setup", "--nats", server.url, "--replicas", "3"])
        XCTAssertEqual(replicas.status, 1)
        XCTAssertTrue(replicas.text.contains("requires as many servers in a cluster"), replicas.text)
    }

    func testWorkReportsThatSetupIsMissing() async throws {
        let server = try natsServer()
        let result = try await run(["work", "--nats", server.url, "--venue", try FleetStage.venue()])
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.text.contains("run 'indoorloc-fleet setup' first"), result.text)
    }

    func testAURLWithAPasswordIsRefusedWithoutPrintingIt() async throws {
        let result = try await run(["setup", "--nats", "nats://me:secret@127.0.0.1"])
        XCTAssertEqual(result.status, 2)
        XCTAssertTrue(result.text.contains("put user and password into --nats-user-file"), result.text)
        XCTAssertFalse(result.text.contains("secret"), result.text)
    }

    func testTheUserOfAFileConnectsOverTLSAndAnotherOneIsRefused() async throws {
        let folder = try temporaryFolder()
        let authority = try TestAuthority(in: folder)
        let server = try natsServer(
            configuration: """
                tls { cert_file: "\(authority.identity.certificate)", key_file: "\(authority.identity.key)" }
                authorization { users: [
                    { user: "fleet", password: "a-password" }
                    { user: "reader", password: "a-password", permissions: { publish: ["$JS.API.INFO"] } }
                ] }

                """)
        func setup(_ user: String, authority: String?) async throws -> (status: Int32?, text: String) {
            let file = folder + "/user"
            try SecretText.write(user, to: file)
            let url = "tls://127.0.0.1:\(server.port)"
            return try await run(
                ["setup", "--nats", url, "--nats-user-file", file] + (authority.map { ["--nats-ca", $0] } ?? []))
        }
        let accepted = try await setup("fleet:a-password", authority: authority.certificate)
        XCTAssertEqual(accepted.status, 0, accepted.text)
        let refused = try await setup("fleet:another", authority: authority.certificate)
        XCTAssertEqual(refused.status, 1)
        XCTAssertTrue(refused.text.contains("refuses the credentials"), refused.text)
        let untrusted = try await setup("fleet:a-password", authority: nil)
        XCTAssertEqual(untrusted.status, 1)
        XCTAssertTrue(untrusted.text.contains("TLS"), untrusted.text)
        let restricted = try await setup("reader:a-password", authority: authority.certificate)
        XCTAssertEqual(restricted.status, 1)
        XCTAssertTrue(restricted.text.contains("not permitted"), restricted.text)
    }

    func testAServerWithoutATrustedCertificateForItsHostIsRefused() async throws {
        let trusted = try TestAuthority(in: try temporaryFolder())
        let other = try TestAuthority(in: try temporaryFolder())
        for (identity, defect) in [(other.identity, "another authority"), (try trusted.stranger(), "another host")] {
            let server = try natsServer(
                configuration: "tls { cert_file: \"\(identity.certificate)\", key_file: \"\(identity.key)\" }\n")
            let result = try await run(
                ["setup", "--nats", "tls://127.0.0.1:\(server.port)", "--nats-ca", trusted.certificate])
            XCTAssertEqual(result.status, 1, defect)
            XCTAssertTrue(result.text.contains("TLS"), "\(defect): \(result.text)")
        }
    }

    func testAStateAboveTheLimitOfTheServerIsRefusedWithItsSize() async throws {
        let stage = try await FleetStage([try natsServer(configuration: "max_payload: 100000\n")], partitions: 1)
        let bytes = [UInt8](repeating: 7, count: 100_001)
        do {
            _ = try await stage.snapshots.store(bytes, partition: 0, replacing: nil)
            XCTFail("the state was stored")
        } catch {
            XCTAssertEqual(
                error, .tooLarge(key: "indoorloc-state/partition.0", bytes: 100_001, limit: 100_000))
        }
    }
}
