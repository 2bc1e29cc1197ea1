import Foundation
import IndoorLocalizationTesting
import LoopbackServers
import TagHistory
import TagTracking
import XCTest

/// The errors of a store's database, with a real PostgreSQL server.
final class HistoryErrorTests: HistoryTestCase {
    func testErrorsThatAnotherAttemptDoesNotRemoveEndTheStore() async throws {
        let server = try server(access: "host all guest 127.0.0.1/32 scram-sha-256")
        let database = try TestDatabase(server.address())
        try database.run(
            "CREATE ROLE guest LOGIN PASSWORD 'abc'; CREATE ROLE poor LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC"
        )

        let missing = try await failure(of: try store(server.address("nowhere")))
        XCTAssertEqual(missing?.reason, .refused)
        XCTAssertTrue(
            "\(missing, default: "")".contains("database \"nowhere\" does not exist"), "\(missing, default: "")")

        let empty = try await failure(of: try store(server.address(), creates: false))
        XCTAssertEqual(empty?.reason, .notCreated)
        XCTAssertTrue("\(empty, default: "")".contains("--create"))

        let forbidden = try await failure(of: try store(server.address(user: "poor")))
        XCTAssertEqual(forbidden?.reason, .permission)

        let first = try store(server.address())
        first.add([TestOutputs.position("a", sequence: 1)])
        await first.stop(within: .seconds(30))
        let reader = try await failure(of: try store(server.address(user: "poor"), creates: false))
        XCTAssertEqual(reader?.reason, .permission)

        try database.run("UPDATE indoorloc_schema SET version = 9")
        for creates in [true, false] {
            let newer = try await failure(of: try store(server.address(), creates: creates))
            XCTAssertEqual(newer?.reason, .otherVersion(found: 9, known: 1))
            XCTAssertTrue("\(newer, default: "")".contains("update the program"))
        }
    }

    func testThePasswordIsUsedAndNotPrinted() async throws {
        let server = try server(access: "host all guest 127.0.0.1/32 scram-sha-256")
        let database = try TestDatabase(server.address())
        try database.run("CREATE ROLE guest LOGIN PASSWORD 'abc'; GRANT CREATE ON SCHEMA public TO guest")
        for (password, isRight) in [("abc", true), ("wrong", false)] {
            let address = try DatabaseAddress(server.address(user: "guest"), password: password)
            XCTAssertFalse(String(reflecting: address).contains(password))
            var settings = HistoryStore.Settings()
            settings.createsTables = true
            let store = HistoryStore(address, settings)
            if isRight {
                store.add([TestOutputs.position("a", sequence: 1)])
                await store.waitUntilStored()
                await store.stop(within: .seconds(30))
                XCTAssertEqual(store.counts.stored, 1)
            } else {
                let error = try await failure(of: store)
                XCTAssertEqual(error?.reason, .refused)
            }
        }
    }

    func testAnAddressWithAPasswordIsRejectedWithoutItsText() throws {
        for address in [
            "postgresql://owner:secret@127.0.0.1/db", "host=127.0.0.1 password=secret",
            "postgresql:///db?password=secret",
            "postgresql://owner:secret@127.0.0.1:port/db",
        ] {
            XCTAssertThrowsError(try DatabaseAddress(address)) { error in
                XCTAssertEqual((error as? HistoryError)?.reason, .badAddress)
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
        for address in ["", "host=a port", "postgresql://[::1/db"] {
            XCTAssertThrowsError(try DatabaseAddress(address), address)
        }
        for address in ["positions", "postgresql:///positions", "service=fleet", "postgresql://user@db.example.org/p"] {
            XCTAssertNoThrow(try DatabaseAddress(address), address)
        }
    }

    func testAServerThatIsAwayAtTheStartIsAwaited() async throws {
        let server = try server()
        server.kill()
        let store = try store(server.address())
        store.add([TestOutputs.position("a", sequence: 1)])
        let failed = try await Bounded.elements(of: store.events, until: "a failed attempt") { event in
            if case .disconnected = event { true } else { false }
        }
        guard case .disconnected(let error)? = failed.last else { return XCTFail("\(failed)") }
        XCTAssertEqual(error.reason, .unreachable)
        try server.restart()
        await store.waitUntilStored()
        XCTAssertEqual(store.counts.stored, 1)
    }

    func testAStopWhileTheServerIsAwayCountsTheWaitingOutputsAsLost() async throws {
        let server = try server()
        server.kill()
        let store = try store(server.address())
        store.add([TestOutputs.position("a", sequence: 1)])
        await store.stop(within: .milliseconds(100))
        XCTAssertEqual(store.counts.lost, 1)
        store.add([TestOutputs.position("a", sequence: 2)])
        XCTAssertEqual(store.counts.lost, 2)
    }
}
