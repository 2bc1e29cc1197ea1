import Foundation
import IndoorLocalization
import SQLiteFiles
import TagTracking
import TagTrackingService
import TemporaryFiles
import XCTest

/// The history of a fleet on one machine.
final class TagHistoryTests: XCTestCase {
    private let start = Instant(seconds: 1_795_000_000)
    private let kitchen = Room(id: 1, name: "Kitchen", mapID: 1)
    private let hall = Room(id: 2, name: "Hall", mapID: 1)
    private var sequence: UInt64 = 0

    private func path() throws -> String { try temporaryFolder() + "/history.db" }

    private func at(_ seconds: Double) -> Instant { start.advanced(by: .seconds(seconds)) }

    private func output(_ tag: String, _ content: FleetOutput.Content, _ seconds: Double) -> FleetOutput {
        sequence += 1
        return FleetOutput(
            tag: .name(tag), name: tag == "cart" ? "Cart" : nil, epoch: 1, sequence: sequence, instant: at(seconds),
            content: content)
    }

    private func event(_ kind: LocalizationEvent.Kind, _ seconds: Double) -> FleetOutput.Content {
        .event(LocalizationEvent(instant: at(seconds), venueID: 1, kind: kind))
    }

    private func position(_ x: Double, _ room: String?, _ seconds: Double) -> FleetOutput.Content {
        .position(
            Position(
                instant: at(seconds), venueID: 1, mapID: 1, point: MapPoint(x: x, y: 2), radius: 1, label: room,
                coordinate: Coordinate(latitude: 50 + x / 1000, longitude: 8)))
    }

    /// A cart that is in the kitchen from 10 s to 100 s, and in the hall from then on; and a tag in the kitchen that goes
    /// away.
    private func outputs() -> [FleetOutput] {
        var outputs = [output("cart", .present, 0), output("cart", event(.enterRoom(kitchen), 10), 10)]
        for second in stride(from: 11.0, to: 100, by: 1) {
            outputs.append(output("cart", position(second / 16, "Kitchen", second), second))
        }
        outputs += [
            output("cart", event(.exitRoom(kitchen), 100), 100), output("cart", event(.enterRoom(hall), 100), 100),
            output("cart", position(9, "Hall", 130), 130), output("keys", event(.enterRoom(kitchen), 40), 40),
            output("keys", position(3, "Kitchen", 45), 45), output("keys", .away, 75),
        ]
        return outputs
    }

    private func query(
        _ room: String? = nil, tag: String? = nil, _ from: Double = 0, _ to: Double = 1_000
    ) -> TagHistoryQuery {
        TagHistoryQuery(room: room, tag: tag, from: at(from), to: at(to))
    }

    private func seconds(_ visits: [TagVisit]) -> [[Double]] {
        visits.map { [start.duration(to: $0.start).seconds, start.duration(to: $0.end).seconds] }
    }

    func testTrainedRoomsWithoutAFloorPlanHaveVisits() async throws {
        let history = try TagHistory(path: path())
        func room(_ label: String?, _ seconds: Double) -> FleetOutput {
            let room = TagRoom(instant: at(seconds), label: label, rooms: [], none: 0)
            return output("cart", .room(room), seconds)
        }
        func event(_ kind: LocalizationEvent.Kind, _ seconds: Double) -> FleetOutput {
            output(
                "cart", .event(LocalizationEvent(instant: at(seconds), venueID: TagRoom.venueID, kind: kind)), seconds)
        }
        let attic = TagRoom.room(named: "Attic")
        var outputs = [event(.enterRoom(attic), 10)]
        for second in stride(from: 11.0, to: 60, by: 1) { outputs.append(room("Attic", second)) }
        await history.write(outputs + [event(.exitRoom(attic), 60), room(nil, 60), room(nil, 61)])
        await history.flush()
        let visits = try await history.reader.visits(query("attic"))
        XCTAssertEqual(seconds(visits), [[10, 60]])
        XCTAssertEqual(visits.map(\.isOpen), [false])
    }

