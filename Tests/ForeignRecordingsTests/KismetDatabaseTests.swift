import ForeignRecordings
import Foundation
import IndoorLocalization
import SQLiteFiles
import XCTest

/// Logs of Kismet that a test creates, and their errors.
final class KismetDatabaseTests: XCTestCase {
    private struct Failure: SQLiteFileError {
        var message: String

        init(sqlite reason: SQLiteReason, path: String, message: String, code: Int) { self.message = message }
    }

    /// ADV_NONCONN_IND with flags.
    private static let packet: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E, 0x42, 9, 1, 0, 0, 0, 0, 0xC0, 2, 1, 6, 84, 178, 156]

    /// Creates a log; `columns` are those of the table of reports.
    private func log(
        _ columns: String = "ts_sec INT, ts_usec INT, type TEXT, json BLOB, signal INT",
        _ fill: (SQLiteFile<Failure>) throws -> Void
    ) throws -> String {
        let path = try temporaryFile("log.kismet", [])
        let file = try SQLiteFile<Failure>(path: path, waiting: .seconds(1))
        try file.run("CREATE TABLE devices (last_time INT, device BLOB)")
        try file.run(
            "CREATE TABLE packets (ts_sec INT, ts_usec INT, phyname TEXT, signal INT, dlt INT, packet BLOB, error INT)")
        try file.run("CREATE TABLE data (\(columns))")
        try fill(file)
        return path
    }

    private func add(
        _ packet: [UInt8], at second: Int64 = 1_767_225_600, signal: Int64 = -60, to file: SQLiteFile<Failure>
    ) throws {
        try file.run(
            "INSERT INTO packets VALUES (?, 0, 'BTLE', ?, 251, ?, 0)",
            [.integer(second), .integer(signal), .blob(packet)])
    }

    private func description(_ path: String) throws -> String? {
        do {
            _ = try ForeignFixture.read(path)
            return nil
        } catch { return "\(error)".replacingOccurrences(of: path, with: "log") }
    }

    func testMoreRowsThanAPageAreReadInTheOrderOfTheirTimes() throws {
        let path = try log { file in
            for index in 0..<200 as Range<Int64> {
                // Kismet may write a packet some seconds after a later one.
                try add(Self.packet, at: 1_767_225_600 + (index ^ 3), signal: -index % 50 - 40, to: file)
                try file.run(
                    "INSERT INTO data VALUES (?, 500000, 'linuxbthci', ?, -70)",
                    [.integer(1_767_225_600 + index), .text("{\"addr\":\"C0:00:00:00:00:02\",\"type\":1}")])
            }
        }
        let file = try ForeignFixture.read(path)
        XCTAssertEqual(file.entries.compactMap { $0.instant?.seconds }, (0..<400).map { Double($0) / 2 })
        XCTAssertEqual(file.tally.records, 400)
    }

    func testReportsOfAnOlderLogHaveTheirOwnSignalOrNone() throws {
        let path = try log("ts_sec INT, ts_usec INT, type TEXT, json BLOB") { file in
            for (type, json) in [
                ("BLUETOOTHSCAN", "{\"btaddr\":\"C0:00:00:00:00:01\",\"signal\":-65,\"devicetype\":\"BTLE\"}"),
                ("BLUETOOTHSCAN", "{\"btaddr\":\"C0:00:00:00:00:02\",\"signal\":-65,\"devicetype\":\"BR/EDR\"}"),
                ("linuxbthci", "{\"addr\":\"C0:00:00:00:00:03\",\"type\":1}"),
            ] {
                try file.run("INSERT INTO data VALUES (1767225600, 0, ?, ?)", [.text(type), .blob(Array(json.utf8))])
            }
        }
        let file = try ForeignFixture.read(path)
        XCTAssertEqual(file.entries.count, 1)
        XCTAssertEqual(file.tally.ignored, ["devices of BR/EDR": 1, "reports without a signal strength": 1])
    }

    func testAPacketWithoutSignalIsLeftOut() throws {
        let path = try log { file in
            try add(Self.packet, signal: 0, to: file)
            try add(Self.packet, to: file)
        }
        let file = try ForeignFixture.read(path)
        XCTAssertEqual(file.entries.count, 1)
        XCTAssertEqual(file.tally.ignored, ["packets without a signal strength": 1])
    }

    func testAnErrorOfARowStatesItsTableAndNumber() throws {
        let path = try log { file in
            try add(Self.packet, to: file)
            try add([1, 2, 3], to: file)
            try add(Self.packet, at: 5, to: file)
        }
        let late =
            "log: row 3 of packets: field `time` is missing: expected a packet with a valid time. Add it, or read "
            + "leniently to skip such rows."
        XCTAssertEqual(try description(path), late)
        let file = try ForeignFixture.read(path, strictness: .lenient)
        XCTAssertEqual(file.entries.count, 1)
        XCTAssertEqual(file.tally.skippedRecords, 1)
        XCTAssertEqual(file.tally.ignored, ["damaged packets": 1])
        XCTAssertEqual(
            file.tally.errors.map { $0.description.replacingOccurrences(of: path, with: "log") }, [late])
        let reports = try log { file in
            try file.run("INSERT INTO data VALUES (1767225600, 0, 'linuxbthci', '{\"addr\":\"x\",\"type\":1}', -60)")
        }
        XCTAssertEqual(
            try description(reports),
            "log: row 1 of data: field `addr` is \"x\"; expected six hexadecimal pairs with colons. Correct the value, "
                + "or read leniently to skip such rows.")
    }

    func testADatabaseOfAnotherProgramAndADamagedOneAreRefused() throws {
        let path = try temporaryFile("other.db", [])
        try SQLiteFile<Failure>(path: path, waiting: .seconds(1)).run("CREATE TABLE packets (x INT)")
        XCTAssertEqual(
            try description(path),
            "log: the file is a database of SQLite, but not a log of Kismet. Convert a .kismet file, or a CSV export of "
                + "the database.")
        let empty = try log { _ in }
        XCTAssertEqual(
            try description(empty),
            "log: the file is empty. Check that the program that writes the file has written it.")
        // The pages after the first.
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: ForeignFixture.path("walk.kismet"))))
        for index in 512..<bytes.count { bytes[index] = 0xA5 }
        let damaged = try temporaryFile("damaged.kismet", bytes)
        XCTAssertTrue(try description(damaged)?.contains("is malformed: the database is damaged") == true)
    }

    func testReadingChangesNoFile() throws {
        let path = try log { file in try add(Self.packet, to: file) }
        let before = try Data(contentsOf: URL(filePath: path))
        _ = try ForeignFixture.read(path)
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), before)
        let folder = URL(filePath: path).deletingLastPathComponent().path
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["log.kismet"])
    }
}

