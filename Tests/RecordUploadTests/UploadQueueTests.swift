import CSQLite
import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
import RecordUpload
import XCTest

/// The records that a queue keeps and drops, and the order in which it returns them.
final class UploadQueueTests: XCTestCase {
    func testQueuesThatWaitForALockLeaveTheThreadsOfOtherTasksFree() async throws {
        let folder = try temporaryFolder()
        // More than processors: the threads that tasks share would all wait.
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let queues = try (0..<count).map { try UploadQueue(path: folder + "/\($0).db", busyTimeout: .seconds(150)) }
        var locks: [OpaquePointer?] = []
        for number in 0..<count {
            var lock: OpaquePointer?
            XCTAssertEqual(sqlite3_open(folder + "/\(number).db", &lock), SQLITE_OK)
            XCTAssertEqual(sqlite3_exec(lock, "BEGIN IMMEDIATE", nil, nil, nil), SQLITE_OK)
            locks.append(lock)
        }
        let begun = ContinuousClock.now
        let appends = queues.map { queue in Task { try await queue.append(UploadRecord.numbered(1...1)) } }
        // These tasks run although every queue waits for its lock.
        for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
        for lock in locks {
            XCTAssertEqual(sqlite3_exec(lock, "COMMIT", nil, nil, nil), SQLITE_OK)
            sqlite3_close(lock)
        }
        let released = begun.duration(to: .now)
        for append in appends {
            let numbers = try await append.value
            XCTAssertEqual(numbers, [1])
        }
        XCTAssertLessThan(released, .seconds(120), "the tasks waited for the locks")
    }