    func testWhoWasInARoomInATime() async throws {
        let history = try TagHistory(path: path())
        await history.write(outputs())
        await history.flush()
        let all = try await history.reader.visits(query("kitchen"))
        XCTAssertEqual(all.map(\.tag), ["cart", "keys"])
        XCTAssertEqual(all.map(\.name), ["Cart", nil])
        // A tag that is away was there until its last output.
        XCTAssertEqual(seconds(all), [[10, 100], [40, 45]])
        XCTAssertEqual(all.map(\.isOpen), [false, false])
        let late = try await history.reader.visits(query("Kitchen", 50, 60))
        XCTAssertEqual(late.map(\.tag), ["cart"])
        let after = try await history.reader.visits(query("Kitchen", 101, 200))
        XCTAssertEqual(after, [])
        let cart = try await history.reader.visits(query(tag: "CART"), at: at(190))
        XCTAssertEqual(cart.map(\.room), ["Kitchen", "Hall"])
        XCTAssertEqual(cart.map(\.isOpen), [false, true])
        XCTAssertEqual(seconds(cart).last, [100, 130])
        // The program that wrote the file was killed.
        let later = try await history.reader.visits(query(tag: "CART"), at: at(191))
        XCTAssertEqual(later.map(\.isOpen), [false, false])
    }

    func testTheVisitsOfATagThatLeavesTheRegisterEnd() async throws {
        let history = try TagHistory(path: path())
        await history.write(outputs())
        await history.use(register: TagRegister(), removing: [.name("cart")])
        await history.flush()
        let cart = try await history.reader.visits(query(tag: "cart"), at: at(131))
        XCTAssertEqual(cart.map(\.isOpen), [false, false])
        XCTAssertEqual(seconds(cart).last, [100, 130])
    }

    func testAnExitAfterALongSilenceDoesNotExtendTheVisit() async throws {
        let history = try TagHistory(path: path())
        await history.write(outputs() + [output("cart", event(.exitRoom(hall), 900), 900), output("cart", .away, 900)])
        await history.flush()
        let cart = try await history.reader.visits(query(tag: "cart"), at: at(900))
        XCTAssertEqual(seconds(cart).last, [100, 130])
    }

    func testAQueryThatTakesTooLongFailsWithAdvice() async throws {
        let path = try path()
        let history = try TagHistory(path: path)
        await history.write(outputs())
        await history.flush()
        let file = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        try file.run(
            """
            WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 9999)
            INSERT INTO position SELECT 1, \(start.nanoseconds / 1_000_000) + n, 1, 1, 1, 1, 1, NULL, NULL, NULL FROM number
            """)
        let reader = try TagHistoryReader(path: path, limit: .zero)
        do {
            _ = try await reader.activity(query(), parts: 10)
            XCTFail("the query has no limit")
        } catch {
            XCTAssertEqual(error.reason, .sqlite(.interrupted))
            XCTAssertTrue("\(error)".contains("choose a shorter time"), "\(error)")
        }
        let slow = try TagHistoryReader(path: path, limit: .seconds(60))
        let activity = try await slow.activity(query(), parts: 10)
        XCTAssertGreaterThan(activity.positions, 9_000)
    }

    func testTheTimeInEachRoomIsThatWithinTheQuery() async throws {
        let history = try TagHistory(path: path())
        await history.write(outputs())
        await history.flush()
        let dwells = try await history.reader.dwells(query(nil, 50, 120))
        XCTAssertEqual(dwells.map(\.room), ["Hall", "Kitchen"])
        XCTAssertEqual(dwells.map(\.time), [.seconds(20), .seconds(50)])
        XCTAssertEqual(dwells.map(\.visits), [1, 1])
    }

    func testPositionsAreThinnedAndReadInPages() async throws {
        let history = try TagHistory(path: path())
        await history.write(outputs())
        await history.flush()
        // The cart needs 16 s for the metre from which it moves.
        let positions = try await history.reader.positions(query(tag: "cart"))
        XCTAssertEqual(positions.map { start.duration(to: $0.instant).seconds }, [11, 27, 43, 59, 75, 91, 130])
        XCTAssertEqual(positions.map(\.room).last, "Hall")
        XCTAssertEqual(positions.first?.coordinate?.latitude ?? 0, 50.0006875, accuracy: 1e-9)
        var first = query()
        first.limit = 3
        let page = try await history.reader.positions(first)
        let rest = try await history.reader.positions(query(), after: (page[2].instant, page[2].tag))
        let all = try await history.reader.positions(query())
        XCTAssertEqual(page + rest, all)
        XCTAssertEqual(all.count, 8)
    }

