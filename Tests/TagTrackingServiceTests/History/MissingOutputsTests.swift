import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import SQLiteFiles
import Synchronization
import TagTracking
import TagTrackingService
import TemporaryFiles
import XCTest

/// The history of a fleet when entries and exits are missing, or the file can't be written.
final class MissingOutputsTests: XCTestCase {
    /// What the history reports.
    private final class Reports: Sendable {
        private let content = Mutex<[TagHistory.Report]>([])

        var all: [TagHistory.Report] { content.withLock { $0 } }

        func add(_ report: TagHistory.Report) { content.withLock { $0.append(report) } }
    }

    private static let start = Instant(seconds: 1_795_000_000)
    private let kitchen = Room(id: 1, name: "Kitchen", mapID: 1)
    private let hall = Room(id: 2, name: "Hall", mapID: 1)
    private var sequence: UInt64 = 0

    private func path() throws -> String { try temporaryFolder() + "/history.db" }

    private func at(_ seconds: Double) -> Instant { Self.start.advanced(by: .seconds(seconds)) }

    private func output(_ content: FleetOutput.Content, _ seconds: Double) -> FleetOutput {
        sequence += 1
        return FleetOutput(
            tag: .name("cart"), name: "Cart", epoch: 1, sequence: sequence, instant: at(seconds), content: content)
    }

    private func event(_ kind: LocalizationEvent.Kind, _ seconds: Double) -> FleetOutput {
        output(.event(LocalizationEvent(instant: at(seconds), venueID: 1, kind: kind)), seconds)
    }

    /// Returns positions of each second of a time.
    private func positions(
        _ room: String?, _ from: Double, _ to: Double, at x: Double = 1, rooms: [RoomProbability] = []
    ) -> [FleetOutput] {
        stride(from: from, to: to, by: 1).map { seconds in
            output(
                .position(
                    Position(
                        instant: at(seconds), venueID: 1, mapID: 1, point: MapPoint(x: x, y: 2), radius: 1, label: room,
                        rooms: rooms)), seconds)
        }
    }

    /// Returns the stored visits, each as room, start, end and whether it is open.
    private func visits(_ history: TagHistory, at now: Double) async throws -> [String] {
        await history.flush()
        let query = TagHistoryQuery(from: at(-1), to: at(10_000))
        return try await history.reader.visits(query, at: at(now)).map { visit in
            let (start, end) = (Self.start.duration(to: visit.start), Self.start.duration(to: visit.end))
            return "\(visit.room) \(Int(start.seconds))-\(visit.isOpen ? "now" : "\(Int(end.seconds))")"
        }
    }

    /// Writes the file of a program that was killed while the tag was in the kitchen, from 0 s to 19 s.
    private func killed(_ path: String) async throws {
        let history = try TagHistory(path: path)
        await history.write([output(.present, 0), event(.enterRoom(kitchen), 0)] + positions("Kitchen", 1, 20))
        await history.finish()
    }

    func testATagThatMovesWhileNoProgramRunsIsInOneRoom() async throws {
        let path = try path()
        try await killed(path)
        let history = try TagHistory(path: path)
        await history.write(
            [output(.present, 40)] + positions("Hall", 40, 42) + [event(.enterRoom(hall), 42)]
                + positions("Hall", 43, 80))
        let visits = try await visits(history, at: 80)
        XCTAssertEqual(visits, ["Kitchen 0-19", "Hall 42-now"])
    }

    func testAVisitFollowsThePositionsIfItsEntryHasNoEvent() async throws {
        let history = try TagHistory(path: path())
        // A state that is older than the history has the tag in the kitchen already.
        await history.write(positions("Kitchen", 0, 30))
        let inside = try await visits(history, at: 30)
        XCTAssertEqual(inside, ["Kitchen 0-now"])
        await history.write(positions(nil, 30, 35) + positions("Kitchen", 35, 50))
        let behind = try await visits(history, at: 50)
        XCTAssertEqual(behind, ["Kitchen 0-now"], "a few positions behind the wall")
        await history.write([event(.exitRoom(kitchen), 51)] + positions(nil, 52, 80))
        let outside = try await visits(history, at: 80)
        XCTAssertEqual(outside, ["Kitchen 0-51"])
    }

