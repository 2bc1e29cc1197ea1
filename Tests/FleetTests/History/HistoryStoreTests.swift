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
        await first.stop(within: .seconds(30))
        let second = try store(address, creates: false) { $0.retention = .seconds(30 * day) }
        let database = try TestDatabase(address)
        try database.wait(
            for: ["a 1 2", "a 1 3"], of: "SELECT tag, epoch, sequence FROM indoorloc_history ORDER BY 1, 2, 3")
        XCTAssertEqual(try database.run("SELECT tag FROM indoorloc_latest ORDER BY 1"), ["a", "old"])
        await second.stop(within: .seconds(30))
        XCTAssertEqual(second.counts.deleted, 2)
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
        await plain.stop(within: .seconds(30))
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
