import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import XCTest

final class BTSnoopReaderTests: XCTestCase {
    private func fixtures() throws -> [CaptureFixture] {
        try FixtureFolder("captures/files").files(ending: ".txt").map(CaptureFixture.init)
    }

    private func fixture(_ name: String) throws -> CaptureFixture {
        try CaptureFixture(path: FixtureFolder("captures/files").file(name))
    }

    /// Returns what a reader finds in a file: its readings, its error and its tally.
    private func read(
        _ bytes: some Sequence<UInt8>, adapter: UInt16? = nil, strictness: RecordingReader.Strictness = .strict
    ) throws -> (readings: [SensorReading], error: BTSnoopError?, tally: BTSnoopReader.Tally) {
        let folder = try TemporaryFolder()
        var reader = try BTSnoopReader(
            path: folder.write("capture", bytes: bytes), adapter: adapter, strictness: strictness)
        var readings: [SensorReading] = []
        do throws(BTSnoopError) {
            while let reading = try reader.next() { readings.append(reading) }
            return (readings, nil, reader.tally)
        } catch {
            XCTAssertNil(try reader.next(), "the reader returns nothing after an error")
            return (readings, error, reader.tally)
        }
    }

    func testEveryCaptureDecodesToTheReadingsInItsFixture() throws {
        let folder = try TemporaryFolder()
        for fixture in try fixtures() {
            let path = try folder.write(fixture.name, bytes: fixture.bytes)
            XCTAssertTrue(BTSnoopReader.isCapture(path: path), fixture.name)
            var reader = try BTSnoopReader(path: path)
            XCTAssertEqual(try reader.readAll().map(CaptureFixture.text), fixture.readings, fixture.name)
            XCTAssertEqual(CaptureFixture.text(of: reader.tally), fixture.tally, fixture.name)
            XCTAssertEqual(reader.startMicroseconds, fixture.startMicroseconds, fixture.name)
        }
    }

    func testATruncatedFileThrowsUnlessItEndsWithARecord() throws {
        for fixture in try fixtures() {
            for count in 0...fixture.bytes.count {
                let (readings, problem) = CaptureStream.decode(Array(fixture.bytes.prefix(count)))
                let isBoundary = fixture.boundaries.contains(count)
                XCTAssertEqual(problem == nil, isBoundary, "\(fixture.name) cut to \(count) bytes")
                let texts = readings.map(CaptureFixture.text)
                XCTAssertEqual(texts, Array(fixture.readings.prefix(texts.count)), "\(fixture.name) at \(count)")
            }
            for boundary in fixture.boundaries {
                XCTAssertNil(try read(fixture.bytes.prefix(boundary)).error, fixture.name)
                XCTAssertNotNil(try read(fixture.bytes.prefix(boundary - 1)).error, fixture.name)
            }
        }
    }

    func testTheSizeOfTheChunksDoesNotChangeTheReadings() throws {
        for fixture in try fixtures() {
            for size in [1, 2, 3, 7, 16, 24, 25, 100] {
                let (readings, problem) = CaptureStream.decode(fixture.bytes, chunk: size)
                XCTAssertNil(problem, "\(fixture.name) in pieces of \(size)")
                XCTAssertEqual(readings.map(CaptureFixture.text), fixture.readings, "\(fixture.name), \(size)")
            }
        }
    }

    func testALenientReaderReturnsTheRecordsBeforeATruncation() throws {
        let fixture = try fixture("monitor.txt")
        let (readings, error, tally) = try read(fixture.bytes.dropLast(), strictness: .lenient)
        XCTAssertNil(error)
        XCTAssertEqual(readings.count, 2)
        XCTAssertEqual(tally.skippedRecords, 1)
        XCTAssertEqual(tally.errors.map(\.problem), [.cutOff(expected: 38, found: 37)])
    }

    func testReplacingAnyByteNeverTraps() throws {
        var decoded = 0
        for fixture in try fixtures() {
            for offset in fixture.bytes.indices {
                for value: UInt8 in [0, 1, 3, 4, 0x20, 0x7F, 0x80, 0xFF] {
                    var bytes = fixture.bytes
                    bytes[offset] = value
                    decoded += CaptureStream.decode(bytes).readings.count
                }
            }
        }
        XCTAssertGreaterThan(decoded, 1000)
    }

    func testInputsThatOnceCrashedADecoderContainNoReadings() throws {
        let header = try fixture("uart.txt").bytes.prefix(16)
        for path in try FixtureFolder("crashes").files() {
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            XCTAssertEqual(CaptureStream.decode(bytes).readings, [], path)
            XCTAssertEqual(CaptureStream.decode(header + bytes).readings, [], path)
        }
    }

    func testAReaderReturnsOnlyTheReadingsOfTheRequestedAdapter() throws {
        let fixture = try fixture("monitor.txt")
        let first = try read(fixture.bytes, adapter: 0)
        XCTAssertEqual(first.readings.map(CaptureFixture.text), [fixture.readings[0]])
        let second = try read(fixture.bytes, adapter: 1)
        XCTAssertEqual(second.readings.map(CaptureFixture.text), [fixture.readings[1]])
        XCTAssertEqual(second.tally.adapters, [0, 1])
    }

    func testFragmentsOfTwoAdaptersAreNotJoined() throws {
        var bytes = try fixture("fragments.txt").bytes
        // The record with the second fragment, now from hci1: two first fragments and a last one without a first.
        let second = try fixture("fragments.txt").boundaries[2]
        bytes[second + 9] = 1
        let (readings, _, tally) = try read(bytes)
        XCTAssertEqual(readings.map(CaptureFixture.text).last, "500000 random C0:00:00:00:00:01 -80 4142")
        XCTAssertEqual(tally.unfinishedAdvertisements, 1)
    }

