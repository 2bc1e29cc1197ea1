import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

final class RecordingWriterTests: XCTestCase {
    private func assertRefused(
        _ readings: [SensorReading], field: String?, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/r.jsonl"
        var writer = try RecordingWriter(path: path)
        for reading in readings.dropLast() { try writer.write(reading) }
        let refused = try XCTUnwrap(readings.last)
        do throws(RecordingError) {
            try writer.write(refused)
            XCTFail("written", file: file, line: line)
        } catch {
            XCTAssertEqual(error.field, field, file: file, line: line)
            XCTAssertEqual(error.line, readings.count + 1, file: file, line: line)
        }
        try writer.close()
        var reader = try RecordingReader(path: path)
        XCTAssertEqual(try reader.readAll().count, readings.count, "the rest is whole", file: file, line: line)
    }

    func testALineThatAReaderWouldRejectIsNotWritten() throws {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 0, minor: 0)
        try assertRefused([.pressure(PressureSample(instant: .zero, hectopascals: .nan))], field: "hPa")
        try assertRefused([.pressure(PressureSample(instant: .zero, hectopascals: 101_325))], field: "hPa")
        try assertRefused([.step(Step(instant: .zero, length: .infinity))], field: "length")
        try assertRefused([.sighting(Sighting(instant: .zero, beacon: beacon, rssi: 127))], field: "rssi")
        try assertRefused([.step(Step(instant: Instant(seconds: 1))), .step(Step(instant: .zero))], field: "t")
        try assertRefused([.step(Step(instant: Instant(nanoseconds: .max)))], field: "t")
    }

    func testOnlyItsOwnerCanReadANewRecording() throws {
        let folder = try TemporaryFolder()
        for name in ["r.jsonl", "r.jsonl.gz"] {
            var writer = try RecordingWriter(path: folder.path + "/" + name)
            try writer.close()
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
            XCTAssertEqual(attributes[.posixPermissions] as? Int, 0o600, name)
        }
    }

    func testAMissingFolderIsAnErrorOfTheWriter() {
        do throws(RecordingError) {
            _ = try RecordingWriter(path: "/nowhere/r.jsonl")
            XCTFail("created")
        } catch {
            guard case .unwritable = error.problem else { return XCTFail("\(error)") }
        }
    }

    func testASecondHeaderIsNotWritten() throws {
        let folder = try TemporaryFolder()
        var writer = try RecordingWriter(path: folder.path + "/r.jsonl")
        do throws(RecordingError) {
            try writer.write(.header(RecordingHeader()))
            XCTFail("written")
        } catch {
            XCTAssertEqual(error.problem, .repeatedHeader)
        }
    }

    func testNothingIsWrittenAfterClose() throws {
        let folder = try TemporaryFolder()
        var writer = try RecordingWriter(path: folder.path + "/r.jsonl")
        try writer.close()
        try writer.close()
        do throws(RecordingError) {
            try writer.write(.step(Step(instant: .zero)))
            XCTFail("written")
        } catch {
            XCTAssertEqual(error.problem, .unwritable("the writer is closed"))
        }
    }

    func testFlushedLinesAreInThePlainFileBeforeItIsClosed() throws {
        let folder = try TemporaryFolder()
        var writer = try RecordingWriter(path: folder.path + "/r.jsonl")
        try writer.write(.step(Step(instant: .zero)))
        try writer.flush()
        var reader = try RecordingReader(path: folder.path + "/r.jsonl")
        XCTAssertEqual(try reader.readAll().count, 2)
        try writer.close()
    }

    func testLinesBeforeACheckpointCanBeReadWhileTheFileIsOpen() throws {
        let folder = try TemporaryFolder()
        for name in ["r.jsonl", "r.jsonl.gz"] {
            let path = folder.path + "/" + name
            var writer = try RecordingWriter(path: path)
            for second in 0..<3 {
                try writer.write(.step(Step(instant: Instant(seconds: Double(second)))))
                try writer.checkpoint()
                try writer.checkpoint()
                var reader = try RecordingReader(path: path)
                XCTAssertEqual(try reader.readAll().count, second + 2, name)
            }
            try writer.write(.step(Step(instant: Instant(seconds: 3))))
            try writer.close()
            var reader = try RecordingReader(path: path)
            XCTAssertEqual(try reader.readAll().count, 5, name)
        }
    }
}

final class RecordingRoundTripTests: XCTestCase {
    private let header = RecordingHeader(
        startedAt: "2025-03-04T05:06:07Z", device: "Pi \"Zero\" 2 \u{1} Ünï🧭", venueID: 12, name: "walk\n1",
        traceID: TraceID(rawValue: 0xAB12))

