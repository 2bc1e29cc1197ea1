import CPostgreSQL
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import Synchronization
import TagHistory
import TagTracking
import XCTest

/// A connection of a test to its database, apart from those of the store.
final class TestDatabase {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let handle: OpaquePointer?

    init(_ address: String) throws {
        handle = PQconnectdb(address)
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        guard PQstatus(handle) == CONNECTION_OK else {
            throw Failure(description: String(cString: PQerrorMessage(handle)))
        }
    }

    deinit { PQfinish(handle) }

    /// Runs statements, and returns the rows of the last one with their columns joined by spaces; null is a dash.
    @discardableResult func run(_ sql: String) throws -> [String] {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(description: String(cString: PQerrorMessage(handle)))
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) == 1 ? "-" : String(cString: PQgetvalue(result, row, column))
            }.joined(separator: " ")
        }
    }

    /// Runs a query again and again until its result is as expected.
    func wait(for expected: [String], of sql: String) throws {
        let deadline = ContinuousClock.now + Bounded.longest
        var rows: [String] = []
        while ContinuousClock.now < deadline {
            rows = try run(sql)
            if rows == expected { return }
        }
        throw Failure(description: "\(sql): \(rows) instead of \(expected)")
    }
}

/// Tests with a database, each with one of its own on the server of the class.
class HistoryTestCase: XCTestCase {
    private static let shared = Mutex<(server: PostgreSQLServer, folder: String)?>(nil)

    override class func tearDown() {
        shared.withLock { shared in
            shared?.server.stop()
            shared.map { try? FileManager.default.removeItem(atPath: $0.folder) }
            shared = nil
        }
    }

    /// The address of a new database on the server of the class, which no test may kill.
    func database() throws -> String {
        let server = try Self.shared.withLock { shared in
            if let shared { return shared.server }
            let folder = FileManager.default.temporaryDirectory.path + "/fleet-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let server = try PostgreSQLServer(folder: folder)
            shared = (server, folder)
            return server
        }
        let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: "_"))"
        try TestDatabase(server.address()).run("CREATE DATABASE \(name)")
        return server.address(name)
    }

    /// Starts a server that ends with the test.
    func server(
        access: String = "", identity: (certificate: String, key: String)? = nil
    ) throws -> PostgreSQLServer {
        let server = try PostgreSQLServer(folder: try temporaryFolder(), access: access, identity: identity)
        addTeardownBlock { server.stop() }
        return server
    }

    /// The error that ends a store at its start.
    func failure(of store: HistoryStore) async throws -> HistoryError? {
        let events = try await Bounded.all(store.events)
        guard case .ended(let error)? = events.last else { throw Bounded.Expired(awaited: "the end in \(events)") }
        return error
    }

    /// A store that is stopped after the test.
    func store(
        _ address: String, creates: Bool = true, _ change: (inout HistoryStore.Settings) -> Void = { _ in }
    ) throws -> HistoryStore {
        var settings = HistoryStore.Settings()
        settings.createsTables = creates
        change(&settings)
        let store = HistoryStore(try DatabaseAddress(address), settings)
        addTeardownBlock { await store.stop(within: .zero) }
        return store
    }
}

/// Outputs for tests.
enum TestOutputs {
    /// 1 January 2026, 0:00 UTC, in seconds since 1970.
    static let start: Int64 = 1_767_225_600

    static func tag(_ name: String) -> TagKey { .name(name) }

    /// A position output, `sequence` seconds after the start.
    static func position(
        _ tag: String, epoch: UInt64 = 1, sequence: UInt64, x: Double = 1, coordinate: Coordinate? = nil,
        label: String? = nil, seconds: Int64? = nil
    ) -> FleetOutput {
        let instant = Instant(nanoseconds: (seconds ?? start + Int64(sequence)) * 1_000_000_000)
        return FleetOutput(
            tag: .name(tag), epoch: epoch, sequence: sequence, instant: instant,
            content: .position(
                Position(
                    instant: instant, venueID: 7, mapID: 2, point: MapPoint(x: x, y: 2.5), radius: 1.5, label: label,
                    coordinate: coordinate)))
    }

    static func output(
        _ tag: String, epoch: UInt64 = 1, sequence: UInt64, _ content: FleetOutput.Content
    ) -> FleetOutput {
        FleetOutput(
            tag: .name(tag), epoch: epoch, sequence: sequence,
            instant: Instant(nanoseconds: (start + Int64(sequence)) * 1_000_000_000), content: content)
    }
}
