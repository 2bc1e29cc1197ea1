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
