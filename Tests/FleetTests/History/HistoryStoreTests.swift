import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import TagHistory
import TagTracking
import XCTest

/// The store of positions with a real PostgreSQL server.
final class HistoryStoreTests: HistoryTestCase {
    private static let history = "SELECT tag, epoch, sequence, type, x, area FROM indoorloc_history ORDER BY 1, 2, 3"
    private static let latest = "SELECT tag, epoch, sequence, type, x, area FROM indoorloc_latest ORDER BY 1"

    func testARepetitionOfTheSameOutputsChangesNoRow() async throws {
        let address = try database()
        let room = Room(id: 4, name: "Kitchen", mapID: 2)
        let entry = LocalizationEvent(instant: .zero, venueID: 7, kind: .enterRoom(room))
        let outputs = [
            TestOutputs.output("a", sequence: 1, .present),
            TestOutputs.position("a", sequence: 2, x: 3, label: "Kitchen"),
            TestOutputs.output("a", sequence: 3, .event(entry)),
            TestOutputs.position("b\t\\N\n", sequence: 1, x: 4),
            TestOutputs.output("a", sequence: 4, .away),
        ]
        let store = try store(address)
        store.add(outputs)
        await store.waitUntilStored()
        let database = try TestDatabase(address)
        let history = [
            "a 1 1 present - -", "a 1 2 position 3 Kitchen", "a 1 3 enterRoom - Kitchen", "a 1 4 away - -",
            "b\t\\N\n 1 1 position 4 -",
        ]
        // The latest output has no position, so the row keeps the position before it.
        let latest = ["a 1 4 away 3 Kitchen", "b\t\\N\n 1 1 position 4 -"]
        XCTAssertEqual(try database.run(Self.history), history)
        XCTAssertEqual(try database.run(Self.latest), latest)

        store.add(outputs.reversed() + outputs)
        store.add(Array(outputs.prefix(2)))
        await store.waitUntilStored()
        XCTAssertEqual(try database.run(Self.history), history)
        XCTAssertEqual(try database.run(Self.latest), latest)
        XCTAssertEqual(store.counts.stored, 17)
        XCTAssertEqual(store.counts.lost, 0)
    }

    func testATrainedRoomIsARowAndTheLatestArea() async throws {
        let address = try database()
        let store = try store(address)
        func room(_ sequence: UInt64, _ label: String?) -> FleetOutput {
            TestOutputs.output(
                "a", sequence: sequence, .room(TagRoom(instant: .zero, label: label, rooms: [], none: 0)))
        }
        store.add([room(1, "Attic")])
        await store.waitUntilStored()
        let database = try TestDatabase(address)
        XCTAssertEqual(try database.run(Self.latest), ["a 1 1 room - Attic"])
        store.add([room(2, nil), TestOutputs.output("a", sequence: 3, .away)])
        await store.waitUntilStored()
        XCTAssertEqual(try database.run(Self.history), ["a 1 1 room - Attic", "a 1 2 room - -", "a 1 3 away - -"])
        XCTAssertEqual(try database.run(Self.latest), ["a 1 3 away - -"])
        XCTAssertEqual(store.counts.refused, 0)
    }

    func testTheTimesAndPlacesOfAnOutputAreStoredExactly() async throws {
        let address = try database()
        let store = try store(address)
        var output = TestOutputs.position(
            "a", sequence: 1, x: 1.0 / 3, coordinate: Coordinate(latitude: 52.1, longitude: 4.3))
        output.name = "Trolley 4"
        output.instant = Instant(nanoseconds: 1_767_225_600_123_456_789)
        store.add([output])
        await store.waitUntilStored()
        let database = try TestDatabase(address)
        try database.run("SET timezone = 'UTC'")
        for table in ["indoorloc_latest", "indoorloc_history"] {
            XCTAssertEqual(
                try database.run("SELECT name, time, venue, map, x, y, radius, latitude, longitude FROM \(table)"),
                ["Trolley 4 2026-01-01 00:00:00.123456+00 7 2 0.3333333333333333 2.5 1.5 52.1 4.3"])
        }
    }