    func testAnOpenVisitContinuesAfterARestartUnlessItsTagWasSilentForLong() async throws {
        let path = try path()
        let first = try TagHistory(path: path)
        await first.write([
            output("cart", event(.enterRoom(kitchen), 0), 0), output("cart", position(1, "Kitchen", 20), 20),
        ])
        await first.finish()
        // Without a state, the next start reports the entry again.
        let second = try TagHistory(path: path)
        await second.write([
            output("cart", event(.enterRoom(kitchen), 50), 50), output("cart", position(1, "Kitchen", 60), 60),
        ])
        await second.finish()
        // With a state, the start after an hour reports positions only.
        let third = try TagHistory(path: path)
        await third.write([
            output("cart", position(1, "Kitchen", 3_600), 3_600), output("cart", position(1, "Kitchen", 3_610), 3_610),
        ])
        await third.flush()
        let visits = try await third.reader.visits(query(nil, 0, 10_000), at: at(3_620))
        XCTAssertEqual(seconds(visits), [[0, 60], [3_600, 3_610]])
        XCTAssertEqual(visits.map(\.isOpen), [false, true])
    }

    func testOldRowsAreDeletedByAgeAndBySize() async throws {
        let moment = DeviceMoment(clock: start.seconds + 300, boot: "a", uptime: 36_000)
        let aged = try TagHistory(path: path(), settings: .init(age: .seconds(100)), now: { moment })
        await aged.write(outputs() + [output("cart", position(1, "Hall", 200), 200)])
        await aged.flush()
        let visits = try await aged.reader.visits(query())
        // The visit of the keys ended more than 100 s before the newest output.
        XCTAssertEqual(visits.map(\.tag), ["cart", "cart", "cart"])
        let oldest = try await aged.reader.positions(query()).map(\.instant).min()
        XCTAssertGreaterThanOrEqual(try XCTUnwrap(oldest), at(100))

        let path = try path()
        let large = try TagHistory(path: path)
        var many: [FleetOutput] = []
        for second in 0..<20_000 {
            many.append(
                output("tag \(second % 10)", position(Double(second % 7) * 3, "Hall", Double(second)), Double(second)))
        }
        await large.write(many)
        await large.flush()
        let before = try await large.reader.positions(query(nil, 0, 100_000)).count
        await large.finish()
        let limited = try TagHistory(path: path, settings: .init(size: 200_000))
        await limited.write([output("tag 1", position(1, "Hall", 20_001), 20_001)])
        await limited.flush()
        let after = try await limited.reader.positions(query(nil, 0, 100_000))
        XCTAssertLessThan(after.count, before / 2)
        XCTAssertGreaterThan(after.count, 100)
        XCTAssertEqual(after.last?.instant, at(20_001))
        let size = try XCTUnwrap(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        XCTAssertLessThan(size, 400_000)
    }

    func testATagWhoseRowsAreDeletedIsDeletedAndCanReturn() async throws {
        let path = try path()
        let moment = DeviceMoment(clock: start.seconds + 300, boot: "a", uptime: 36_000)
        let history = try TagHistory(path: path, settings: .init(age: .seconds(100)), now: { moment })
        await history.write(
            outputs() + [output("cart", position(1, "Hall", 200), 200), output("watch", .present, 200)])
        await history.flush()
        let file = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        // The keys are away, and the watch is present without a visit.
        let tags = try file.run("SELECT key FROM tag ORDER BY key")
        XCTAssertEqual(tags, [[.text("cart")], [.text("watch")]])
        await history.write([
            output("keys", .present, 210), output("keys", event(.enterRoom(kitchen), 215), 215),
            output("keys", position(3, "Kitchen", 220), 220),
        ])
        await history.flush()
        let visits = try await history.reader.visits(query(tag: "keys"))
        XCTAssertEqual(seconds(visits), [[215, 220]])
    }

    /// 60,000 positions beyond the limit of the size, as of a file whose limit was lowered.
    func testALargeExcessIsDeletedInParts() async throws {
        let path = try path()
        let history = try TagHistory(path: path, settings: .init(size: 100_000))
        let file = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        try file.run("INSERT INTO tag (id, key) VALUES (1, 'old')")
        try file.run(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 60000)
            INSERT INTO position SELECT 1, \(start.nanoseconds / 1_000_000) - n, 1, 1, 1, 1, 1, NULL, NULL, NULL FROM number
            """)
        func count(after seconds: Double) async throws -> Int64 {
            await history.write([output("cart", position(1, "Hall", seconds), seconds)])
            await history.flush()
            return try file.number("SELECT count(*) FROM position")
        }
        let first = try await count(after: 0)
        XCTAssertEqual(first, 60_001 - 50_000)
        let second = try await count(after: 60)
        XCTAssertLessThan(second, 5_000)
        XCTAssertGreaterThan(second, 500)
        XCTAssertEqual(try file.number("SELECT count(*) FROM position WHERE tag = 2"), 2)
    }

    func testAQueryNeitherDelaysTheWriterNorWaitsForIt() async throws {
        let path = try path()
        let history = try TagHistory(path: path)
        await history.write(outputs())
        await history.flush()
        // Another program is in the middle of a transaction.
        let other = try SQLiteFile<TagHistoryError>(path: path, waiting: .zero)
        try other.run("BEGIN IMMEDIATE")
        let visits = try await history.reader.visits(query())
        XCTAssertEqual(visits.count, 3)
        let positions = try await TagHistoryReader(path: path).positions(query())
        XCTAssertEqual(positions.count, 8)
        try other.run("ROLLBACK")
        // A read that has begun keeps its state, and outputs are written meanwhile.
        try other.run("BEGIN")
        XCTAssertEqual(try other.number("SELECT count(*) FROM position"), 8)
        await history.write([output("cart", position(20, "Hall", 140), 140)])
        await history.flush()
        let later = try await history.reader.positions(query())
        XCTAssertEqual(later.count, 9)
        XCTAssertEqual(try other.number("SELECT count(*) FROM position"), 8)
    }

    /// 500,000 positions and 50,000 visits, as of 50 tags in half a day, are answered in pages, and each answer is short.
    func testAnswersOfALargeHistoryAreBounded() async throws {
        let path = try path()
        let history = try TagHistory(path: path)
        let file = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        let first = start.nanoseconds / 1_000_000
        try file.transaction { file throws(TagHistoryError) in
            try file.run(
                """
                WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 50)
                INSERT INTO tag (id, key) SELECT n, 'tag ' || n FROM number
                """)
            try file.run(
                """
                WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 499999)
                INSERT INTO position SELECT 1 + n % 50, \(first) + n / 50 * 5000, 1, 1, n % 37, n % 17, 1,
                    CASE WHEN n % 2 = 0 THEN 'Hall' ELSE 'Kitchen' END, NULL, NULL FROM number
                """)
            try file.run(
                """
                WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 49999)
                INSERT INTO visit SELECT n + 1, 1 + n % 50, 1, 1, 'Hall', \(first) + n / 50 * 50000,
                    \(first) + n / 50 * 50000 + 40000, 0 FROM number
                """)
        }
        // Without the limit of the page's queries, which is a time.
        let reader = try TagHistoryReader(path: path)
        let (all, hour) = (query(nil, 0, 50_000), query(nil, 30_000, 33_600))
        var durations: [(String, Duration)] = []
        func timed<Result>(_ name: String, _ work: () async throws -> Result) async rethrows -> Result {
            let begin = Self.processorTime
            defer { durations.append((name, Self.processorTime - begin)) }
            return try await work()
        }
        let page = try await timed("page") { try await reader.positions(all) }
        XCTAssertEqual(page.count, 10_000)
        let last = try XCTUnwrap(page.last)
        let next = try await timed("next page") { try await reader.positions(all, after: (last.instant, last.tag)) }
        XCTAssertEqual(next.count, 10_000)
        XCTAssertGreaterThan(try XCTUnwrap(next.first).instant, last.instant)
        let thinned = try await timed("an hour by the minute") {
            try await reader.positions(hour, each: .seconds(60))
        }
        // The hour has a part of one more minute, as minutes count from the Unix epoch.
        XCTAssertEqual(thinned.count, 50 * 61)
        var one = all
        one.tag = "tag 7"
        let tag = try await timed("a tag") { try await reader.positions(one) }
        XCTAssertEqual(tag.count, 10_000)
        XCTAssertEqual(Set(tag.map(\.tag)), ["tag 7"])
        let activity = try await timed("activity") { try await reader.activity(all, parts: 100) }
        XCTAssertEqual(activity.positions, 500_000)
        XCTAssertEqual(Set(activity.tags), [50])
        let visits = try await timed("visits of an hour") { try await reader.visits(hour) }
        XCTAssertEqual(visits.count, 50 * 72)
        let dwells = try await timed("dwell") { try await reader.dwells(all) }
        XCTAssertEqual(dwells.count, 50)
        for (name, duration) in durations { print("history of 500,000 positions: \(name) \(duration)") }
        // Generous: a scan of all rows of the debug build takes about a second.
        XCTAssertLessThan(try XCTUnwrap(durations.map(\.1).max()), .seconds(10))
        await history.finish()
    }

    /// The processor time of this process, which other processes don't make longer.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// 25,000 visits of 12,500 tags.
    func testVisitsAndTimesAreReadInPagesWithoutALimit() async throws {
        let path = try path()
        let history = try TagHistory(path: path)
        let file = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        try file.stageVisits(25_000, of: 12_500, from: start)
        let all = query(nil, 0, 100_000)
        var visits: [TagVisit] = []
        repeat {
            visits += try await history.reader.visits(all, after: visits.last?.place)
        } while visits.count.isMultiple(of: all.limit)
        XCTAssertEqual(visits.count, 25_000)
        XCTAssertEqual(Set(visits.map(\.id)).count, 25_000)
        XCTAssertEqual(visits.map(\.start), visits.map(\.start).sorted())
        var dwells: [TagDwell] = []
        repeat {
            dwells += try await history.reader.dwells(all, after: dwells.last?.place)
        } while dwells.count.isMultiple(of: all.limit)
        XCTAssertEqual(Set(dwells.map(\.tag)).count, 12_500)
        XCTAssertEqual(dwells.map(\.visits).reduce(0, +), 25_000)
        XCTAssertEqual(dwells.map(\.time).reduce(.zero, +), .seconds(25_000))
    }

    func testASecondWriterIsRefusedAndReadersAreNot() async throws {
        let path = try path()
        let history = try TagHistory(path: path)
        await history.write(outputs())
        await history.flush()
        let link = path + ".link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        for name in [path, link] {
            XCTAssertThrowsError(try TagHistory(path: name)) { error in
                XCTAssertEqual("\(error)", "\(name): another process writes this history; give each its own file")
            }
            let visits = try await TagHistoryReader(path: name).visits(query())
            XCTAssertEqual(visits.count, 3)
        }
        await history.finish()
        XCTAssertNoThrow(try TagHistory(path: path))
    }

    func testAnotherFileIsRefusedAndNotChanged() async throws {
        let path = try path()
        try Data("no database".utf8).write(to: URL(filePath: path))
        XCTAssertThrowsError(try TagHistory(path: path)) { error in
            XCTAssertTrue("\(error)".contains("it is no history of tags"), "\(error)")
        }
        XCTAssertEqual(try String(contentsOfFile: path, encoding: .utf8), "no database")
        XCTAssertThrowsError(try TagHistory(path: "/proc/none/history.db"))
    }
}

extension SQLiteFile<TagHistoryError> {
    /// Adds visits of a second, each a second after the one before, to an empty history.
    func stageVisits(_ count: Int, of tags: Int, from start: Instant) throws(TagHistoryError) {
        try transaction { file throws(TagHistoryError) in
            try file.run(
                """
                WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(tags))
                INSERT INTO tag (id, key) SELECT n, 'tag ' || n FROM number
                """)
            try file.run(
                """
                WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < \(count - 1))
                INSERT INTO visit SELECT n + 1, 1 + n % \(tags), 1, 1, 'Hall', \(start.nanoseconds / 1_000_000) + n * 1000,
                    \(start.nanoseconds / 1_000_000) + n * 1000 + 1000, 0 FROM number
                """)
        }
    }
}