    func testARoomWithAnotherNameReplacesTheEarlierOne() async throws {
        let path = try path()
        try await killed(path)
        let history = try TagHistory(path: path)
        await history.write(positions("Canteen", 25, 60))
        let visits = try await visits(history, at: 60)
        XCTAssertEqual(visits, ["Kitchen 0-19", "Canteen 25-now"])
    }

    func testATagNearTheWallOfItsRoomBeginsNoVisitNextDoor() async throws {
        let path = try path()
        try await killed(path)
        let history = try TagHistory(path: path)
        let rooms = [
            RoomProbability(id: 2, name: "Hall", probability: 0.6),
            RoomProbability(id: 1, name: "Kitchen", probability: 0.4),
        ]
        await history.write(positions("Hall", 20, 60, rooms: rooms))
        let visits = try await visits(history, at: 60)
        XCTAssertEqual(visits, ["Kitchen 0-now"])
    }

    func testRoomsThatOverlapKeepTheirVisitsAfterARestart() async throws {
        let path = try path()
        func area(_ width: Double) -> Area {
            .polygon([
                MapPoint(x: 0, y: 0), MapPoint(x: width, y: 0), MapPoint(x: width, y: 5), MapPoint(x: 0, y: 5),
            ])
        }
        let floor = Room(id: 3, name: "Floor", mapID: 1, area: area(20))
        let rooms = [Room(id: 1, name: "Kitchen", mapID: 1, area: area(5)), floor]
        let first = try TagHistory(path: path, rooms: rooms)
        await first.write(
            [event(.enterRoom(rooms[0]), 0), event(.enterRoom(floor), 0)] + positions("Kitchen", 1, 20))
        await first.finish()
        let second = try TagHistory(path: path, rooms: rooms)
        await second.write(positions("Kitchen", 20, 40) + positions("Floor", 40, 60, at: 10))
        let visits = try await visits(second, at: 60)
        XCTAssertEqual(visits.sorted(), ["Floor 0-now", "Kitchen 0-39"])
    }

    func testOutputsWaitWhileTheFileIsLocked() async throws {
        let (path, reports) = (try path(), Reports())
        let history = try TagHistory(path: path, waiting: .zero) { reports.add($0) }
        await history.write([event(.enterRoom(kitchen), 0)] + positions("Kitchen", 1, 20))
        await history.flush()
        let other = try SQLiteFile<TagHistoryError>(path: path, waiting: .zero)
        try other.run("BEGIN IMMEDIATE")
        await history.write([event(.exitRoom(kitchen), 20), event(.enterRoom(hall), 20)] + positions("Hall", 21, 30))
        await history.flush()
        await history.write(positions("Hall", 30, 40))
        await history.flush()
        try other.run("ROLLBACK")
        let visits = try await visits(history, at: 40)
        XCTAssertEqual(visits, ["Kitchen 0-20", "Hall 20-now"])
        let found = reports.all
        XCTAssertEqual(found.count, 2, "\(found)")
        guard case .unwritten(let error) = found.first else { return XCTFail("\(found)") }
        XCTAssertEqual(error.reason, .sqlite(.busy))
        XCTAssertEqual(found.last, .written)
    }

