import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import LoopbackServers
import ScanRecording
import TagTracking
import TagTrackingService
import VenuePackets
import XCTest

@testable import indoorloc

/// `track --record`: what receivers hear of tags, in files of an hour for each tag.
final class TagRecordingsTests: XCTestCase {
    /// The problems that recordings report.
    private final class Problems {
        var all: [String] = []
    }

    /// 29 November 2026, 2:00 UTC.
    private static let start = Instant(seconds: 1_795_917_600)
    private let cart = TagKey.name("cart: 7/é")

    private func sighting(_ receiver: UInt16, at seconds: Double, rssi: Double = -60) -> Sighting {
        Sighting(
            instant: Self.start.advanced(by: .seconds(seconds)),
            beacon: BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: receiver), rssi: rssi)
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private func content(_ path: String) throws -> (header: RecordingHeader?, sightings: [Sighting]) {
        var reader = try RecordingReader(path: path, strictness: .lenient)
        var sightings: [Sighting] = []
        try reader.forEach { if case .measurement(.sighting(let sighting)) = $0 { sightings.append(sighting) } }
        return (reader.header, sightings)
    }

    private func recordings(
        _ folder: String, limit: Int = 1_000_000, mostOpen: Int = 50, _ problems: Problems = Problems()
    ) -> TagRecordings {
        TagRecordings(
            folder: RecordingFolder(path: folder, limit: limit, namesTags: true), mostOpen: mostOpen
        ) { problems.all.append($0) }
    }

    func testATagHasAPrivateRecordingOfItsReceiversInTheOrderOfTime() throws {
        let folder = try temporaryFolder()
        let recordings = recordings(folder)
        // Receiver 2 is always late, and receiver 3 by more than anything waits for.
        for second in stride(from: 0.0, to: 20, by: 1) {
            recordings.write(sighting(1, at: second + 1), of: cart)
            recordings.write(sighting(2, at: second + 0.5), of: cart)
        }
        recordings.write(sighting(3, at: 2), of: cart)
        recordings.write(sighting(4, at: 0), of: .address(DeviceAddress(rawValue: 0xC300_0012_AB01)))
        XCTAssertEqual(recordings.openCount, 2)
        recordings.finish()
        XCTAssertEqual(recordings.openCount, 0)
        let files = try names(folder)
        XCTAssertEqual(
            files, ["20261129T020000Z-C3-00-00-12-AB-01.jsonl.gz", "20261129T020001Z-cart--207-2F-C3-A9.jsonl.gz"])
        var mode = stat()
        XCTAssertEqual(stat(folder + "/" + files[1], &mode), 0)
        XCTAssertEqual(mode.st_mode & 0o777, 0o600)
        let (header, sightings) = try content(folder + "/" + files[1])
        XCTAssertEqual(header?.device, cart.description)
        XCTAssertEqual(header?.startedAt?.hasPrefix("2026-11-29T02:00:0"), true)
        XCTAssertEqual(sightings.count, 40)
        XCTAssertEqual(sightings.map(\.instant), sightings.map(\.instant).sorted())
        XCTAssertEqual(Array(sightings.prefix(5).map(\.beacon.minor)), [2, 1, 2, 1, 2])
        XCTAssertEqual(sightings.count { $0.beacon.minor == 3 }, 0, "a reading isn't recorded at another instant")
        XCTAssertEqual(try XCTUnwrap(sightings.last).instant.seconds, 19.5, accuracy: 1e-6)
    }

    /// Two gateways send what they have heard every five seconds, in turn.
    func testReadingsThatGatewaysCollectKeepTheirInstants() throws {
        let folder = try temporaryFolder()
        let recordings = recordings(folder)
        var expected: [Double] = []
        for batch in 0..<6 {
            for (receiver, shift) in [(UInt16(1), 0.0), (2, 2.5)] {
                for reading in 0..<5 {
                    let second = Double(5 * batch + reading) + shift
                    recordings.write(sighting(receiver, at: second), of: cart)
                    expected.append(second)
                }
            }
        }
        recordings.finish()
        let file = try XCTUnwrap(names(folder).first)
        let sightings = try content(folder + "/" + file).sightings
        let first = try XCTUnwrap(sightings.first).instant
        XCTAssertEqual(sightings.map { first.seconds(to: $0.instant) }, expected.sorted())
    }

