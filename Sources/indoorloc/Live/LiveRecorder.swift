import Foundation
import IndoorLocalization
import ScanRecording

/// A file that holds what a radio delivers, its instants counted from the first reading.
struct LiveRecorder: ~Copyable {
    private var timeline = ScanTimeline()
    private var file: ConvertedOutput

    /// Creates the file.
    init(_ target: RecordTarget) throws {
        // A beacon that has no place in a capture must not end the scan.
        file = try ConvertedOutput(
            path: target.path, format: target.format, header: target.header,
            startMicroseconds: target.startMicroseconds, adapter: 0, strictness: .lenient)
    }

    /// Writes a reading.
    mutating func write(_ reading: SensorReading) throws { try file.write(.measurement(timeline.rebase(reading))) }

    /// Completes the file, and tells what could not be kept in it.
    mutating func close() throws {
        try file.close()
        file.notes.forEach(StandardError.write)
    }
}

/// Which file a live command is to write, and when it began.
struct RecordTarget: Sendable {
    let path: String
    let format: ConvertedFormat
    let startMicroseconds = Int64((Date().timeIntervalSince1970 * 1e6).rounded())

    /// The header of a recording that begins now.
    var header: RecordingHeader { RecordingHeader(startedAt: RecordingStart.text(startMicroseconds)) }
}