    func testABatchHasTheOldestRecordsAndStaysTheSameUntilItIsConfirmed() async throws {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        let numbers = try await queue.append(UploadRecord.numbered(1...5))
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5])
        let first = try await queue.nextBatch(size: 3, device: "a \"device\"\n")
        let batch = try ReadBatch(try XCTUnwrap(first).body)
        XCTAssertEqual(batch.format, "indoor-localization-records")
        XCTAssertEqual(batch.version, 1)
        XCTAssertEqual(batch.device, "a \"device\"\n")
        XCTAssertEqual(batch.batch, first?.id)
        XCTAssertEqual(batch.records.map(\.number), [1, 2, 3])
        XCTAssertEqual(batch.records.map(\.time), [1, 2, 3])
        try await queue.append(UploadRecord.numbered(6...9))
        let again = try await queue.nextBatch(size: 100, device: "a \"device\"\n")
        XCTAssertEqual(again, first)
        try await queue.confirm(try XCTUnwrap(again))
        let second = try await queue.nextBatch(size: 100, device: "a")
        XCTAssertEqual(try ReadBatch(try XCTUnwrap(second).body).records.map(\.number), [4, 5, 6, 7, 8, 9])
        XCTAssertNotEqual(second?.id, first?.id)
        let counts = try await queue.counts
        XCTAssertEqual(counts.sent, 3)
        XCTAssertEqual(counts.waiting, 6)
    }

    func testAnUnconfirmedBatchIsTheSameInTheNextRun() async throws {
        let path = try temporaryFolder() + "/uploads.db"
        let queue = try UploadQueue(path: path)
        try await queue.append(UploadRecord.numbered(1...4))
        let before = try await queue.nextBatch(size: 2, device: "a")
        await queue.close()
        let next = try UploadQueue(path: path)
        try await next.append(UploadRecord.numbered(5...5))
        let after = try await next.nextBatch(size: 4, device: "a")
        XCTAssertEqual(after, before)
        do {
            _ = try await queue.waiting
            XCTFail("no error")
        } catch { XCTAssertEqual(error.reason, .closed) }
    }

    func testABatchKeepsItsIdentifierWhenItsOldestRecordsAreDropped() async throws {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db", limit: 5)
        try await queue.append(UploadRecord.numbered(1...4))
        let before = try await queue.nextBatch(size: 3, device: "a")
        try await queue.append(UploadRecord.numbered(5...7))
        let counts = try await queue.counts
        XCTAssertEqual(counts.dropped, 2)
        XCTAssertEqual(counts.waiting, 5)
        let batch = try await queue.nextBatch(size: 3, device: "a")
        XCTAssertEqual(batch?.id, before?.id)
        let read = try ReadBatch(try XCTUnwrap(batch).body)
        XCTAssertEqual(read.records.map(\.number), [3])
        XCTAssertEqual(read.dropped, 2)
        try await queue.setLimit(2)
        let rest = try await queue.nextBatch(size: 3, device: "a")
        XCTAssertEqual(try ReadBatch(try XCTUnwrap(rest).body).records.map(\.number), [6, 7])
        let last = try await queue.counts
        XCTAssertEqual(last.dropped, 5)
    }

    func testARejectedBatchIsCountedAndADividedOneIsCreatedAgain() async throws {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        try await queue.append(UploadRecord.numbered(1...4))
        let whole = try await queue.nextBatch(size: 4, device: "a")
        try await queue.divide(into: 4)
        let same = try await queue.nextBatch(size: 2, device: "a")
        XCTAssertEqual(same?.id, whole?.id, "it isn't larger than a new one")
        try await queue.divide(into: 2)
        let half = try await queue.nextBatch(size: 2, device: "a")
        XCTAssertEqual(half?.count, 2)
        XCTAssertNotEqual(half?.id, whole?.id)
        try await queue.reject(try XCTUnwrap(half))
        let counts = try await queue.counts
        XCTAssertEqual(counts.rejected, 2)
        XCTAssertEqual(counts.sent, 0)
        XCTAssertEqual(counts.waiting, 2)
        let rest = try await queue.nextBatch(size: 4, device: "a")
        try await queue.confirm(try XCTUnwrap(rest))
        let nothing = try await queue.nextBatch(size: 4, device: "a")
        XCTAssertNil(nothing)
    }

    func testAForeignFileIsNotChanged() throws {
        let path = try temporaryFolder() + "/other.db"
        var database: OpaquePointer?
        XCTAssertEqual(sqlite3_open(path, &database), SQLITE_OK)
        XCTAssertEqual(sqlite3_exec(database, "CREATE TABLE other (id INTEGER)", nil, nil, nil), SQLITE_OK)
        sqlite3_close(database)
        let before = try Data(contentsOf: URL(filePath: path))
        XCTAssertThrowsError(try UploadQueue(path: path)) {
            XCTAssertEqual(($0 as? UploadQueueError)?.reason, .notAQueue)
            XCTAssertEqual("\($0)", "\(path): not an upload queue; use the path of another file")
        }
        XCTAssertEqual(try Data(contentsOf: URL(filePath: path)), before)
    }

    func testOnlyItsOwnerCanReadTheFile() throws {
        let path = try temporaryFolder() + "/uploads.db"
        _ = try UploadQueue(path: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
    }
}