    private func entries() throws -> [RecordingEntry] {
        let uuid = try XCTUnwrap(BeaconUUID("7C2F0A10-0000-4000-8000-000000000003"))
        let beacon = BeaconIdentity(uuid: uuid, major: 65535, minor: 0)
        let address = DeviceAddress(rawValue: 0x0102_0304_0506, kind: .random)
        let bare = DeviceAddress(rawValue: 0xFFEE_DDCC_BBAA)
        let at = { (nanoseconds: Int64) in Instant(nanoseconds: nanoseconds) }
        return [
            .truth(Truth(instant: at(0), mapID: -3, point: MapPoint(x: 1.25, y: -0.1))),
            .truth(Truth(instant: at(0), room: "kitchen", isHold: true)),
            .truth(Truth(instant: at(0), mapID: 1, room: "hall")),
            .measurement(.sighting(Sighting(instant: at(1), beacon: beacon, rssi: -70.5))),
            .measurement(
                .sighting(Sighting(instant: at(1), beacon: beacon, rssi: -127, measuredPower: -59, address: address))),
            .measurement(.sighting(Sighting(instant: at(1), beacon: beacon, rssi: -1, address: bare))),
            .measurement(.advertisement(Advertisement(instant: at(2), address: address, rssi: -33, data: []))),
            .measurement(
                .advertisement(Advertisement(instant: at(2), address: bare, rssi: -33, data: [0, 0xAF, 0x10]))),
            .measurement(.motion(MotionSample(instant: at(123_456_789_012_345_678)))),
            .measurement(
                .motion(
                    MotionSample(
                        instant: at(123_456_789_012_345_678), acceleration: Vector3(x: 0.1, y: 1e-7, z: -9.80665),
                        rotationRate: Vector3(x: 1.0 / 3, y: .leastNonzeroMagnitude, z: 1e22),
                        magneticField: Vector3(x: -0.0, y: 123456789.123, z: 1e300),
                        attitude: Quaternion(w: 0.5, x: -0.5, y: 0.5, z: 0.5)))),
            .measurement(.step(Step(instant: at(123_456_789_012_345_678)))),
            .measurement(.step(Step(instant: at(123_456_789_012_345_678), length: 0.7, heading: 359.99))),
            .measurement(.pressure(PressureSample(instant: at(123_456_789_012_345_679), hectopascals: 1013.25))),
            .measurement(
                .gnss(
                    GNSSFix(
                        instant: at(123_456_789_012_345_679), coordinate: Coordinate(latitude: -90, longitude: 180),
                        accuracy: 0, altitude: -12.5, speed: 0, course: (360.0).nextDown))),
            .measurement(
                .gnss(
                    GNSSFix(
                        instant: at(123_456_789_012_345_679), coordinate: Coordinate(latitude: 47.1, longitude: 8),
                        accuracy: 3))),
            .measurement(
                .fix(
                    Fix(instant: at(.max / 10 * 9), mapID: 7, point: MapPoint(x: 0, y: 1e-3), radius: 0.5))),
            .measurement(
                .fix(
                    Fix(
                        instant: at(.max / 10 * 9), mapID: 7, point: MapPoint(x: 0, y: 1e-3), radius: 0.5,
                        isSoft: true))),
            .measurement(
                .range(
                    RangeReading(
                        instant: at(.max / 10 * 9), anchor: "A \"1\" ü", distance: -0.25, deviation: 0.1,
                        technology: .uwb))),
            .measurement(
                .range(
                    RangeReading(
                        instant: at(.max / 10 * 9), anchor: "A2", distance: 10_000,
                        technology: RangeTechnology(rawValue: "sound")))),
            .measurement(.radio(RadioEvent(instant: at(.max / 10 * 9), status: .unplugged))),
            .measurement(
                .radio(
                    RadioEvent(
                        instant: at(.max / 10 * 9), status: .sharing, adapter: "hci0", detail: "a \"scan\" runs"))),
        ]
    }

    private func assertRoundTrip(_ name: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/" + name
        let written = try entries()
        var writer = try RecordingWriter(path: path, header: header)
        for entry in written { try writer.write(entry) }
        try writer.close()

        var reader = try RecordingReader(path: path)
        let read = try reader.readAll()

        XCTAssertEqual(read.count, written.count + 1)
        XCTAssertEqual(read.first, .header(header))
        for (read, written) in zip(read.dropFirst(), written) { XCTAssertEqual(read, written) }
    }

    func testEveryTypeReadsBackEqualFromAPlainFile() throws { try assertRoundTrip("all.jsonl") }

    func testEveryTypeReadsBackEqualFromACompressedFile() throws { try assertRoundTrip("all.jsonl.gz") }

    func testEqualEntriesGiveIdenticalCompressedBytes() throws {
        let folder = try TemporaryFolder()
        let written = try entries()
        for name in ["one.jsonl.gz", "two.jsonl.gz"] {
            var writer = try RecordingWriter(path: folder.path + "/" + name, header: header)
            for entry in written { try writer.write(entry) }
            try writer.close()
        }
        let bytes = try folder.bytes("one.jsonl.gz")
        XCTAssertEqual(bytes, try folder.bytes("two.jsonl.gz"))
        XCTAssertEqual(Array(bytes.prefix(2)), [0x1F, 0x8B], "the magic number of gzip")
        XCTAssertEqual(Array(bytes[4..<8]), [0, 0, 0, 0], "gzip's time of modification")
    }

    func testTheWrittenTextIsTheShortest() throws {
        let folder = try TemporaryFolder()
        do {
            var writer = try RecordingWriter(path: folder.path + "/short.jsonl")
            try writer.write(
                .pressure(PressureSample(instant: Instant(nanoseconds: 1_500_000_000), hectopascals: 1000)))
            try writer.write(.step(Step(instant: Instant(nanoseconds: 2_000_000_001), length: 0.7)))
        }
        XCTAssertEqual(
            String(decoding: try folder.bytes("short.jsonl"), as: UTF8.self),
            """
            {"type":"header","format":"indoor-localization-recording","version":1}
            {"t":1.5,"type":"pressure","hPa":1000}
            {"t":2.000000001,"type":"step","length":0.7}

            """)
    }
}