/// Bug reports of Android, and their errors.
final class BTSnoozTests: XCTestCase {
    private func report() throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: ForeignFixture.path("bugreport.txt"))), as: UTF8.self)
    }

    /// The first lines of both sections.
    private func section(_ text: String, replacingIn line: Int, _ change: (String) -> String) -> String {
        var lines = text.components(separatedBy: "\n")
        lines[line] = change(lines[line])
        return lines.joined(separator: "\n")
    }

    func testAReportWithoutItsSectionSaysHowToGetOne() throws {
        XCTAssertEqual(
            try failure("== dumpstate: 2026-01-01\nBluetooth Status\n", as: .btsnooz),
            "file: the file has no packets of Bluetooth: it has no section BTSNOOP_LOG_SUMMARY. Take the bug report while "
                + "Bluetooth is on, or convert btsnoop_hci.log of its archive.")
    }

    func testADamagedSectionIsAnErrorWithItsLine() throws {
        let text = try report()
        let lines = text.components(separatedBy: "\n")
        let begin = try XCTUnwrap(lines.firstIndex { $0.hasPrefix("--- BEGIN") })
        let end = try XCTUnwrap(lines.firstIndex { $0.hasPrefix("--- END") })
        func failure(_ line: Int, _ change: (String) -> String) throws -> String {
            try self.failure(section(text, replacingIn: line, change), as: .btsnooz) ?? ""
        }
        let place = "file:\(end + 1): field `BTSNOOP_LOG_SUMMARY` "
        XCTAssertTrue(
            try failure(begin + 1) { "!" + $0.dropFirst() }.hasPrefix(place + "is malformed: expected Base64"))
        // The version is the first byte.
        XCTAssertTrue(try failure(begin + 1) { "Aw" + $0.dropFirst(2) }.hasPrefix(place + "has version 3"))
        let wrong = try failure(end - 1) { String($0.dropLast(4)) + "AAAA" }
        XCTAssertTrue(wrong.hasPrefix(place + "is malformed: the checksum"), wrong)
        // A section without its end. Without that of the first section, the second one begins again.
        let cut = lines[...(end - 1)].joined(separator: "\n")
        XCTAssertTrue(
            try self.failure(cut, as: .btsnooz)?.contains("the file ends within the section") == true)
    }

    func testALenientReaderReadsTheOtherSection() throws {
        let text = try report()
        let lines = text.components(separatedBy: "\n")
        let begin = try XCTUnwrap(lines.firstIndex { $0.hasPrefix("--- BEGIN") })
        let path = try temporaryFile("report.txt", Array(section(text, replacingIn: begin + 1) { "!" + $0 }.utf8))
        let file = try ForeignFixture.read(path, strictness: .lenient)
        XCTAssertEqual(file.tally.skippedRecords, 1)
        let walk = try ForeignFixture.sightings().count
        XCTAssertTrue((walk / 2 - 2...walk / 2 + 2).contains(file.entries.count), "\(file.entries.count)")
    }
}
