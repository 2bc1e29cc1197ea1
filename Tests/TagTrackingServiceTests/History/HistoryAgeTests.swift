import Foundation
import IndoorLocalization
import SQLiteFiles
import TagTracking
import TagTrackingService
import TemporaryFiles
import XCTest

/// The age of a history's rows when the clock is set. Days count from the same one.
final class HistoryAgeTests: XCTestCase {
    private static let start = 1_795_000_000.0
    private static let day = 86_400.0
    /// The day of a clock that is a year ahead.
    private static let year = 365.0

    private func path() throws -> String { try temporaryFolder() + "/history.db" }

    /// Returns the moment of a machine whose clock shows a day.
    private func moment(_ day: Double, boot: String = "a", uptime: Double) -> DeviceMoment {
        DeviceMoment(clock: Self.start + day * Self.day, boot: boot, uptime: uptime)
    }

    /// Writes a visit with a position at a moment, as one run of the program does, and returns the days of all positions.
    @discardableResult private func run(
        _ path: String, at moment: DeviceMoment, days: Double? = 30
    ) async throws -> [Int] {
        let age = days.map { Duration.seconds($0 * Self.day) }
        let history = try TagHistory(path: path, settings: .init(age: age), now: { moment })
        let instant = Instant(seconds: moment.clock)
        let room = Room(id: 1, name: "Hall", mapID: 1)
        let position = Position(
            instant: instant, venueID: 1, mapID: 1, point: MapPoint(x: 1, y: 2), radius: 1, label: "Hall")
        let contents: [FleetOutput.Content] = [
            .event(LocalizationEvent(instant: instant, venueID: 1, kind: .enterRoom(room))), .position(position), .away,
        ]
        await history.write(
            contents.map { content in
                FleetOutput(tag: .name("cart"), epoch: 1, sequence: 1, instant: instant, content: content)
            })
        await history.finish()
        let all = TagHistoryQuery(from: .zero, to: Instant(seconds: 9e9))
        func dayNumber(_ instant: Instant) -> Int { Int(((instant.seconds - Self.start) / Self.day).rounded()) }
        let positions = try await history.reader.positions(all).map { dayNumber($0.instant) }
        let visits = try await history.reader.visits(all).map { dayNumber($0.end) }
        XCTAssertEqual(visits, positions, "visits age as positions do")
        return positions
    }

    /// The program starts again each day.
    func testAClockThatIsSetForwardByAYearDeletesNothingAndTimeThatPassesDoes() async throws {
        let path = try path()
        var now = moment(0, uptime: 1_000)
        func pass(_ days: Double) {
            now.clock += days * Self.day
            now.uptime += days * Self.day
        }
        for _ in 1...5 {
            pass(1)
            try await run(path, at: now)
        }
        now.clock += Self.year * Self.day
        for _ in 6...9 {
            pass(1)
            try await run(path, at: now)
        }
        pass(1)
        let ahead = try await run(path, at: now)
        XCTAssertEqual(ahead, [1, 2, 3, 4, 5, 371, 372, 373, 374, 375])
        pass(22.5)
        let later = try await run(path, at: now)
        XCTAssertEqual(
            later, [3, 4, 5, 371, 372, 373, 374, 375, 398], "on day 32.5, two days are more than 30 days ago")
    }

    func testAWrongClockAfterARestartDeletesNothingUntilNTPSetsIt() async throws {
        let path = try path()
        for day in [1.0, 10, 20, 29] { try await run(path, at: moment(day, uptime: 1_000 + day * Self.day)) }
        // Twice, because the program starts again.
        try await run(path, at: moment(29 + Self.year, boot: "b", uptime: 60))
        let wrong = try await run(path, at: moment(30 + Self.year, boot: "b", uptime: 120))
        XCTAssertEqual(wrong, [1, 10, 20, 29, 394, 395])
        let right = try await run(path, at: moment(30, boot: "b", uptime: 700))
        XCTAssertEqual(right, [1, 10, 20, 29, 30, 394, 395])
        let later = try await run(path, at: moment(41, boot: "b", uptime: 700 + 11 * Self.day))
        XCTAssertEqual(later, [20, 29, 30, 41, 394, 395])
    }

    func testARestartAgesRowsByTheClockButByAtMostHalfOfTheLimit() async throws {
        for (off, kept) in [(2.0, [0, 10, 20]), (12, [10, 20]), (Self.year, [10, 20])] {
            let path = try path()
            for day in [0.0, 10, 20] { try await run(path, at: moment(day, uptime: 1_000 + day * Self.day)) }
            let found = try await run(path, at: moment(20 + off, boot: "b", uptime: 1_000))
            XCTAssertEqual(found, kept + [20 + Int(off)], "off for \(off) days")
        }
    }

    /// A systemd unit with `ProcSubset=pid` hides the identifier of the machine's run.
    func testWithoutTheIdentifierOfTheRunTheUptimeTellsARestart() async throws {
        let path = try path()
        for day in [1.0, 2, 3, 4] { try await run(path, at: moment(day, boot: "", uptime: day * Self.day)) }
        for day in [5.0, 6, 7] {
            try await run(path, at: moment(day + Self.year, boot: "", uptime: day * Self.day))
        }
        let ahead = try await run(path, at: moment(8 + Self.year, boot: "", uptime: 8 * Self.day))
        XCTAssertEqual(ahead, [1, 2, 3, 4, 370, 371, 372, 373])
        // The clock is right again, and the machine was off until day 20.
        let right = try await run(path, at: moment(20, boot: "", uptime: 1_000))
        XCTAssertEqual(right, [1, 2, 3, 4, 20, 370, 371, 372, 373])
        let later = try await run(path, at: moment(33.5, boot: "", uptime: 1_000 + 13.5 * Self.day))
        XCTAssertEqual(later, [4, 20, 34, 370, 371, 372, 373])
    }

    func testAFileOfAnEarlierVersionAgesFromItsLatestRow() async throws {
        let path = try path()
        // Without a limit, a history writes what an earlier version wrote.
        for day in [10.0, 20] { try await run(path, at: moment(day, uptime: 1_000), days: nil) }
        let file = try SQLiteFile<TagHistoryError>(path: path, waiting: .seconds(5))
        let clocks = "SELECT count(*) FROM sqlite_master WHERE name = 'clock'"
        XCTAssertEqual(try file.number(clocks), 0)
        let wrong = try await run(path, at: moment(20 + Self.year, uptime: 1_000))
        XCTAssertEqual(wrong, [10, 20, 385])
        XCTAssertEqual(try file.number(clocks), 1)
        XCTAssertEqual(try file.number("PRAGMA user_version"), 1, "an earlier version can open the file again")
        let later = try await run(path, at: moment(26 + Self.year, uptime: 1_000 + 6 * Self.day))
        XCTAssertEqual(later, [20, 385, 391], "after 15 days for a restart and 6 that passed")
    }

    func testOldRowsAreDeletedAlthoughTheClockWasYearsBehindWhenTheFileBegan() async throws {
        let path = try path()
        try await run(path, at: moment(-2_000, uptime: 1_000))
        for day in [1.0, 29] { try await run(path, at: moment(day, uptime: 1_000 + day * Self.day)) }
        let begun = try await run(path, at: moment(35, uptime: 1_000 + 35 * Self.day))
        XCTAssertEqual(begun, [1, 29, 35])
        // From now on, the oldest row has the right time.
        try await run(path, at: moment(36, uptime: 1_000 + 36 * Self.day))
        let later = try await run(path, at: moment(67, uptime: 1_000 + 67 * Self.day))
        XCTAssertEqual(later, [29, 35, 36, 67])
    }
}