    func testTagsWithLikeNamesHaveTheirOwnRecordings() throws {
        let folder = try temporaryFolder()
        let problems = Problems()
        let recordings = recordings(folder, problems)
        for tag in ["a:b", "a-b", String(repeating: "x", count: 70) + "1", String(repeating: "x", count: 70) + "2"] {
            recordings.write(sighting(1, at: 0.5), of: .name(tag))
        }
        XCTAssertEqual(recordings.openCount, 4, "\(problems.all)")
        recordings.finish()
        XCTAssertEqual(problems.all, [])
        let tags = try names(folder).map { try content(folder + "/" + $0).header?.device }
        XCTAssertEqual(Set(tags).count, 4, "\(tags)")
    }

    func testARecordingEndsThoughItsEndIsLost() throws {
        let folder = try temporaryFolder()
        let recordings = recordings(folder)
        for minute in 0..<70 { recordings.write(sighting(1, at: Double(60 * minute)), of: cart) }
        recordings.finish()
        XCTAssertEqual(try names(folder).map { try content(folder + "/" + $0).sightings.count }, [61, 9])
    }

    func testOfManyTagsFewRecordingsAreOpen() throws {
        let folder = try temporaryFolder()
        let recordings = recordings(folder, limit: 10_000_000, mostOpen: 8)
        let descriptors = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let before = try descriptors()
        for tag in 0..<100 {
            recordings.write(sighting(1, at: Double(tag) / 100), of: .name("tag \(tag)"))
            XCTAssertLessThanOrEqual(recordings.openCount, 8)
        }
        // Other tests can open and close some files meanwhile.
        XCTAssertLessThan(try descriptors() - before, 30)
        recordings.finish()
        XCTAssertEqual(try names(folder).count, 100)
    }

    func testTheOldestRecordingsOfAllTagsAreDeletedBeyondTheLimit() throws {
        let folder = try temporaryFolder()
        for hour in 10..<20 {
            let path = folder + "/20261128T\(hour)0000Z-\(hour % 2 == 0 ? "zebra" : "ant").jsonl.gz"
            try Data(count: 1000).write(to: URL(filePath: path))
        }
        for name in ["20261128T100000Z.jsonl.gz", "notes.jsonl.gz"] {
            try Data(count: 1000).write(to: URL(filePath: folder + "/" + name))
        }
        let recordings = recordings(folder, limit: 4500)
        recordings.write(sighting(1, at: 0), of: cart)
        recordings.finish()
        let rest = try names(folder)
        XCTAssertEqual(rest.filter { $0.hasPrefix("20261128T1") }.map { $0.prefix(11) }.sorted().first, "20261128T10")
        XCTAssertEqual(
            rest.filter { $0.contains("Z-ant") || $0.contains("Z-zebra") }.map { $0.prefix(11) },
            ["20261128T16", "20261128T17", "20261128T18", "20261128T19"])
        XCTAssertTrue(rest.contains("20261128T100000Z.jsonl.gz"), "a recording of 'serve' stays")
        XCTAssertTrue(rest.contains("notes.jsonl.gz"))
        XCTAssertEqual(rest.count, 7)
    }

    func testRecordingsThatExceedTheLimitAreShort() throws {
        let folder = try temporaryFolder()
        let problems = Problems()
        let recordings = recordings(folder, limit: 400, problems)
        for second in 0..<600 {
            for tag in 0..<3 {
                // Random numbers can't be compressed.
                let rssi = -40 - Double(second * 7919 % 500) / 10
                recordings.write(sighting(UInt16(tag), at: Double(second), rssi: rssi), of: .name("tag \(tag)"))
            }
        }
        recordings.finish()
        XCTAssertEqual(problems.all.count, 1, "\(problems.all)")
        XCTAssertTrue(problems.all[0].contains("exceed --record-limit"), problems.all[0])
        // The last minutes have one recording of each tag.
        let files = try names(folder)
        XCTAssertLessThanOrEqual(files.count, 6)
        for file in files { XCTAssertLessThan(try content(folder + "/" + file).sightings.count, 200, file) }
    }

