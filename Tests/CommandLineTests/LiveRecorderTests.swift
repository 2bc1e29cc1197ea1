import Foundation
import IndoorLocalization
import ScanRecording
import XCTest

@testable import indoorloc

/// The recording of live readings: its order, and readings and files that are not as they should be.
final class LiveRecorderTests: XCTestCase {
    private func target(_ path: String, _ options: String...) throws -> RecordTarget {
        try XCTUnwrap(
            try ParsedArguments(["--record", path] + options, syntax: LocateCommand.syntax).recordTarget())
    }

    private func sighting(at seconds: Double, rssi: Double = -60) -> SensorReading {
        let beacon = BeaconIdentity(uuid: BeaconUUID(high: 1, low: 2), major: 1, minor: 2)
        return .sighting(Sighting(instant: Instant(seconds: seconds), beacon: beacon, rssi: rssi))
    }

    private func position(at seconds: Double) -> SensorReading {
        let coordinate = Coordinate(latitude: 52.52, longitude: 13.41)
        return .gnss(GNSSFix(instant: Instant(seconds: seconds), coordinate: coordinate, accuracy: 5))
    }

    /// The entries of a recording without its header.
    private func entries(
        _ path: String, _ strictness: RecordingReader.Strictness = .strict
    ) throws -> [RecordingEntry] {
        var reader = try RecordingReader(path: path, strictness: strictness)
        return try reader.readAll().filter { if case .header = $0 { false } else { true } }
    }

    private func start(_ path: String) throws -> String? {
        var reader = try RecordingReader(path: path, strictness: .lenient)
        _ = try reader.next()
        return reader.header?.startedAt
    }

    /// With inertial sensors, a sighting waits up to a tenth of a second for theirs; a satellite position doesn't.
    func testReadingsThatASatellitePositionOvertakesAreRecordedBeforeIt() throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        var recorder = try LiveRecorder(try target(path))
        let readings = [
            sighting(at: 0), position(at: 1), sighting(at: 0.9), sighting(at: 0.95), sighting(at: 1.1), position(at: 2),
        ]
        for reading in readings { try recorder.write(reading) }
        try recorder.close()
        let expected = [readings[0], readings[2], readings[3], readings[1], readings[4], readings[5]]
        XCTAssertEqual(try entries(path), expected.map(RecordingEntry.measurement))
    }

    func testAReadingThatIsLateAllTheSameGetsTheInstantOfTheLastOne() throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        var recorder = try LiveRecorder(try target(path))
        for reading in [position(at: 0), position(at: 1), position(at: 2.5), sighting(at: 0.5), sighting(at: 3)] {
            try recorder.write(reading)
        }
        try recorder.close()
        let expected = [position(at: 0), position(at: 1), sighting(at: 1), position(at: 2.5), sighting(at: 3)]
        XCTAssertEqual(try entries(path), expected.map(RecordingEntry.measurement))
    }

    /// A barometer that doesn't answer.
    private let silent = SensorReading.pressure(PressureSample(instant: Instant(seconds: 1), hectopascals: 0))

    func testAReadingThatTheFormatCannotRepresentDoesNotEndTheRecording() throws {
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = try temporaryFolder() + "/" + name
            var recorder = try LiveRecorder(try target(path))
            for reading in [sighting(at: 0), silent, sighting(at: 2)] { try recorder.write(reading) }
            try recorder.close()
            let expected = [sighting(at: 0), sighting(at: 2)].map(RecordingEntry.measurement)
            XCTAssertEqual(try entries(path), expected, name)
        }
    }

    func testSuchAReadingIsCountedOnceAlthoughACheckpointComesBeforeIt() throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        let rest = [silent, sighting(at: 2)].map(RecordingEntry.measurement)
        let expected = [sighting(at: 0), sighting(at: 2)].map(RecordingEntry.measurement)
        var output = try ConvertedOutput(
            OutputFile(path: path, isPrivate: true), format: .recording, header: RecordingHeader(),
            startMicroseconds: 0, adapter: 0, strictness: .lenient)
        try output.write(expected[0])
        try output.appear()
        try output.checkpoint(followedBy: rest)
        XCTAssertEqual(try entries(path), expected)
        for entry in rest { try output.write(entry) }
        try output.close()
        XCTAssertEqual(try entries(path), expected)
        let notes = output.notes
        XCTAssertEqual(notes.count, 1, "\(notes)")
        let note = try XCTUnwrap(notes.first)
        XCTAssertTrue(note.contains("1 reading rejected: \(path):3: field `hPa` is 0; expected 100 to 2000"), note)
    }

    func testAStrictOutputRefusesSuchAReading() throws {
        let output = OutputFile(path: try temporaryFolder() + "/walk.jsonl", isPrivate: true)
        var strict = try ConvertedOutput(
            output, format: .recording, header: RecordingHeader(), startMicroseconds: 0, adapter: 0,
            strictness: .strict)
        do {
            try strict.write(.measurement(silent))
            XCTFail("it should have thrown")
        } catch { XCTAssertTrue("\(error)".contains("field `hPa` is 0"), "\(error)") }
    }

    /// Records a sighting each second, each on the disk before the next one.
    private func record(seconds: Int, to path: String) throws {
        var recorder = try LiveRecorder(try target(path), checkpointInterval: .zero)
        for second in 0..<seconds { try recorder.write(sighting(at: Double(second))) }
        try recorder.close()
    }

    /// A full disk cuts a file off within a line, or within the compressed data.
    func testARecordingWhoseEndIsCutOffIsContinued() throws {
        for name in ["walk.jsonl", "walk.jsonl.gz"] {
            let path = try temporaryFolder() + "/" + name
            try record(seconds: 4, to: path)
            let begun = try start(path)
            try bytes(path).dropLast(60).write(to: URL(filePath: path))
            XCTAssertThrowsError(try entries(path), name)
            let kept = try entries(path, .lenient)
            XCTAssertGreaterThanOrEqual(kept.count, 3, name)
            var recorder = try LiveRecorder(try target(path, "--append"))
            for reading in [sighting(at: 7, rssi: -71), sighting(at: 8, rssi: -72)] { try recorder.write(reading) }
            try recorder.close()
            let all = try entries(path)
            XCTAssertEqual(Array(all.prefix(kept.count)), kept, name)
            let strengths = all.dropFirst(kept.count).map { entry -> Double in
                if case .measurement(.sighting(let sighting)) = entry { sighting.rssi } else { 0 }
            }
            XCTAssertEqual(strengths, [-71, -72], name)
            XCTAssertEqual(try start(path), begun, name)
        }
    }

    func testARecordingWithAnErrorBeforeItsEndIsNotContinued() throws {
        let path = try temporaryFolder() + "/walk.jsonl"
        try record(seconds: 4, to: path)
        let text = String(decoding: try bytes(path), as: UTF8.self).replacing("\"t\":1,", with: "\"t\":one,")
        let damaged = Data(text.utf8.dropLast(60))
        try damaged.write(to: URL(filePath: path))
        do {
            var recorder = try LiveRecorder(try target(path, "--append"))
            try recorder.close()
            XCTFail("it should have thrown")
        } catch { XCTAssertTrue("\(error)".hasPrefix("\(path):3: "), "\(error)") }
        XCTAssertEqual(try bytes(path), damaged)
    }
}
