import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import Synchronization
import XCTest

final class BTSnoopWriterTests: XCTestCase {
    private func beacon(_ minor: UInt16) throws -> BeaconIdentity {
        BeaconIdentity(
            uuid: try XCTUnwrap(BeaconUUID("7C2F0A10-0000-4000-8000-000000000003")), major: 1, minor: minor)
    }

    /// Returns advertisements of all lengths, from public and random addresses, microseconds to seconds apart.
    private func advertisements(count: Int, seed: UInt64) -> [SensorReading] {
        var generator = SeededGenerator(seed: seed)
        var microseconds: Int64 = 0
        return (0..<count).map { _ in
            microseconds += Int64.random(in: 0...1_000_000, using: &generator)
            let length =
                Bool.random(using: &generator)
                ? Int.random(in: 0...31, using: &generator)
                : Int.random(in: 0...1650, using: &generator)
            let address = DeviceAddress(
                rawValue: UInt64.random(in: 0...3, using: &generator) * 0x1234_5678_9ABC,
                kind: Bool.random(using: &generator) ? .public : .random)
            return .advertisement(
                Advertisement(
                    instant: Instant(nanoseconds: microseconds * 1000), address: address,
                    rssi: Double(Int.random(in: -127 ... -1, using: &generator)),
                    data: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }))
        }
    }

    func testRecordsBeforeACheckpointCanBeReadWhileTheFileIsOpen() throws {
        let folder = try TemporaryFolder()
        let readings = advertisements(count: 20, seed: 402)
        for name in ["c.btsnoop", "c.btsnoop.gz"] {
            let path = folder.path + "/" + name
            var writer = try BTSnoopWriter(path: path)
            for (number, reading) in readings.enumerated() {
                try writer.write(reading)
                guard number % 10 == 9 else { continue }
                try writer.checkpoint()
                var reader = try BTSnoopReader(path: path)
                var count = 0
                while try reader.next() != nil { count += 1 }
                XCTAssertEqual(count, number + 1, name)
            }
            try writer.close()
        }
    }

    func testAWrittenCaptureReadsBackEqual() throws {
        let folder = try TemporaryFolder()
        let seed: UInt64 = 401
        let written = advertisements(count: 500, seed: seed)
        for datalink in BTSnoopDatalink.allCases {
            for name in ["plain", "packed.gz"] {
                let path = "\(folder.path)/\(datalink)-\(name)"
                var writer = try BTSnoopWriter(
                    path: path, datalink: datalink, startMicroseconds: 1_704_067_200_000_001, adapter: 3)
                for reading in written { try writer.write(reading) }
                try writer.close()
                var reader = try BTSnoopReader(path: path)
                let read = try reader.readAll()
                XCTAssertTrue(read == written, "\(datalink), \(name), seed \(seed)")
                XCTAssertEqual(reader.datalink, datalink)
                XCTAssertEqual(reader.startMicroseconds, 1_704_067_200_000_001)
                XCTAssertEqual(reader.tally.adapters, [datalink == .monitor ? 3 : 0])
                XCTAssertEqual(reader.tally.skippedRecords, 0)
            }
        }
    }

    func testEqualReadingsGiveIdenticalBytes() throws {
        let folder = try TemporaryFolder()
        for name in ["one", "two"] {
            var writer = try BTSnoopWriter(path: folder.path + "/" + name)
            for reading in advertisements(count: 50, seed: 7) { try writer.write(reading) }
            try writer.close()
        }
        XCTAssertEqual(try folder.bytes("one"), try folder.bytes("two"))
    }

    func testTheWriterStoresASightingAsAnIBeacon() throws {
        let folder = try TemporaryFolder()
        let address = DeviceAddress(rawValue: 5, kind: .random)
        let known = Sighting(
            instant: Instant(seconds: 1), beacon: try beacon(1), rssi: -70, measuredPower: -65, address: address)
        let unknown = Sighting(instant: Instant(seconds: 2), beacon: try beacon(2), rssi: -71.4)
        var writer = try BTSnoopWriter(path: folder.path + "/a")
        try writer.write(.sighting(known))
        try writer.write(.sighting(unknown))
        try writer.close()
        XCTAssertEqual(writer.tally.encodedSightings, 2)
        XCTAssertEqual(writer.tally.assumedPowers, 1)

        var reader = try BTSnoopReader(path: folder.path + "/a")
        let read = try reader.readAll()
        guard case .advertisement(let advertisement) = read.first else { return XCTFail("\(read)") }
        XCTAssertEqual(try advertisement.sighting(), known)
        var expected = unknown
        expected.rssi = -71
        expected.measuredPower = -59
        XCTAssertEqual(read.last, .sighting(expected), "anonymous, as the address is unknown")
    }

    func testASightingAfterItsAdvertisementIsNotWrittenAgain() throws {
        let folder = try TemporaryFolder()
        let data = try BeaconFrame(format: .iBeacon, beacon: beacon(1), measuredPower: -59).advertisingData()
        let advertisement = Advertisement(
            instant: Instant(seconds: 1), address: DeviceAddress(rawValue: 5, kind: .random), rssi: -70, data: data)
        var writer = try BTSnoopWriter(path: folder.path + "/a")
        try writer.write(.advertisement(advertisement))
        try writer.write(.sighting(XCTUnwrap(advertisement.sighting())))
        try writer.close()
        var reader = try BTSnoopReader(path: folder.path + "/a")
        XCTAssertEqual(try reader.readAll(), [.advertisement(advertisement)])
        XCTAssertEqual(writer.tally.advertisements, 1)
        XCTAssertEqual(writer.tally.encodedSightings, 0)
    }

    func testReadingsThatACaptureCannotContainAreCounted() throws {
        let folder = try TemporaryFolder()
        var writer = try BTSnoopWriter(path: folder.path + "/a")
        try writer.write(.step(Step(instant: .zero)))
        try writer.write(.motion(MotionSample(instant: .zero)))
        try writer.write(.motion(MotionSample(instant: .zero)))
        XCTAssertEqual(writer.tally.leftOut, ["step": 1, "motion": 2])
    }

    func testARejectedReadingIsNotWrittenAndTheNextOneIs() throws {
        let folder = try TemporaryFolder()
        let address = DeviceAddress(rawValue: 5, kind: .random)
        func heard(_ seconds: Double, rssi: Double = -70, count: Int = 3) -> SensorReading {
            .advertisement(
                Advertisement(
                    instant: Instant(seconds: seconds), address: address, rssi: rssi,
                    data: Array(repeating: 0, count: count)))
        }
        let sighting = { (power: Double) throws in
            SensorReading.sighting(
                Sighting(instant: Instant(seconds: 2), beacon: try self.beacon(1), rssi: -70, measuredPower: power))
        }
        let refused: [(SensorReading, BTSnoopError.Problem)] = [
            (heard(2, rssi: -0.4), .notAMeasurement(rssi: -0.4)), (heard(2, rssi: 127), .notAMeasurement(rssi: 127)),
            (heard(2, count: 1651), .tooMuchData(1651, limit: 1650)),
            (heard(0.5), .timeWentBackwards(from: 1, to: 0.5)), (heard(-1), .timeWentBackwards(from: 1, to: -1)),
            (try sighting(4), .unencodable(.power(4, allowed: -127 ... -1))),
            (try sighting(.nan), .unencodable(.power(1000, allowed: -127 ... -1))),
        ]
        var writer = try BTSnoopWriter(path: folder.path + "/a")
        try writer.write(heard(1))
        for (reading, problem) in refused {
            do throws(BTSnoopError) {
                try writer.write(reading)
                XCTFail("\(reading) was written")
            } catch {
                XCTAssertEqual(error.problem, problem)
                XCTAssertTrue(error.description.hasPrefix(folder.path + "/a: record at byte "), error.description)
            }
        }
        try writer.write(heard(2))
        try writer.close()
        var reader = try BTSnoopReader(path: folder.path + "/a")
        XCTAssertEqual(try reader.readAll(), [heard(1), heard(2)])
    }

    func testATimeThatTheFormatCannotStoreIsAnError() throws {
        let folder = try TemporaryFolder()
        for start in [Int64.min, -70_000_000_000_000_000, .max] {
            XCTAssertThrowsError(try BTSnoopWriter(path: folder.path + "/a", startMicroseconds: start).path) { error in
                XCTAssertEqual((error as? BTSnoopError)?.problem, .timeOutOfRange)
            }
        }
        XCTAssertThrowsError(try BTSnoopWriter(path: "/missing/a").path)
    }

    func testASourceEmitsASightingAfterEachBeaconAndReportsWhatItSkipped() async throws {
        let fixture = try CaptureFixture(path: FixtureFolder("captures/files").file("monitor.txt"))
        let folder = try TemporaryFolder()
        let path = try folder.write("a", bytes: fixture.bytes)
        let reported = ReportedTally()
        let source = BTSnoopSource(path: path) { tally in reported.tally.withLock { $0 = tally } }
        XCTAssertEqual(source.pace, .recorded)
        for _ in 0..<2 {
            var readings: [SensorReading] = []
            for try await reading in source.readings() { readings.append(reading) }
            XCTAssertEqual(readings.count, 3)
            guard case .sighting(let sighting) = readings[1] else { return XCTFail("\(readings)") }
            XCTAssertEqual(sighting.beacon, try beacon(7))
            XCTAssertEqual(sighting.instant, Instant(seconds: 1.5))
            XCTAssertEqual(reported.tally.withLock { $0 }?.records, 5)
        }
    }
}

/// The tally that a source has reported at its end. A class, so that the source's closure can share it.
private final class ReportedTally: Sendable {
    let tally = Mutex<BTSnoopReader.Tally?>(nil)
}
