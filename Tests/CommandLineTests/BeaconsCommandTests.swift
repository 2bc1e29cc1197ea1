import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import VenuePackets
import XCTest
@testable import indoorloc

/// The history of beacons: its file, the sessions that write it, and the command that reads it.
final class BeaconsCommandTests: XCTestCase {
    private static let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)
    private static let cell = BeaconLevels.Cell(looks: 5, heard: 4, readings: 4, sum: -12)

    private static func levels(_ cell: BeaconLevels.Cell = cell, version: Int = 1) -> VenueLevels {
        let place = BeaconLevels.Place(mapID: 2, column: -1, row: 7)
        return VenueLevels(
            venueID: 9, version: version,
            levels: BeaconLevels(cells: [BeaconLevels.Key(beacon: beacon, place: place): cell]))
    }

    // MARK: - File

    func testAFileReturnsWhatSessionsHaveAdded() async throws {
        let path = try temporaryFolder() + "/beacons.db"
        do {
            let file = try BeaconHistoryFile(path: path)
            try await file.add(Self.levels(), day: 10)
            try await file.add(Self.levels(), day: 10)
        }
        let file = try BeaconHistoryFile(path: path)
        try await file.add(Self.levels(), day: 11)
        try await file.add(Self.levels(version: 2), day: 11)
        let cells = try await file.history(of: 9, version: 1).cells(of: Self.beacon)
        XCTAssertEqual(cells.map(\.key.day), [10, 11])
        XCTAssertEqual(cells.map(\.key.place), Array(repeating: .init(mapID: 2, column: -1, row: 7), count: 2))
        XCTAssertEqual(cells.map(\.cell.sum), [-24, -12])
        XCTAssertEqual(cells.map(\.cell.looks), [10, 5])
        let versions = try await file.versions(of: 9)
        XCTAssertEqual(versions, [1, 2])
        let other = try await file.history(of: 8, version: 1)
        XCTAssertTrue(other.isEmpty)
        try await file.forget(Self.beacon, of: 9)
        let rest = try await file.history(of: 9, version: 1)
        XCTAssertTrue(rest.isEmpty)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
    }

    func testAFileKeepsTheLatestDaysAndVersions() async throws {
        let file = try BeaconHistoryFile(path: try temporaryFolder() + "/beacons.db")
        for day in 0..<100 { try await file.add(Self.levels(), day: day) }
        let days = try await file.history(of: 9, version: 1).knownDays
        XCTAssertEqual(days, Array(8..<100))
        // The version that is written, and those with the most days.
        for version in 2...5 { try await file.add(Self.levels(version: version), day: 100) }
        let versions = try await file.versions(of: 9)
        XCTAssertEqual(versions, [1, 4, 5])
    }

    func testSeveralDaysAreAddedCompletelyOrNotAtAll() async throws {
        let file = try BeaconHistoryFile(path: try temporaryFolder() + "/beacons.db")
        let invalid = BeaconLevels.Cell(looks: 5, heard: 4, readings: 4, sum: .nan)
        do throws(BeaconHistoryFileError) {
            try await file.add([(Self.levels(), 1), (Self.levels(invalid), 2)])
            XCTFail("a sum that is not a number was written")
        } catch {}
        let history = try await file.history(of: 9, version: 1)
        XCTAssertTrue(history.isEmpty)
        try await file.add([(Self.levels(), 1), (Self.levels(), 2)])
        let days = try await file.history(of: 9, version: 1).knownDays
        XCTAssertEqual(days, [1, 2])
    }

    func testDaysOfAWrongClockAreLeftOutAndImpossibleOnesAreRefused() async throws {
        let file = try BeaconHistoryFile(path: try temporaryFolder() + "/beacons.db")
        for day in [20_000, 20_001, 40_000] { try await file.add(Self.levels(), day: day) }
        let days = try await file.history(of: 9, version: 1, until: 20_001).knownDays
        XCTAssertEqual(days, [20_000, 20_001])
        try await file.add(Self.levels(), day: 1_000_000_000)
        do throws(BeaconHistoryFileError) {
            _ = try await file.history(of: 9, version: 1)
            XCTFail("a day in the year 2,739,877 was read")
        } catch { XCTAssertEqual(error.reason, .damaged) }
    }

    func testADamagedFileIsKeptAside() async throws {
        let path = try temporaryFolder() + "/beacons.db"
        do {
            let file = try BeaconHistoryFile(path: path)
            for day in 0..<60 { try await file.add(Self.levels(), day: day) }
        }
        var bytes = try Data(contentsOf: URL(filePath: path))
        for index in 4096..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 37) }
        try bytes.write(to: URL(filePath: path))
        XCTAssertThrowsError(try BeaconHistoryFile(path: path)) { error in
            XCTAssertEqual((error as? BeaconHistoryFileError)?.reason, .damaged, "\(error)")
        }
        do {
            let file = try BeaconHistoryFile.opened(path)
            try await file.add(Self.levels(), day: 1)
        }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path + ".unusable")), bytes)
        // A second one has a name of its own.
        try FileManager.default.removeItem(atPath: path)
        var others = bytes
        others[bytes.count - 1] ^= 1
        try others.write(to: URL(filePath: path))
        _ = try BeaconHistoryFile.opened(path)
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path + ".unusable")), bytes)
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path + ".unusable-2")), others)
    }

    func testAFileOfAnotherKindIsRefusedAndUnchanged() throws {
        let path = try temporaryFolder() + "/notes.txt"
        let text = Data("Buy batteries.\n".utf8)
        try text.write(to: URL(filePath: path))
        XCTAssertThrowsError(try BeaconHistoryFile.opened(path)) { error in
            XCTAssertEqual((error as? BeaconHistoryFileError)?.reason, .foreign, "\(error)")
        }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), text)
    }

    // MARK: - Sessions

    func testASessionAddsTheLevelsOfItsWalk() async throws {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let document = try Data(contentsOf: URL(filePath: FixtureFolder("office/paths").file("track-ground.json")))
        let walk = try WalkSimulator(venue: venue, script: WalkScript(json: document), seed: 5)
        let localizer = Localizer(source: walk, venues: VenueLibrary([venue]))
        let path = try temporaryFolder() + "/beacons.db"
        let companion = BeaconHistoryCompanion(try BeaconHistoryFile(path: path), today: { 123 })
        await LiveSession.follow(localizer, companions: [companion]) { _ in }
        let history = try await BeaconHistoryFile(path: path).history(of: venue.id, version: venue.version)
        XCTAssertEqual(history.knownDays, [123])
        let cells = history.beacons.flatMap { history.cells(of: $0) }
        XCTAssertGreaterThan(history.beacons.count { !history.cells(of: $0).allSatisfy { $0.cell.readings == 0 } }, 5)
        // A walk of a minute has at most one independent look each 2 s.
        XCTAssertGreaterThan(cells.reduce(0) { $0 + $1.cell.readings }, 50)
        for (_, cell) in cells { XCTAssertLessThan(cell.looks, 40) }
    }

    /// A history of 50 days in which the beacon fades by 0.1 dB a day, beside seven others.
    private static func fading(_ file: BeaconHistoryFile, version: Int) async throws {
        for day in 0..<50 {
            var levels = BeaconLevels()
            for minor in 4..<12 as Range<UInt16> {
                for column in 0..<3 as Range<Int32> {
                    let key = BeaconLevels.Key(
                        beacon: BeaconIdentity(uuid: beacon.uuid, major: 3, minor: minor),
                        place: BeaconLevels.Place(mapID: 1, column: column, row: 0))
                    let level = (minor == 4 ? -0.1 * Double(day) : 0) + Double((day + Int(minor)) % 3 - 1) / 4
                    levels.cells[key] = BeaconLevels.Cell(looks: 9, heard: 8, readings: 8, sum: 8 * level)
                }
            }
            try await file.add(VenueLevels(venueID: 9, version: version, levels: levels), day: 20_000 + day)
        }
    }

    func testAFileRemembersWhatIsFollowed() async throws {
        let path = try temporaryFolder() + "/beacons.db"
        let file = try BeaconHistoryFile(path: path)
        try await Self.fading(file, version: 1)
        let followed = try await file.follow(9, version: 1)
        XCTAssertEqual(Set(followed.corrections.keys), [Self.beacon])
        XCTAssertEqual(try XCTUnwrap(followed.corrections[Self.beacon]), -4.3, accuracy: 0.5)
        let other = try BeaconHistoryFile(path: path)
        let (again, known) = (try await other.follow(9, version: 1), try await other.following(of: 9, version: 1))
        XCTAssertEqual(again, followed, "the same history again changes nothing")
        XCTAssertEqual(known, followed)
        let edition = try await other.following(of: 9, version: 2)
        XCTAssertEqual(edition.corrections, [:], "another version expects other levels")
        try await other.forget(Self.beacon, of: 9)
        let rest = try await other.following(of: 9, version: 1)
        XCTAssertEqual(rest.corrections, [:])
    }

    func testACorrectedSessionAddsTheLevelsOfThePacket() async throws {
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let folder = try temporaryFolder()
        let corrections = venue.usable(Dictionary(uniqueKeysWithValues: venue.beacons.map { ($0.identity, -5) }))
        XCTAssertFalse(corrections.isEmpty)
        var means: [Double] = []
        for isCorrected in [false, true] {
            let path = folder + "/\(isCorrected).db"
            let one = corrections.min { $0.key < $1.key }.map { [$0.key: $0.value] } ?? [:]
            let used = isCorrected ? venue.corrected(by: one) : venue
            let document = try Data(contentsOf: URL(filePath: FixtureFolder("office/paths").file("track-ground.json")))
            let walk = try WalkSimulator(venue: venue, script: WalkScript(json: document), seed: 5)
            let localizer = Localizer(source: walk, venues: VenueLibrary([used]))
            let companion = BeaconHistoryCompanion(
                try BeaconHistoryFile(path: path), drift: isCorrected ? FollowedDrift(one, of: venue) : FollowedDrift(),
                today: { 123 })
            await LiveSession.follow(localizer, companions: [companion]) { _ in }
            let history = try await BeaconHistoryFile(path: path).history(of: venue.id, version: venue.version)
            let cells = one.keys.flatMap { history.cells(of: $0) }
            let readings = cells.reduce(0) { $0 + $1.cell.readings }
            means.append(cells.reduce(0) { $0 + $1.cell.sum } / readings)
        }
        print("levels of the packet: \(means)")
        // A level relative to the corrected venue would be higher by 5 dB.
        XCTAssertEqual(means[0], means[1], accuracy: 2)
    }

    func testFollowingNeedsAHistory() throws {
        for (arguments, message) in [
            (["--follow-drift"], "--follow-drift requires --beacon-history"),
            (
                ["--follow-drift", "--beacon-history", "h.db", "--http", "0", "--survey", "walks"],
                "--survey and --follow-drift can't be combined"
            ),
        ] {
            let result = try Tool.run(["serve", "--venue", "Fixtures/office"] + arguments)
            XCTAssertEqual(result.status, 2, result.errors)
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
    }

    func testAKilledServiceLosesAMinuteAtMost() async throws {
        let folder = try temporaryFolder()
        let history = folder + "/beacons.db"
        let start = ContinuousClock.now
        let service = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor") + ["--state-directory", folder, "--beacon-history", history])
        try service.wait(for: "\"position\"")
        service.send(SIGKILL)
        _ = try service.end()
        let isMinuteOver = start.duration(to: .now) >= .seconds(60)
        let venue = try VenuePacketReader().read(FixtureFolder("office").path).venue
        let read = try await BeaconHistoryFile(path: history).history(of: venue.id, version: venue.version)
        XCTAssertTrue(read.isEmpty || isMinuteOver, "the first minute isn't over")
        let next = try ServiceProcess(
            ServiceProcess.endlessWalk("one-floor", from: 5) + [
                "--state-directory", folder, "--beacon-history", history,
            ])
        try next.wait(for: "\"position\"")
        try next.wait(for: "\"position\"", from: next.told.count + 8)
        next.send(SIGTERM)
        let status = try next.end()
        XCTAssertEqual(status, 0)
        let after = try await BeaconHistoryFile(path: history).history(of: venue.id, version: venue.version)
        XCTAssertGreaterThan(after.beacons.count, 3, "the end of a session writes the rest")
    }

    // MARK: - Command

    func testRecordingsAreAddedByTheirDays() throws {
        let folder = try temporaryFolder()
        let walks = folder + "/walks"
        try FileManager.default.createDirectory(atPath: walks, withIntermediateDirectories: true)
        for (number, day) in ["2026-03-01", "2026-03-02"].enumerated() {
            let path = walks + "/\(day).jsonl"
            let made = try Tool.run([
                "simulate", "--venue", "Fixtures/office", "--path", "Fixtures/office/paths/track-ground.json", "--seed",
                "\(number)", "--output", path,
            ])
            XCTAssertEqual(made.status, 0, made.errors)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing(
                "\"device\":", with: "\"startedAt\":\"\(day)T10:00:00Z\",\"device\":", maxReplacements: 1
            )
            .write(toFile: path, atomically: true, encoding: .utf8)
        }
        let history = folder + "/beacons.db"
        let result = try Tool.run(["beacons", "--venue", "Fixtures/office", "--add", walks, history])
        XCTAssertEqual(result.status, 0, result.errors)
        XCTAssertTrue(result.output.hasPrefix("2 days from 2026-03-01 to 2026-03-02, "), result.output)
        XCTAssertTrue(result.output.contains("too few days"), result.output)
        let again = try Tool.run(["beacons", "--venue", "Fixtures/office", "--json", history])
        let json = try JSONSerialization.jsonObject(with: Data(again.output.utf8)) as? [String: Any]
        let beacons = try XCTUnwrap(json?["beacons"] as? [[String: Any]])
        XCTAssertTrue(beacons.contains { ($0["levels"] as? [[String: Any]])?.count == 2 }, again.output)
    }

    func testWhatIsMissingIsSaid() throws {
        let missing = try Tool.run(["beacons", "--venue", "Fixtures/office", "/nonexistent/history.db"])
        XCTAssertEqual(missing.status, 1)
        XCTAssertTrue(missing.errors.contains("there is no such file"), missing.errors)
        let undated = try Tool.run([
            "beacons", "--venue", "Fixtures/office", "--add", "Fixtures/office/survey", try temporaryFolder() + "/h.db",
        ])
        XCTAssertEqual(undated.status, 1)
        XCTAssertTrue(undated.errors.contains("the day of the recording is unknown"), undated.errors)
    }
}