/// The queue that a process leaves when it is killed while it adds records.
final class UploadQueueKillTests: XCTestCase {
    /// Starts the writer program, which is in the same folder as the tests.
    private func start(_ path: String) throws -> (Process, FileHandle) {
        let tests = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        let process = Process()
        process.executableURL = tests.resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "KilledProcess")
        process.arguments = ["uploads", path, "1000000"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    /// A record is reported once `append` has returned.
    func testEveryReportedRecordSurvivesAKill() async throws {
        let seed: UInt64 = 416
        var random = SeededGenerator(seed: seed)
        let path = try temporaryFolder() + "/uploads.db"
        var expected: Int64 = 0
        for round in 0..<20 {
            let (process, output) = try start(path)
            // The writer is at work once it has printed a number. The kill follows after a random delay.
            var printed = output.availableData
            usleep(UInt32.random(in: 0..<30_000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            printed += try output.readToEnd() ?? Data()
            process.waitUntilExit()
            let context = "round \(round), seed \(seed)"
            let numbers = String(decoding: printed, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
            let lastReported = try XCTUnwrap(numbers.last, context)
            let queue = try UploadQueue(path: path, limit: 1_000_000)
            var kept: [Int64] = []
            // In two batches; the first one is confirmed, and the second run of the writer continues after both.
            while let batch = try await queue.nextBatch(size: 10_000, device: "a") {
                kept += try ReadBatch(batch.body).records.map(\.number)
                try await queue.confirm(batch)
            }
            await queue.close()
            // Numbers without a gap from the last round on: all reported records are there, and pairs are complete.
            XCTAssertEqual(kept, Array((expected + 1)...(expected + Int64(kept.count))), context)
            XCTAssertEqual(kept.count % 2, 0, context)
            XCTAssertGreaterThanOrEqual(try XCTUnwrap(kept.last), lastReported, context)
            expected += Int64(kept.count)
        }
    }
}

/// The records that a collector creates from sightings and positions.
final class UploadCollectorTests: XCTestCase {
    private let uuid = BeaconUUID("f7826da6-4fa2-4e98-8024-bc5b71e0893e")

    /// The clock of a source whose instants begin one second after the beginning of Unix time.
    private let clock = WallClock(timeOfZero: .seconds(1))

    private func sighting(_ minor: UInt16, at seconds: Double, rssi: Double = -60) throws -> SensorReading {
        .sighting(
            Sighting(
                instant: Instant(seconds: seconds),
                beacon: BeaconIdentity(uuid: try XCTUnwrap(uuid), major: 1, minor: minor), rssi: rssi,
                measuredPower: -59))
    }

    private func collector(_ change: (inout UploadSettings) -> Void) -> UploadCollector {
        var settings = UploadSettings()
        change(&settings)
        return UploadCollector(settings)
    }

    /// Returns the records as a server decodes them.
    private func read(_ records: [UploadRecord]) async throws -> [ReadBatch.Record] {
        let queue = try UploadQueue(path: try temporaryFolder() + "/uploads.db")
        try await queue.append(records)
        let batch = try await queue.nextBatch(size: 1000, device: "a")
        return try batch.map { try ReadBatch($0.body).records } ?? []
    }

    /// The collector uploads neither positions nor beacons.
    func testNothingIsUploadedByDefault() throws {
        var collector = UploadCollector(UploadSettings())
        XCTAssertFalse(UploadSettings().isOn)
        collector.receive(try sighting(1, at: 0), by: clock)
        collector.receive(position(at: 0), by: clock)
        XCTAssertEqual(collector.drain(), [])
    }

    func testABeaconHasOneRecordPerIntervalWithTheNumberOfItsSightings() async throws {
        var collector = collector { $0.beacons = true }
        for step in 0...20 { collector.receive(try sighting(1, at: Double(step) / 10), by: clock) }
        collector.receive(try sighting(2, at: 2, rssi: -90), by: clock)
        let records = try await read(collector.drain())
        XCTAssertEqual(records.map(\.minor), [1, 1, 1, 2])
        XCTAssertEqual(records.map(\.count), [1, 10, 10, 1])
        XCTAssertEqual(records.map(\.time), [1000, 2000, 3000, 3000])
        XCTAssertEqual(records.map(\.type), ["beacon", "beacon", "beacon", "beacon"])
        XCTAssertEqual(records[0].uuid?.lowercased(), uuid.map { "\($0)" }?.lowercased())
        XCTAssertEqual(records[0].rssi, -60)
        XCTAssertEqual(records[0].proximity, "near")
        XCTAssertEqual(try XCTUnwrap(records[0].distance), 1.12, accuracy: 0.3)
        XCTAssertEqual(collector.drain(), [])
    }

    func testAnIntervalOfZeroKeepsEverySightingWithAMeasuredRSSI() throws {
        var collector = collector {
            $0.beacons = true
            $0.beaconInterval = .zero
        }
        for step in 0..<7 { collector.receive(try sighting(1, at: Double(step) / 10), by: nil) }
        collector.receive(try sighting(1, at: 1, rssi: 127), by: nil)
        XCTAssertEqual(collector.drain().count, 7)
    }

    func testAnAdvertisementAndItsSightingCountOnce() throws {
        var collector = collector {
            $0.beacons = true
            $0.beaconInterval = .zero
        }
        let beacon = BeaconIdentity(uuid: try XCTUnwrap(uuid), major: 1, minor: 5)
        let frame = BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59)
        let address = try XCTUnwrap(DeviceAddress("C0:00:00:00:00:01"))
        let advertisement = Advertisement(
            instant: .zero, address: address, rssi: -70, data: try frame.advertisingData())
        collector.receive(.advertisement(advertisement), by: clock)
        collector.receive(.sighting(try XCTUnwrap(try advertisement.sighting())), by: clock)
        XCTAssertEqual(collector.drain().count, 1)
    }

    private func position(at seconds: Double) -> Position {
        Position(
            instant: Instant(seconds: seconds), venueID: 1, mapID: 2, point: MapPoint(x: 3.14159, y: 2), radius: 1.5,
            label: "hall")
    }

    func testIndoorAndOutdoorPositionsHaveRecordsAtSeparateIntervals() async throws {
        var collector = collector {
            $0.positions = true
            $0.positionInterval = .seconds(2)
        }
        for step in 0..<10 { collector.receive(position(at: Double(step) / 2), by: clock) }
        let place = OutdoorPosition(
            instant: Instant(seconds: 4.5), coordinate: Coordinate(latitude: 48.123456789, longitude: 11), radius: 5)
        collector.receive(place, by: nil)
        let records = try await read(collector.drain())
        XCTAssertEqual(records.map(\.time), [1000, 3000, 5000, nil])
        XCTAssertEqual(records.map(\.type), ["position", "position", "position", "outdoorPosition"])
        XCTAssertEqual(records[0].x, 3.142)
        XCTAssertEqual(records[0].label, "hall")
        XCTAssertEqual(records[3].latitude, 48.12345679)
        // The next session has a separate timeline.
        collector.receive(position(at: 0), by: clock)
        XCTAssertEqual(collector.drain().count, 1)
    }

    func testTheOldestRecordsBeyondTheLimitAreDiscardedAndCounted() throws {
        var collector = collector {
            $0.beacons = true
            $0.beaconInterval = .zero
        }
        for step in 0..<10_001 { collector.receive(try sighting(1, at: Double(step) / 100), by: clock) }
        XCTAssertEqual(collector.lost, 1)
        let records = collector.drain()
        XCTAssertEqual(records.first?.unixTime?.milliseconds, 1010)
        collector.receive(try sighting(1, at: 101), by: clock)
        collector.putBack(records)
        XCTAssertEqual(collector.lost, 2)
        XCTAssertEqual(collector.drain().last?.unixTime?.milliseconds, 102_000)
    }
}

extension XCTestCase {
    /// Returns a folder that exists until the end of the test.
    func temporaryFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try? FileManager.default.removeItem(at: folder) }
        return folder.path
    }
}

extension UploadRecord {
    /// Returns records with these times.
    static func numbered(_ numbers: ClosedRange<Int>) -> [UploadRecord] {
        let place = OutdoorPosition(instant: .zero, coordinate: Coordinate(latitude: 48, longitude: 11), radius: 5)
        return numbers.map { UploadRecord(.outdoorPosition(place), unixTime: UnixTime(milliseconds: Int64($0))) }
    }
}

/// A batch as a server decodes it.
struct ReadBatch: Decodable {
    struct Record: Decodable {
        var number: Int64
        var type: String
        var time: Int64?
        var uuid: String?
        var major: Int?
        var minor: Int?
        var rssi: Double?
        var count: Int?
        var proximity: String?
        var distance: Double?
        var x: Double?
        var latitude: Double?
        var label: String?
    }

    var format: String
    var version: Int
    var batch: String
    var device: String
    var dropped: Int
    var records: [Record]

    init(_ body: some Sequence<UInt8>) throws { self = try JSONDecoder().decode(ReadBatch.self, from: Data(body)) }
}