    func testFragmentsAreNotJoinedOverLostPackets() throws {
        var bytes = try fixture("fragments.txt").bytes
        let boundaries = try fixture("fragments.txt").boundaries
        for record in boundaries[1...3] where record < bytes.count { bytes[record + 15] = 3 }
        let (readings, _, tally) = try read(bytes)
        XCTAssertEqual(readings.map(CaptureFixture.text).last, "500000 random C0:00:00:00:00:01 -80 4142")
        XCTAssertEqual(tally.lostPackets, 3)
        XCTAssertEqual(tally.unfinishedAdvertisements, 2)
    }

    func testATooLongRecordEndsEvenALenientReader() throws {
        let fixture = try fixture("uart.txt")
        var bytes = fixture.bytes
        bytes[fixture.boundaries[1] + 4] = 0x7F
        let strict = try read(bytes)
        XCTAssertEqual(strict.error?.problem, .recordTooLong(0x7F00_0005, limit: 131_072))
        XCTAssertEqual(strict.error?.offset, Int64(fixture.boundaries[1]))
        let lenient = try read(bytes, strictness: .lenient)
        XCTAssertNil(lenient.error)
        XCTAssertEqual(lenient.readings, [])
    }

    func testALenientReaderSkipsAMalformedEventAndReturnsTheOthers() throws {
        let fixture = try fixture("monitor.txt")
        var bytes = fixture.bytes
        bytes[fixture.boundaries[1] + 24 + 4] = 9
        let strict = try read(bytes)
        XCTAssertEqual(
            strict.error?.problem, .malformedEvent(.reservedValue(.eventType, 9, offset: 4)))
        let lenient = try read(bytes, strictness: .lenient)
        XCTAssertEqual(lenient.readings.map(CaptureFixture.text), [fixture.readings[1]])
        XCTAssertEqual(lenient.tally.skippedRecords, 1)
        XCTAssertEqual(
            lenient.tally.errors,
            [strict.error].compactMap { $0 }.map { error in
                var error = error
                error.file = lenient.tally.errors[0].file
                return error
            })
    }

    func testARecordEarlierThanItsPredecessorIsAnError() throws {
        let fixture = try fixture("fragments.txt")
        var bytes = fixture.bytes
        // The record's time, half a second, becomes one an hour earlier.
        bytes[fixture.boundaries[2] + 19] -= 1
        let problem = try read(bytes).error?.problem
        guard case .timeWentBackwards(let from, let to)? = problem else { return XCTFail("\(problem as Any)") }
        XCTAssertEqual(from, 0.25)
        XCTAssertLessThan(to, 0)
    }

    func testTimesOutsideTheRangeOfInstantsAreAnError() throws {
        let fixture = try fixture("monitor.txt")
        for (first, second) in [([UInt8](repeating: 0, count: 8), 0x7F), ([0x80, 0, 0, 0, 0, 0, 0, 0], 0x7F)] {
            var bytes = fixture.bytes
            bytes.replaceSubrange((fixture.boundaries[0] + 16)..<(fixture.boundaries[0] + 24), with: first)
            bytes[fixture.boundaries[1] + 16] = UInt8(second)
            XCTAssertEqual(try read(bytes).error?.problem, .timeOutOfRange)
        }
    }

    func testARecordLongerThanItsPacketIsAnError() throws {
        let fixture = try fixture("monitor.txt")
        var bytes = fixture.bytes
        bytes[fixture.boundaries[1] + 3] = 4
        XCTAssertEqual(try read(bytes).error?.problem, .moreThanOriginal(included: 44, original: 4))
        XCTAssertEqual(try read(bytes, strictness: .lenient).readings.count, 1)
    }

    func testEvenALenientReaderRejectsOtherFilesVersionsAndDatalinks() throws {
        let header = Array(try fixture("monitor.txt").bytes.prefix(16))
        var version = header
        version[11] = 2
        var datalink = header
        datalink[15] = 0xD2
        let cases: [([UInt8], BTSnoopError.Problem)] = [
            (version, .unsupportedVersion(2)), (datalink, .unsupportedDatalink(2002)),
            (Array("{\"type\":\"header\"}".utf8), .notACapture), ([], .notACapture),
            (Array(header.prefix(15)), .cutOff(expected: 16, found: 15)),
        ]
        for (bytes, problem) in cases {
            for strictness in [RecordingReader.Strictness.strict, .lenient] {
                let error = try read(bytes, strictness: strictness).error
                XCTAssertEqual(error?.problem, problem)
                XCTAssertNil(error?.offset)
                XCTAssertTrue(error?.description.contains("capture: ") == false, "\(error as Any)")
            }
        }
        XCTAssertThrowsError(try BTSnoopReader(path: "/missing/capture").path) { error in
            XCTAssertTrue("\(error)".hasPrefix("/missing/capture "), "\(error)")
        }
    }

    func testACaptureIsReadInConstantMemory() throws {
        let fixture = try fixture("uart.txt")
        let records = Array(fixture.bytes[fixture.boundaries[0]...])
        let folder = try TemporaryFolder()
        let path = folder.path + "/long"
        try Data(fixture.bytes.prefix(16) + (0..<100_000).flatMap { _ in records }).write(to: URL(filePath: path))
        var reader = try BTSnoopReader(path: path, strictness: .lenient)
        for _ in 0..<5000 { _ = try reader.next() }
        let before = try ResidentMemory.kibibytes()
        var peak = before
        var count = 5000
        while try reader.next() != nil {
            count += 1
            if count % 5000 == 0 { peak = max(peak, try ResidentMemory.kibibytes()) }
        }
        XCTAssertEqual(reader.tally.records, 300_000)
        XCTAssertLessThan(peak - before, 1024, "KiB more than after the first 5000 readings")
    }
}
