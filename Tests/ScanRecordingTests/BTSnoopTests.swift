import FoundationEssentials
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import Synchronization
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

    /// Returns a capture of a command at zero and of a scan response at each of the times in seconds, and where these are.
    private func capture(_ times: [Double]) throws -> (bytes: [UInt8], offsets: [Int64]) {
        let fixture = try fixture("uart.txt")
        let record = fixture.bytes[fixture.boundaries[2]...]
        let first = fixture.boundaries[0] + 16
        let start = fixture.bytes[first..<(first + 8)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        var bytes = Array(fixture.bytes[..<fixture.boundaries[2]])
        var offsets: [Int64] = []
        for time in times {
            let place = bytes.count
            offsets.append(Int64(place))
            bytes += record
            let microseconds = start + Int64(time * 1e6)
            for index in 0..<8 {
                bytes[place + 16 + index] = UInt8(truncatingIfNeeded: microseconds >> Int64(56 - 8 * index))
            }
        }
        return (bytes, offsets)
    }

    func testALenientReaderSkipsOnlyTheRecordsThatAreOutOfOrder() throws {
        let later = (3600...3610).map { Double($0) }
        let cases: [(times: [Double], leftOut: [Int])] = [
            ([1, 3600, 2, 3, 4], [1]), ([1, 3600, 3601, 3602, 2, 3], [1, 2, 3]), ([1, 0.5, 2], [1]),
            ([1, -3600, 2], [1]), ([-3600, 1, 2], [0]),
            // A clock that steps forward, and one that steps back for good.
            ([1, 2] + later, []), ([1, 2, 3600, 3601], []), ([1, 2] + later + [3, 4], [13, 14]),
        ]
        for (times, leftOut) in cases {
            let (bytes, offsets) = try capture(times)
            let (readings, error, tally) = try read(bytes, strictness: .lenient)
            XCTAssertNil(error, "\(times)")
            let kept = times.indices.filter { !leftOut.contains($0) }.map { times[$0] }
            XCTAssertEqual(readings.map(\.instant.seconds), kept, "\(times)")
            XCTAssertEqual(tally.scanResponses, kept.count, "\(times)")
            XCTAssertEqual(tally.skippedRecords, leftOut.count, "\(times)")
            XCTAssertEqual(tally.errors.map(\.offset), leftOut.map { offsets[$0] }, "\(times)")
            XCTAssertEqual(try read(bytes).error == nil, leftOut.isEmpty, "\(times)")
        }
    }

    func testALenientReaderSkipsAFirstRecordThatIsAhead() throws {
        let times: [Double] = [-3600, -3599, -3598]
        let (readings, error, tally) = try read(capture(times).bytes, strictness: .lenient)
        XCTAssertNil(error)
        XCTAssertEqual(readings.map(\.instant.seconds), times)
        XCTAssertEqual(tally.skippedRecords, 1)
        XCTAssertEqual(tally.errors.map(\.offset), [16])
        XCTAssertEqual(tally.errors.map(\.problem), [.timeWentBackwards(from: 0, to: -3600)])
    }

    func testAnInvalidRecordThatIsOutOfOrderIsCountedOnce() throws {
        let whole = try capture([1, 3600, 2, 3])
        var bytes = whole.bytes
        let record = Int(whole.offsets[1])
        // One byte more than the event's only report, behind the record's head, the type byte and the event.
        bytes.insert(0, at: record + 24 + 1 + 17)
        for length in [record + 3, record + 7, record + 24 + 1 + 1] { bytes[length] += 1 }
        let (readings, _, tally) = try read(bytes, strictness: .lenient)
        XCTAssertEqual(readings.map(\.instant.seconds), [1, 2, 3])
        XCTAssertEqual(tally.skippedRecords, 1)
        guard case .malformedEvent? = tally.errors.first?.problem else { return XCTFail("\(tally.errors)") }
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

    func testATruncatedCompressedCaptureIsReadUpToItsEndWhenLenient() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.btsnoop.gz"
        let readings = advertisements(count: 500, seed: 403)
        var writer = try BTSnoopWriter(path: path)
        for reading in readings { try writer.write(reading) }
        try writer.close()
        let bytes = try folder.bytes("c.btsnoop.gz")
        try Data(bytes.prefix(bytes.count / 2)).write(to: URL(filePath: path))
        for strictness in [RecordingReader.Strictness.strict, .lenient] {
            var reader = try BTSnoopReader(path: path, strictness: strictness)
            var read: [SensorReading] = []
            var thrown: BTSnoopError?
            do throws(BTSnoopError) { while let reading = try reader.next() { read.append(reading) } } catch {
                thrown = error
            }
            XCTAssertGreaterThan(read.count, 100)
            XCTAssertEqual(read, Array(readings.prefix(read.count)))
            XCTAssertEqual(thrown == nil, strictness == .lenient)
            guard case .unreadable = (thrown ?? reader.tally.errors.first)?.problem else {
                return XCTFail("\(reader.tally)")
            }
        }
    }

    func testALenientReaderReturnsAllReadingsBeforeADamage() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/c.btsnoop.gz"
        let readings = advertisements(count: 3, seed: 404)
        var writer = try BTSnoopWriter(path: path)
        try writer.write(readings[0])
        try writer.checkpoint()
        for reading in readings.dropFirst() { try writer.write(reading) }
        try writer.close()
        var bytes = try folder.bytes("c.btsnoop.gz")
        // The checksum behind the last record.
        bytes[bytes.count - 8] ^= 1
        try Data(bytes).write(to: URL(filePath: path))
        for strictness in [RecordingReader.Strictness.strict, .lenient] {
            var reader = try BTSnoopReader(path: path, strictness: strictness)
            var read: [SensorReading] = []
            do throws(BTSnoopError) {
                while let reading = try reader.next() { read.append(reading) }
                XCTFail("no error")
            } catch {
                guard case .unreadable = error.problem else { return XCTFail("\(error)") }
            }
            XCTAssertEqual(read, [readings[0]], "the readings of the first member")
            XCTAssertNil(try reader.next(), "the reader returns nothing after an error")
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

final class ConstantMemoryTests: XCTestCase {
    func testTwentyMegabytesAreReadInConstantMemory() throws {
        let folder = try TemporaryFolder()
        let line =
            #"{"t":1,"type":"motion","acceleration":[0.1,0.2,9.8],"unknown":"\#(String(repeating: "x", count: 900))"}"#
        let header = #"{"type":"header","format":"indoor-localization-recording","version":1}"#
        let path = try folder.write("long.jsonl", header + "\n" + String(repeating: line + "\n", count: 21_000))
        XCTAssertGreaterThan(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0, 20_000_000)

        var reader = try RecordingReader(path: path)
        for _ in 0..<500 { _ = try reader.next() }
        let before = try ResidentMemory.kibibytes()
        var peak = before
        var count = 500
        while try reader.next() != nil {
            count += 1
            if count % 500 == 0 { peak = max(peak, try ResidentMemory.kibibytes()) }
        }
        XCTAssertEqual(count, 21_001)
        // A reader that kept the file or the entries would add several thousand KiB; this one adds a page or two.
        XCTAssertLessThan(peak - before, 1024, "KiB more than after the first 500 entries")
    }
}

/// The resident memory of this process.
enum ResidentMemory {
    static func kibibytes() throws -> Int {
        let status = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/status")), as: UTF8.self)
        let line = try XCTUnwrap(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try XCTUnwrap(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }
}