    func testOutputsAreWrittenWhileOldOnesCannotBeDeleted() async throws {
        let (path, reports) = (try path(), Reports())
        let settings = TagHistory.Settings(age: .seconds(10))
        let moment = DeviceMoment(clock: Self.start.seconds + 300, boot: "a", uptime: 36_000)
        let history = try TagHistory(
            path: path, settings: settings, waiting: .zero, report: { reports.add($0) }, now: { moment })
        let other = try SQLiteFile<TagHistoryError>(path: path, waiting: .zero)
        try other.run(
            "CREATE TRIGGER keep BEFORE DELETE ON position BEGIN SELECT RAISE(ABORT, 'positions are kept'); END")
        await history.write(positions("Hall", 0, 5) + positions("Hall", 60, 65))
        await history.flush()
        guard case .unpruned(let error) = reports.all.first else { return XCTFail("\(reports.all)") }
        XCTAssertTrue("\(error)".contains("positions are kept"), "\(error)")
        await history.write(positions("Hall", 65, 70))
        await history.finish()
        XCTAssertEqual(reports.all.count, 1, "\(reports.all)")
        let visits = try await visits(history, at: 70)
        XCTAssertEqual(visits, ["Hall 0-now"])
    }

    func testAfterALossOfOutputsTheVisitsFollowThePositions() async throws {
        let (path, reports) = (try path(), Reports())
        let history = try TagHistory(path: path, mostWaiting: 10, waiting: .zero) { reports.add($0) }
        await history.write([event(.enterRoom(kitchen), 0)] + positions("Kitchen", 1, 20))
        await history.flush()
        let other = try SQLiteFile<TagHistoryError>(path: path, waiting: .zero)
        try other.run("BEGIN IMMEDIATE")
        await history.write(positions("Kitchen", 20, 30))
        await history.flush()
        await history.write([event(.exitRoom(kitchen), 30)])
        await history.write([event(.enterRoom(hall), 30)])
        try other.run("ROLLBACK")
        await history.flush()
        await history.write(positions("Hall", 31, 60))
        let visits = try await visits(history, at: 60)
        XCTAssertEqual(visits, ["Kitchen 0-29", "Hall 31-now"])
        let found = Array(reports.all.dropFirst())
        XCTAssertEqual(found.first, .written)
        // Outputs that are lost while the history tries to write are reported apart from those before.
        let losses = found.dropFirst().map { if case .lost(let count) = $0 { count } else { 0 } }
        XCTAssertTrue(losses.allSatisfy { $0 > 0 }, "\(found)")
        XCTAssertEqual(losses.reduce(0, +), 2, "\(found)")
        // What still waits at the end is lost.
        try other.run("BEGIN IMMEDIATE")
        await history.write(positions("Hall", 60, 65))
        await history.finish()
        XCTAssertEqual(reports.all.last, .lost(5))
    }

    func testTheLossAtTheEndIncludesOutputsThatFoundNoPlace() async throws {
        let (path, reports) = (try path(), Reports())
        let history = try TagHistory(path: path, mostWaiting: 10, waiting: .zero) { reports.add($0) }
        let other = try SQLiteFile<TagHistoryError>(path: path, waiting: .zero)
        try other.run("BEGIN IMMEDIATE")
        await history.write(positions("Hall", 0, 12))
        await history.write(positions("Hall", 12, 15))
        await history.finish()
        XCTAssertEqual(reports.all.last, .lost(15))
    }

    func testALockedFileDoesNotDelayTheFleet() async throws {
        let (path, reports) = (try path(), Reports())
        let history = try TagHistory(path: path, waiting: Bounded.longest) { reports.add($0) }
        let other = try SQLiteFile<TagHistoryError>(path: path, waiting: .zero)
        try other.run("BEGIN IMMEDIATE")
        // The calls return before the lock ends; otherwise they would wait and report it.
        await history.write([event(.enterRoom(kitchen), 0)])
        await history.use(register: TagRegister(), removing: [.name("keys")])
        await history.write(positions("Kitchen", 1, 20))
        try other.run("ROLLBACK")
        let visits = try await visits(history, at: 20)
        XCTAssertEqual(visits, ["Kitchen 0-now"])
        XCTAssertEqual(reports.all, [])
    }
}
