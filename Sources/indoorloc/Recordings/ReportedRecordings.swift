import IndoorLocalization
import ScanRecording

extension RoomRecording {
    /// Reads a recording with rooms, and reports skipped and dropped lines, and those of unknown types.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    static func reportingWarnings(
        _ path: String, strictness: RecordingReader.Strictness
    ) throws(RecordingError) -> RoomRecording {
        let recording = try RoomRecording(path: path, strictness: strictness)
        if let warning = recording.tally.warning(for: path) { StandardError.write(warning) }
        return recording
    }
}

extension SurveyRecording {
    /// Reads a survey, and reports skipped and dropped lines, and those of unknown types.
    ///
    /// - Throws: `RecordingError` if the file or, when strict, a line is invalid.
    static func reportingWarnings(
        _ path: String, in venue: Venue, strictness: RecordingReader.Strictness
    ) throws(RecordingError) -> SurveyRecording {
        let (recording, tally) = try SurveyRecording.read(path, in: venue, strictness: strictness)
        if let warning = tally.warning(for: path) { StandardError.write(warning) }
        return recording
    }
}
