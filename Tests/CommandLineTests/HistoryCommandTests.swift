import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import TagTracking
import TagTrackingService
import XCTest
@testable import indoorloc

/// The history of `track`, and the commands that read it.
final class HistoryCommandTests: XCTestCase {
    func testTheHistoryOfADemoIsListedSummedAndExported() throws {
        let folder = try temporaryFolder()
        let history = folder + "/history.db"
        let begun = ContinuousClock.now
        let run = try ServiceProcess(
            [
                "--demo", "--history", history, "--class", "light", "--venue", try FixtureFolder("tags/office").path,
            ], command: "track")
        func entryLines() -> [String] { run.told.filter { $0.contains("\"enterRoom\"") } }
        try run.wait(forLines: "\"enterRoom\"") { entryLines().count > 5 }
        // The first visits last for some seconds.
        let entered = ContinuousClock.now
        try run.wait(forLines: "\"position\"") { entered.duration(to: .now) >= .seconds(10) }
        run.send(SIGTERM)
        XCTAssertEqual(try run.end(), 0, "\(run.errors)")
        let seconds = begun.duration(to: .now).seconds
        let entries = entryLines()
        XCTAssertGreaterThan(entries.count, 5)
        let visits = try Tool.run(["history", "visits", "--csv", history])
        XCTAssertEqual(visits.status, 0, visits.errors)
        let rows = visits.output.split(separator: "\n").map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        XCTAssertEqual(rows.first?.joined(separator: ","), "start,end,room,map,tag,name")
        // Each entry is a visit, and nothing else is.
        XCTAssertEqual(rows.count - 1, entries.count)
        let room = try XCTUnwrap(rows.last?[2])
        let shown = try Tool.run(["history", "visits", "--room", room.lowercased(), history])
        XCTAssertTrue(shown.output.contains("  \(room)  "), shown.output)
        XCTAssertEqual(
            shown.output.split(separator: "\n").count - 1, rows.dropFirst().count { $0[2] == room }, shown.output)
        let dwell = try Tool.run(["history", "dwell", "--csv", history])
        let total = dwell.output.split(separator: "\n").dropFirst().compactMap { $0.split(separator: ",").last }
            .compactMap { Double($0) }.reduce(0, +)
        XCTAssertGreaterThan(total, 10)
        XCTAssertLessThan(total, 50 * seconds)
        let (table, map) = (folder + "/all.csv", folder + "/all.geojson")
        XCTAssertEqual(try Tool.run(["history", "export", "-o", table, history]).status, 0)
        XCTAssertEqual(try Tool.run(["history", "export", "-o", map, history]).status, 0)
        let lines = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n")
        let collection = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: map)))
        let features = try XCTUnwrap((collection as? [String: Any])?["features"] as? [[String: Any]])
        XCTAssertEqual(lines.count - 1, features.count)
        XCTAssertGreaterThan(features.count, 20)
    }

    func testANameIsNoFormulaAndNoLineOfATable() async throws {
        let path = try temporaryFolder() + "/history.db"
        let history = try TagHistory(path: path)
        let now = FleetClock.wallTime
        let room = Room(id: 1, name: "=HALL()", mapID: 1)
        let position = Position(
            instant: now, venueID: 1, mapID: 1, point: MapPoint(x: -2, y: 2), radius: 1, label: room.name)
        let contents: [FleetOutput.Content] = [
            .event(LocalizationEvent(instant: now, venueID: 1, kind: .enterRoom(room))), .position(position),
        ]
        await history.write(
            contents.enumerated().map { number, content in
                FleetOutput(
                    tag: .name("cart"), name: "+1,\nb", epoch: 1, sequence: UInt64(number + 1), instant: now,
                    content: content)
            })
        await history.flush()
        for command in ["visits", "dwell"] {
            let result = try Tool.run(["history", command, "--csv", path])
            let lines = result.output.split(separator: "\n")
            XCTAssertEqual(lines.count, 2, result.output)
            XCTAssertTrue(lines.last?.contains("'=HALL(),") ?? false, result.output)
            XCTAssertTrue(lines.last?.contains("\"'+1, b\"") ?? false, result.output)
        }
        let table = path + ".csv"
        XCTAssertEqual(try Tool.run(["history", "export", "-o", table, path]).status, 0)
        let line = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n").last
        XCTAssertTrue(line?.contains(",-2.000,2.000,1.000,'=HALL(),") ?? false, line.map(String.init) ?? "")
    }

    /// Writes a history in which tags enter the hall, each a millisecond after the one before, and leave it after a
    /// second.
    private func stage(_ path: String, tags: Int) async throws -> TagHistory {
        let history = try TagHistory(path: path)
        let (start, hall) = (FleetClock.wallTime.advanced(by: .seconds(-60)), Room(id: 1, name: "Hall", mapID: 1))
        var outputs: [FleetOutput] = []
        for tag in 0..<tags {
            let enter = start.advanced(by: .milliseconds(tag))
            let exit = enter.advanced(by: .seconds(1))
            let position = Position(
                instant: enter, venueID: 1, mapID: 1, point: MapPoint(x: 1, y: 2), radius: 1, label: "Hall",
                coordinate: tag == 0 ? nil : Coordinate(latitude: 50, longitude: 8))
            let contents: [(FleetOutput.Content, Instant)] = [
                (.event(LocalizationEvent(instant: enter, venueID: 1, kind: .enterRoom(hall))), enter),
                (.position(position), enter),
                (.event(LocalizationEvent(instant: exit, venueID: 1, kind: .exitRoom(hall))), exit),
            ]
            outputs += contents.enumerated().map { number, content in
                FleetOutput(
                    tag: .name("tag \(tag)"), name: nil, epoch: 1, sequence: UInt64(number + 1), instant: content.1,
                    content: content.0)
            }
        }
        await history.write(outputs)
        await history.flush()
        return history
    }

    func testNoVisitTimeOrPositionIsMissingInALongList() async throws {
        let path = try temporaryFolder() + "/history.db"
        let history = try await stage(path, tags: 10_050)
        defer { withExtendedLifetime(history) {} }
        for (command, header) in [("visits", "entry"), ("dwell", "room")] {
            let table = try Tool.run(["history", command, "--csv", path])
            XCTAssertEqual(table.output.split(separator: "\n").count, 1 + 10_050, table.errors)
            let list = try Tool.run(["history", command, path])
            XCTAssertEqual(list.output.split(separator: "\n").count { $0.hasPrefix(header) }, 1)
            XCTAssertTrue(list.output.contains("tag 10049\n") || list.output.contains("tag 10049 "), command)
        }
        let sums = try Tool.run(["history", "dwell", path]).output.split(separator: "\n").last
        XCTAssertEqual(
            sums?.split(separator: " ").map(String.init), ["Hall", "all", "10050", "2:47:30"])
        let (positions, map) = (path + ".csv", path + ".geojson")
        XCTAssertEqual(try Tool.run(["history", "export", "-o", positions, path]).status, 0)
        let lines = try String(contentsOfFile: positions, encoding: .utf8).split(separator: "\n")
        XCTAssertEqual(Set(lines).count, 1 + 10_050)
        let export = try Tool.run(["history", "export", "-o", map, path])
        XCTAssertTrue(export.errors.contains("1 position without a coordinate left out"), export.errors)
        let collection = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: map)))
        XCTAssertEqual(((collection as? [String: Any])?["features"] as? [[String: Any]])?.count, 10_049)
    }

    func testAHistoryIsReadWithoutTheRightToWriteIt() async throws {
        let folder = try temporaryFolder() + "/50%?#"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/history.db"
        var history: TagHistory? = try await stage(path, tags: 3)
        let copy = folder + "/copy.db"
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
        }
        func visits(_ file: String) throws -> Tool.Result {
            XCTAssertEqual(chmod(folder, 0o555), 0)
            defer { chmod(folder, 0o755) }
            // Root writes into every folder; without this capability, it doesn't.
            let wrapper = ["--bounding-set", "-dac_override", "--inh-caps", "-dac_override"]
            let arguments = ["history", "visits", "--csv", file]
            return geteuid() == 0
                ? try Tool.run(wrapper + [try Tool.path()] + arguments, program: "/usr/bin/setpriv")
                : try Tool.run(arguments)
        }
        for end in ["", "-wal", "-shm"] { chmod(path + end, 0o444) }
        let running = try visits(path)
        XCTAssertEqual(running.output.split(separator: "\n").count, 4, running.errors)
        await history?.finish()
        // The last connection to the file removes its journal.
        history = nil
        XCTAssertFalse(FileManager.default.fileExists(atPath: path + "-wal"))
        let ended = try visits(path)
        XCTAssertEqual(ended.output.split(separator: "\n").count, 4, ended.errors)
        // Another program must have left a journal whose index can't be written.
        let copied = try visits(copy)
        XCTAssertEqual(copied.status, 1)
        XCTAssertTrue(
            copied.errors.contains("copy.db: the file can't be read; check the permissions of the file and its folder"),
            copied.errors)
    }

    func testASecondTrackWithTheSameHistoryIsRefused() async throws {
        let path = try temporaryFolder() + "/history.db"
        let history = try await stage(path, tags: 1)
        defer { withExtendedLifetime(history) {} }
        let run = try Tool.run([
            "track", "--demo", "--history", path, "--seconds", "1", "--venue", try FixtureFolder("tags/office").path,
        ])
        XCTAssertEqual(run.status, 1)
        XCTAssertTrue(run.errors.contains("\(path): another process writes this history"), run.errors)
    }

    func testTimesAreThoseOfThisMachineUnlessTheyHaveAZone() throws {
        let noon = try XCTUnwrap(LocalTime.instant("2026-11-28T12:00Z", today: .zero))
        XCTAssertEqual(noon, Instant(seconds: 1_795_867_200))
        XCTAssertEqual(LocalTime.instant("2026-11-28T14:00+02:00", today: .zero), noon)
        // A time without a zone reads back as it is written.
        let local = try XCTUnwrap(LocalTime.instant("2026-11-28 10:15:30", today: .zero))
        XCTAssertEqual(LocalTime.text(local), "2026-11-28 10:15:30")
        XCTAssertEqual(LocalTime.instant("10:15:30", today: local), local)
        XCTAssertEqual(LocalTime.text(.seconds(3_723)), "1:02:03")
        for text in ["", "noon", "10", "25:00", "2026-13-01T10:00", "2026-11-28"] {
            XCTAssertNil(LocalTime.instant(text, today: noon), text)
        }
    }

    func testInvalidFilesAndTimesAreRefused() throws {
        let none = try Tool.run(["history", "visits", "/nowhere/history.db"])
        XCTAssertEqual(none.status, 1)
        XCTAssertTrue(none.errors.contains("there is no such file; 'track --history FILE' writes it"), none.errors)
        let time = try Tool.run(["history", "dwell", "--from", "noon", "x"])
        XCTAssertTrue(time.errors.contains("--from must be a time such as 10:00"), time.errors)
        let turned = try Tool.run(["history", "dwell", "--from", "11:00", "--to", "10:00", "x"])
        XCTAssertTrue(turned.errors.contains("--from must be before --to"), turned.errors)
    }
}
