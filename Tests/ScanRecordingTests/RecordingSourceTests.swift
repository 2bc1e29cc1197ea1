import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import Synchronization
import XCTest

final class RecordingSourceTests: XCTestCase {
    private let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 3, minor: 4)

    private func advertisement(_ seconds: Double) throws -> Advertisement {
        Advertisement(
            instant: Instant(seconds: seconds), address: DeviceAddress(rawValue: 5, kind: .random), rssi: -60,
            data: try BeaconFrame(format: .iBeacon, beacon: beacon, measuredPower: -59).advertisingData())
    }

    private func readings(of entries: [RecordingEntry]) async throws -> [SensorReading] {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.jsonl.gz"
        var writer = try RecordingWriter(path: path)
        for entry in entries { try writer.write(entry) }
        try writer.close()
        var readings: [SensorReading] = []
        for try await reading in RecordingSource(path: path).readings() { readings.append(reading) }
        return readings
    }

    func testARecordingReadsItsWallClockFromItsHeader() async throws {
        let texts: [(String?, Int64?)] = [
            ("2025-03-04T05:06:07Z", 1_741_064_767_000), ("2025-03-04T05:06:07.250Z", 1_741_064_767_250),
            ("2025-03-04T05:06:07+01:00", 1_741_061_167_000), ("yesterday", nil), (nil, nil),
        ]
        for (text, milliseconds) in texts {
            let folder = try TemporaryFolder()
            let path = folder.path + "/r.jsonl"
            var writer = try RecordingWriter(path: path, header: RecordingHeader(startedAt: text))
            try writer.write(.measurement(.step(Step(instant: Instant(seconds: 1)))))
            try writer.close()
            let source = RecordingSource(path: path)
            XCTAssertNil(source.wallClock, "the source has read nothing yet")
            for try await reading in source.readings() {
                XCTAssertEqual(
                    source.wallClock?.unixTime(at: reading.instant).milliseconds, milliseconds.map { $0 + 1000 },
                    text ?? "none")
            }
            let readings = try RecordedReadings(path: path, strictness: .strict)
            _ = try readings.next()
            XCTAssertEqual(readings.wallClock, source.wallClock)
        }
    }

    func testACaptureReadsItsWallClockFromItsFirstRecord() async throws {
        for (start, milliseconds) in [(1_741_064_767_250_000, 1_741_064_768_250), (BTSnoopWriter.unknownStart, nil)]
            as [(Int64, Int64?)]
        {
            let folder = try TemporaryFolder()
            let path = folder.path + "/r.btsnoop"
            var writer = try BTSnoopWriter(path: path, startMicroseconds: start)
            try writer.write(.advertisement(try advertisement(0)))
            try writer.write(.advertisement(try advertisement(1)))
            try writer.close()
            let source = BTSnoopSource(path: path)
            XCTAssertNil(source.wallClock, "the source has read nothing yet")
            for try await _ in source.readings() {}
            XCTAssertEqual(source.wallClock?.unixTime(at: Instant(seconds: 1)).milliseconds, milliseconds)
        }
    }

    func testASourceNeverEmitsGroundTruth() async throws {
        let step = SensorReading.step(Step(instant: Instant(seconds: 1)))
        let truth = Truth(instant: .zero, mapID: 1, point: MapPoint(x: 1, y: 1))
        let emitted = try await readings(of: [.truth(truth), .measurement(step)])
        XCTAssertEqual(emitted, [step])
    }

    func testASourceEmitsTheSightingAfterABeaconsAdvertisement() async throws {
        let advertisement = try advertisement(1)
        let sighting = try XCTUnwrap(try advertisement.sighting())
        let emitted = try await readings(of: [.measurement(.advertisement(advertisement))])
        XCTAssertEqual(emitted, [.advertisement(advertisement), .sighting(sighting)])
    }

    func testASightingRecordedAfterItsAdvertisementIsEmittedOnce() async throws {
        let advertisement = try advertisement(1)
        let sighting = try XCTUnwrap(try advertisement.sighting())
        var later = sighting
        later.instant = Instant(seconds: 2)
        let once: [SensorReading] = [.advertisement(advertisement), .sighting(sighting), .sighting(later)]
        let emitted = try await readings(of: once.map(RecordingEntry.measurement))
        XCTAssertEqual(emitted, once, "a recording of a source emits the same readings as the source")
    }

    func testAMalformedAdvertisementContainsNoSighting() async throws {
        var advertisement = try advertisement(1)
        advertisement.data.removeLast()
        let emitted = try await readings(of: [.measurement(.advertisement(advertisement))])
        XCTAssertEqual(emitted, [.advertisement(advertisement)])
    }

    func testTheErrorOfAnInvalidLineEndsTheStream() async throws {
        let folder = try TemporaryFolder()
        let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"#
        let path = try folder.write("r.jsonl", header + "\n" + #"{"t":0,"type":"step"}"# + "\nx\n")
        var count = 0
        do {
            for try await _ in RecordingSource(path: path).readings() { count += 1 }
            XCTFail("no error")
        } catch let error as RecordingError {
            XCTAssertEqual(error.line, 3)
        }
        XCTAssertEqual(count, 1)

        let tally = Mutex<RecordingReader.Tally?>(nil)
        let lenient = RecordingSource(path: path, strictness: .lenient) { end in tally.withLock { $0 = end } }
        for try await _ in lenient.readings() {}
        XCTAssertEqual(tally.withLock { $0?.skippedLines }, 1)
    }

    func testTheStreamOfAMissingFileThrows() async {
        do {
            for try await _ in RecordingSource(path: "/nowhere/r.jsonl").readings() {}
            XCTFail("no error")
        } catch {
            XCTAssertTrue(error is RecordingError, "\(error)")
        }
    }

    func testEachStreamStartsAtTheBeginning() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.jsonl"
        var writer = try RecordingWriter(path: path)
        for second in 0..<3 { try writer.write(.step(Step(instant: Instant(seconds: Double(second))))) }
        try writer.close()
        let source = RecordingSource(path: path)
        XCTAssertEqual(source.pace, .recorded)
        for _ in 0..<2 {
            var count = 0
            for try await _ in source.readings() { count += 1 }
            XCTAssertEqual(count, 3)
        }
    }
}