    func testADiskThatCannotBeWrittenIsReportedOnceAndAnHourLaterRecordedOn() throws {
        let folder = try temporaryFolder() + "/recordings"
        let problems = Problems()
        let recordings = recordings(folder, problems)
        for second in 0..<10 {
            for tag in 0..<5 { recordings.write(sighting(1, at: Double(second)), of: .name("tag \(tag)")) }
        }
        XCTAssertEqual(recordings.openCount, 0)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        recordings.write(sighting(1, at: 3500), of: cart)
        XCTAssertEqual(try names(folder), [])
        recordings.write(sighting(1, at: 3610), of: cart)
        recordings.finish()
        XCTAssertEqual(try names(folder).count, 1)
        XCTAssertEqual(problems.all.count, 1, "\(problems.all)")
        XCTAssertTrue(problems.all[0].hasSuffix("and the next recordings begin within an hour"), problems.all[0])
    }

    func testATagThatLeavesTheRegisterIsNotRecordedAnyMore() async throws {
        let folder = try temporaryFolder()
        let gateway = VenueReceiver(
            id: "hall", identity: VenueReceiver.identity(for: "hall"), mapID: 1, point: MapPoint(x: 5, y: 5))
        let venue = Venue(
            id: 7, name: "Hall", maps: [VenueMap(id: 1, name: "Hall", level: 0, width: 20, height: 10)],
            receivers: [gateway])
        let setup = FleetEngine.Setup(model: FleetModel(venue: venue))
        let recorder = TagRecorder(try FleetEngine.start(setup, in: nil, at: Self.start).engine)
        let pallet = TagKey.name("pallet")
        /// Both tags move by 8 m, and the gateway hears each of them once, and an unknown gateway, too.
        func step(_ second: Int) async {
            let now = Self.start.advanced(by: .seconds(second))
            await recorder.write(
                [cart, pallet].map { tag in
                    let position = Position(
                        instant: now, venueID: 7, mapID: 1, point: MapPoint(x: second % 2 == 0 ? 2 : 10, y: 2),
                        radius: 2)
                    return FleetOutput(
                        tag: tag, epoch: 1, sequence: UInt64(second), instant: now, content: .position(position))
                })
            await recorder.write(
                [cart, pallet].flatMap { tag in
                    ["hall", "porch"].map { TagReading(tag: tag, receiver: $0, instant: now, rssi: -60) }
                })
        }
        for second in 1...4 { await step(second) }
        await recorder.use(register: TagRegister(), removing: [pallet])
        for second in 5...6 { await step(second) }
        recorder.close()
        await recorder.run { TagRecordings(folder: RecordingFolder(path: folder, limit: 1_000_000, namesTags: true)) }
        let counts = try names(folder).map { try content(folder + "/" + $0).sightings.count }
        // A tag has moved from its second position on, and a tag that returns is a new one.
        XCTAssertEqual(try names(folder).map { $0.contains("-cart") }, [true, false, false])
        XCTAssertEqual(counts, [5, 3, 1])
    }

    // MARK: The program

    private static let tag = "C3:00:00:12:AB:01"

    /// Starts the program with more words, and returns it with its gateways.
    private func track(
        _ words: [String], environment: [String: String] = [:], wrapper: [String] = []
    ) async throws -> (ServiceProcess, GatewayStage) {
        let port = try broker().port
        let venue = try FixtureFolder("tags/office").path
        let service = try ServiceProcess(
            [
                "--broker", "mqtt://127.0.0.1:\(port)", "--venue", venue, "--tags", register(of: Self.tag), "--class",
                "light",
            ] + words, command: "track", environment: environment, wrapper: wrapper)
        try service.waitForError("receiving from")
        let stage = GatewayStage(
            client: try await GatewayClient(port: port), venue: try VenuePacketReader().read(venue).venue)
        return (service, stage)
    }