    func testOutputsOfAnOlderEpochDoNotReplaceTheLatestState() async throws {
        let address = try database()
        let store = try store(address)
        store.add([TestOutputs.position("a", epoch: 2, sequence: 5, x: 25)])
        await store.waitUntilStored()
        let database = try TestDatabase(address)
        for late in [
            TestOutputs.position("a", epoch: 1, sequence: 900, x: 1),
            TestOutputs.position("a", epoch: 2, sequence: 4, x: 2),
        ] {
            store.add([late])
            await store.waitUntilStored()
            XCTAssertEqual(try database.run(Self.latest), ["a 2 5 position 25 -"])
        }
        store.add([TestOutputs.position("a", epoch: 3, sequence: 1, x: 31)])
        await store.waitUntilStored()
        XCTAssertEqual(try database.run(Self.latest), ["a 3 1 position 31 -"])
        XCTAssertEqual(try database.run("SELECT count(*) FROM indoorloc_history"), ["4"])
    }

    func testAKilledServerLosesNoOutputOfABatchThatItHadNotCommitted() async throws {
        let server = try server()
        let store = try store(server.address())
        store.add([TestOutputs.position("a", sequence: 1)])
        await store.waitUntilStored()
        // The lock holds the store in the middle of the next transaction: after the history, before the latest state.
        try holdAndKill(server, while: store)
        try server.restart()
        await store.waitUntilStored()
        let database = try TestDatabase(server.address())
        XCTAssertEqual(
            try database.run("SELECT count(*), min(sequence), max(sequence) FROM indoorloc_history"), ["5000 1 5000"])
        XCTAssertEqual(try database.run(Self.latest), ["a 1 5000 position 1 -"])
        XCTAssertEqual(store.counts.stored, 5000)
        XCTAssertEqual(store.counts.lost, 0)
    }

    private func holdAndKill(_ server: PostgreSQLServer, while store: HistoryStore) throws {
        let database = try TestDatabase(server.address())
        try database.run("BEGIN; LOCK TABLE indoorloc_latest IN SHARE ROW EXCLUSIVE MODE")
        store.add((2...5000).map { TestOutputs.position("a", sequence: $0) })
        try database.wait(
            for: ["1"],
            of: "SELECT count(*) FROM pg_locks WHERE relation = 'indoorloc_latest'::regclass AND NOT granted")
        server.kill()
    }

    func testTheQueueDropsAndCountsTheOldestOutputsWhileTheDatabaseIsAway() async throws {
        let server = try server()
        let store = try store(server.address()) { settings in
            settings.queueCapacity = 100
            settings.batchSize = 10
        }
        store.add([TestOutputs.position("a", sequence: 1)])
        await store.waitUntilStored()
        server.kill()
        store.add((2...500).map { TestOutputs.position("a", sequence: $0) })
        XCTAssertGreaterThan(store.counts.lost, 380)
        try server.restart()
        await store.waitUntilStored()
        let counts = store.counts
        XCTAssertEqual(counts.stored + counts.lost, 500)
        let database = try TestDatabase(server.address())
        XCTAssertEqual(try database.run("SELECT count(*) FROM indoorloc_history"), ["\(counts.stored)"])
        XCTAssertEqual(try database.run(Self.latest), ["a 1 500 position 1 -"])
    }

    func testAnOutputThatTheDatabaseRefusesDoesNotStopTheOthers() async throws {
        let address = try database()
        let store = try store(address)
        // A key of an index has at most about 2,700 bytes after compression.
        var generator = SeededGenerator(seed: 1)
        let long = (0..<400).map { _ in String(generator.next(), radix: 36) }.joined()
        var outputs = (1...99).map { TestOutputs.position("a", sequence: $0) }
        outputs.insert(TestOutputs.position(long, sequence: 1), at: 42)
        store.add(outputs)
        await store.waitUntilStored()
        XCTAssertEqual(store.counts.stored, 99)
        XCTAssertEqual(store.counts.refused, 1)
        let database = try TestDatabase(address)
        XCTAssertEqual(try database.run("SELECT count(*) FROM indoorloc_history"), ["99"])
    }

