import Foundation
import LoopbackServers
import TagHistory
import XCTest

/// The proof of a database server's identity by TLS.
final class DatabaseIdentityTests: HistoryTestCase {
    /// The address of a server by a spelling of 127.0.0.1 that isn't recognized, so that it stands for another machine.
    private static func remote(_ server: PostgreSQLServer, _ parameters: String = "") -> String {
        "postgresql://\(PostgreSQLServer.user)@127.1:\(server.port)/postgres\(parameters)"
    }

    private func mode(_ text: String) throws -> String? {
        try DatabaseAddress(text).parameters.last { $0.keyword == "sslmode" }?.value
    }

    func testAConnectionToAnotherMachineRequiresAVerifiedServer() throws {
        for address in [
            "postgresql://me@db.example.org/p", "host=db.example.org", "postgresql://192.0.2.1:5433/p",
            "postgresql://[2001:db8::1]/p", "hostaddr=192.0.2.1", "host=localhost hostaddr=192.0.2.1",
            "postgresql://localhost,db.example.org/p", "postgresql://db.example.org,/p",
            "host=localhost,localhost hostaddr=127.0.0.1,192.0.2.1", "host=db.example.org sslrootcert=/ca.pem",
            "postgresql://127.example.org/p", "postgresql://localhost.example.org/p",
        ] {
            XCTAssertEqual(try mode(address), "verify-full", address)
        }
    }

    func testAConnectionWithinTheMachineKeepsTheDefaultOfLibpq() throws {
        for address in [
            "p", "postgresql:///p", "postgresql://localhost/p", "postgresql://127.0.0.1/p", "postgresql://127.9.8.7/p",
            "postgresql://[::1]/p", "host=LOCALHOST", "host=/run/postgresql", "postgresql://%2Frun%2Fpostgresql/p",
            "host=@abstract", "hostaddr=127.0.0.1", "host=db.example.org hostaddr=127.0.0.1",
            "postgresql://localhost,127.0.0.1,/p",
        ] {
            XCTAssertNil(try mode(address), address)
        }
    }

    func testAModeInTheAddressIsKept() throws {
        for mode in ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] {
            XCTAssertNil(try self.mode("postgresql://db.example.org/p?sslmode=\(mode)"), "libpq reads it from the text")
            XCTAssertNil(try self.mode("host=db.example.org sslmode=\(mode)"), mode)
        }
        XCTAssertNil(try mode("postgresql://db.example.org/p?ssl=true"))
    }

    func testAServerWithACertificateOfTheGivenAuthorityIsAccepted() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let server = try server(identity: authority.identity)
        let store = try store(Self.remote(server, "?sslrootcert=\(authority.certificate)"))
        store.add([TestOutputs.position("a", sequence: 1)])
        await store.waitUntilStored()
        XCTAssertEqual(store.counts.stored, 1)
        let sessions = try TestDatabase(server.address()).run(
            "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'indoorloc-fleet'")
        XCTAssertEqual(sessions, ["t"])
    }

    func testAServerWithoutProofOfItsIdentityIsRefusedWithARemedy() async throws {
        let authority = try TestAuthority(in: try temporaryFolder())
        let other = try TestAuthority(in: try temporaryFolder())
        let trust = "?sslrootcert=\(authority.certificate)"
        for (identity, parameters, reason) in [
            (other.identity, trust, "certificate verify failed"),
            (try authority.stranger(), trust, "does not match host name"),
            (authority.identity, "?sslrootcert=/nowhere/file", "file \"/nowhere/file\" does not exist"),
            (nil, trust, "SSL was required"),
        ] as [((certificate: String, key: String)?, String, String)] {
            let server = try server(identity: identity)
            let error = try await failure(of: try store(Self.remote(server, parameters)))
            let text = "\(error, default: "no error")"
            XCTAssertEqual(error?.reason, .insecure, text)
            XCTAssertTrue(text.contains(reason), text)
            XCTAssertTrue(text.contains("sslrootcert=FILE in --database, or an explicit sslmode"), text)
        }
    }

    func testAModeOfTheEnvironmentOrOfTheServiceFileIsKept() throws {
        let server = try server()
        let folder = try temporaryFolder()
        let services = folder + "/services"
        let service = "[open]\nsslmode=disable\n[plain]\n"
        try Data(service.utf8).write(to: URL(filePath: services))
        let database = try TestDatabase(server.address())
        for (parameters, variables, isAccepted) in [
            ("", [:], false),
            ("", ["PGSSLMODE": "prefer"], true),
            ("", ["PGSSLMODE": "require"], false),
            ("?service=open", ["PGSERVICEFILE": services], true),
            ("?service=plain", ["PGSERVICEFILE": services], false),
            ("", ["PGSERVICEFILE": services, "PGSERVICE": "open"], true),
        ] as [(String, [String: String], Bool)] {
            let name = "\(parameters) \(variables)"
            try database.run("DROP TABLE IF EXISTS indoorloc_schema, indoorloc_latest, indoorloc_history")
            let words = ["store", "--broker", "mqtt://127.0.0.1:1", "--create", "--database"]
            let program = try FleetProgram(
                words + [Self.remote(server, parameters)], folder: folder, environment: variables)
            if isAccepted {
                try database.wait(for: ["t"], of: "SELECT to_regclass('indoorloc_history') IS NOT NULL")
                program.send(SIGTERM)
            }
            let result = try program.end()
            XCTAssertEqual(result.status, isAccepted ? 0 : 1, "\(name): \(result.errors)")
            XCTAssertEqual(result.errors.contains("sslrootcert=FILE"), !isAccepted, "\(name): \(result.errors)")
        }
    }
}