    /// The restrictions of the unit permit what the recording needs.
    func testTheRecordingOfAMovingTagIsReadableAfterAKill() async throws {
        let folder = try temporaryFolder() + "/recordings"
        let (service, stage) = try await track(
            ["--record", folder, "--learned", folder + "/../learned"],
            wrapper: try UnitRestrictions("indoorloc-track.service").wrapper(of: try Tool.path()))
        try await stage.move(tag: Self.tag, heardBy: service) {
            // The file may appear before its first reading.
            try names(folder).contains { name in
                guard name.hasSuffix(".jsonl.gz"), let content = try? content(folder + "/" + name) else { return false }
                return !content.sightings.isEmpty
            }
        }
        service.send(SIGKILL)
        XCTAssertEqual(try service.end(), 128 + SIGKILL)
        XCTAssertFalse(service.errors.contains { $0.contains("--learned") }, "there is no edition yet")
        let file = try XCTUnwrap(names(folder).first { $0.hasSuffix(".jsonl.gz") })
        let (header, sightings) = try content(folder + "/" + file)
        XCTAssertEqual(header?.device, Self.tag)
        XCTAssertFalse(sightings.isEmpty)
        XCTAssertTrue(Set(sightings.map(\.beacon)).isSubset(of: stage.venue.receivers.map(\.identity)))
    }

    func testAFullDiskIsReportedOnceAndTagsAreLocatedInTheLearnedEdition() async throws {
        let folder = try temporaryFolder()
        var edition = try VenuePacketReader().read(FixtureFolder("tags/office").path).venue
        (edition.version, edition.name) = (edition.version + 1, "Learned office")
        try FileManager.default.createDirectory(atPath: folder + "/learned", withIntermediateDirectories: false)
        try VenuePacketWriter().write(edition, toFolder: folder + "/learned")
        let faults = try FaultyFiles(in: try temporaryFolder(), "write ENOSPC -1 /recordings/")
        let (service, stage) = try await track(
            ["--record", folder + "/recordings", "--learned", folder + "/learned"], environment: faults.environment)
        XCTAssertTrue(
            service.errors.contains { $0.contains("--learned: edition \(edition.version) of") }, "\(service.errors)")
        XCTAssertTrue(service.errors.contains { $0.contains("tracking in Learned office") }, "\(service.errors)")
        try await stage.move(tag: Self.tag, heardBy: service) {
            service.errors.contains { $0.contains("tags are located all the same") }
        }
        try await stage.publish(
            tag: Self.tag, at: MapPoint(x: 25, y: 10), until: service, from: service.told.count)
        service.send(SIGTERM)
        XCTAssertEqual(try service.end(), 0, "\(service.errors)")
        XCTAssertEqual(service.errors.count { $0.contains("cannot be written") }, 1, "\(service.errors)")
    }

    func testOptionsThatDoNotFitAreRefused() throws {
        let venue = ["--venue", "Fixtures/tags/office"]
        for (words, message) in [
            (["--rooms", "home.json", "--record", "r"], "--record requires --venue"),
            (["--rooms", "home.json", "--learned", "l"], "--learned requires --venue"),
            (venue + ["--record-limit", "5"], "--record-limit requires --record"),
            (venue + ["--record", ""], "--record must be a folder path, not ''"),
            (
                venue + ["--http", "0", "--survey", "walks", "--learned", "l"],
                "--survey and --learned can't be combined"
            ),
        ] {
            let result = try Tool.run(["track", "--broker", "mqtt://h"] + words)
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains(message), result.errors)
        }
        let file = try temporaryFolder() + "/file"
        try Data().write(to: URL(filePath: file))
        let result = try Tool.run(["track", "--broker", "mqtt://h", "--seconds", "1", "--record", file] + venue)
        XCTAssertEqual(result.status, 1)
        XCTAssertTrue(result.errors.contains("--record: \(file): "), result.errors)
    }
}