    func testTheRetentionDeletesOldRowsOfTheHistoryOnly() async throws {
        let address = try database()
        let first = try store(address)
        let now = Int64(Date().timeIntervalSince1970)
        let day: Int64 = 86_400
        first.add([
            TestOutputs.position("old", sequence: 1, seconds: now - 31 * day),
            TestOutputs.position("a", sequence: 1, seconds: now - 30 * day - 60),
            TestOutputs.position("a", sequence: 2, seconds: now - 29 * day),
            TestOutputs.position("a", sequence: 3, seconds: now),
        ])
        await first.waitUntilStored()
        await first.stop(within: Bounded.longest)
        let second = try store(address, creates: false) { $0.retention = .seconds(30 * day) }
        let database = try TestDatabase(address)
        try database.wait(
            for: ["a 1 2", "a 1 3"], of: "SELECT tag, epoch, sequence FROM indoorloc_history ORDER BY 1, 2, 3")
        XCTAssertEqual(try database.run("SELECT tag FROM indoorloc_latest ORDER BY 1"), ["a", "old"])
        await second.stop(within: Bounded.longest)
        XCTAssertEqual(second.counts.deleted, 2)
    }

    func testADeletionThatFailsIsNotRepeatedAfterEachBatch() async throws {
        let address = try database()
        let first = try store(address)
        let now = Int64(Date().timeIntervalSince1970)
        first.add([TestOutputs.position("old", sequence: 1, seconds: now - 31 * 86_400)])
        await first.stop(within: Bounded.longest)
        let database = try TestDatabase(address)
        try database.run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''rows of this table are kept''; END';
            CREATE TRIGGER refuse BEFORE DELETE ON indoorloc_history FOR EACH ROW EXECUTE FUNCTION refuse()
            """)
        let second = try store(address, creates: false) { $0.retention = .seconds(30 * 86_400) }
        for sequence in 1...4 as ClosedRange<UInt64> {
            second.add([TestOutputs.position("a", sequence: sequence, seconds: now)])
            await second.waitUntilStored()
        }
        await second.stop(within: Bounded.longest)
        let failures = try await Bounded.all(second.events).filter { event in
            if case .disconnected = event { true } else { false }
        }
        XCTAssertEqual(failures.count, 1, "\(failures)")
        XCTAssertEqual(second.counts.stored, 4)
    }

    func testPostGISFindsTheTagsNearAPoint() async throws {
        let address = try database()
        let database = try TestDatabase(address)
        // Without the extension there is no geometry; a later creation adds it to the existing rows.
        let plain = try store(address)
        let here = Coordinate(latitude: 52.0, longitude: 4.0)
        plain.add([
            TestOutputs.position("near", sequence: 1, coordinate: Coordinate(latitude: 52.0001, longitude: 4.0001)),
            TestOutputs.position("far", sequence: 1, coordinate: Coordinate(latitude: 52.01, longitude: 4.01)),
            TestOutputs.position("local", sequence: 1),
        ])
        await plain.stop(within: Bounded.longest)
        XCTAssertThrowsError(try database.run("SELECT geom FROM indoorloc_latest"))
        XCTAssertEqual(try database.run("SELECT count(*) FROM indoorloc_latest"), ["3"])

        try database.run("CREATE SCHEMA gis; CREATE EXTENSION postgis SCHEMA gis")
        let store = try store(address)
        store.add([TestOutputs.position("new", sequence: 1, coordinate: here)])
        await store.waitUntilStored()
        try database.run("SET search_path = public, gis")
        for table in ["indoorloc_latest", "indoorloc_history"] {
            let query = """
                SELECT tag FROM \(table) WHERE ST_DWithin(
                    geom::geography, ST_SetSRID(ST_MakePoint(\(here.longitude), \(here.latitude)), 4326)::geography, 20)
                ORDER BY 1
                """
            XCTAssertEqual(try database.run(query), ["near", "new"], table)
        }
        XCTAssertEqual(
            try database.run("SELECT type, srid FROM geometry_columns WHERE f_table_name = 'indoorloc_latest'"),
            ["POINT 4326"])
    }
}

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
        await first.stop(within: Bounded.longest)
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
                await store.stop(within: Bounded.longest)
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
                // Only then does the program handle signals for certain.
                try program.wait(for: "connected to the database")
                program.send(SIGTERM)
            }
            let result = try program.end()
            XCTAssertEqual(result.status, isAccepted ? 0 : 1, "\(name): \(result.errors)")
            XCTAssertEqual(result.errors.contains("sslrootcert=FILE"), !isAccepted, "\(name): \(result.errors)")
        }
    }
}

/// The dashboard of Grafana, whose queries a real database answers.
final class TagDashboardTests: HistoryTestCase {
    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable { var rawSql: String }
            var title: String
            var targets: [Target]
        }
        var panels: [Panel]
    }

    /// Returns a query as Grafana sends it.
    private func sent(_ query: String, tag: String = "") -> String {
        query.replacing(
            "$__timeGroupAlias(time, $__interval)", with: "floor(extract(epoch FROM time) / 60) * 60 AS \"time\""
        )
        .replacing("$__timeFilter(time)", with: "time BETWEEN '2000-01-01' AND '2100-01-01'")
        .replacing("${tag:sqlstring}", with: "'\(tag)'")
    }

    func testEachPanelShowsTheStoredOutputs() async throws {
        let path = try FixtureFolder("../.packaging/grafana").file("tags.json")
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(contentsOf: URL(filePath: path)))
        let address = try database()
        let store = try store(address)
        store.add(
            (1...5).map { step in
                TestOutputs.position(
                    "a", sequence: step, x: Double(step), label: "Kitchen", seconds: 1_767_261_600 + 30 * Int64(step))
            })
        store.add([TestOutputs.position("b", sequence: 1, x: 9, label: "Kitchen", seconds: 1_767_261_600 + 30)])
        await store.waitUntilStored()
        let database = try TestDatabase(address)
        var rows: [String: [String]] = [:]
        for panel in dashboard.panels {
            for target in panel.targets {
                let query = sent(target.rawSql)
                XCTAssertFalse(query.contains("$"), query)
                rows[panel.title] = try database.run(query)
            }
        }
        XCTAssertEqual(rows.keys.sorted(), ["Error radius", "Tags by room", "Time in each room", "Where the tags are"])
        XCTAssertEqual(rows["Where the tags are"]?.count, 2)
        XCTAssertEqual(rows["Where the tags are"]?.allSatisfy { $0.contains("Kitchen") }, true)
        XCTAssertEqual(rows["Tags by room"]?.first?.hasSuffix("Kitchen 2"), true, "\(rows)")
        // Four steps of half a minute; the second tag has a single position.
        XCTAssertEqual(rows["Time in each room"]?.count, 1)
        XCTAssertEqual(rows["Time in each room"]?.first?.contains("Kitchen 120"), true, "\(rows)")
        let query = try XCTUnwrap(dashboard.panels.first { $0.title == "Error radius" }?.targets.first?.rawSql)
        let names = try database.run("SELECT DISTINCT coalesce(name, tag) FROM indoorloc_latest")
        XCTAssertEqual(names.count, 2)
        XCTAssertLessThan(
            try database.run(sent(query, tag: try XCTUnwrap(names.first))).count,
            try XCTUnwrap(rows["Error radius"]).count)
    }
}
