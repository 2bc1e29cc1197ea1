import IndoorVocabulary

/// What one line of a recording says.
public enum RecordingEntry: Hashable, Sendable {
    /// What the recording is; always the first entry and never a later one.
    case header(RecordingHeader)
    /// Something that the device sensed.
    case measurement(SensorReading)
    /// Where the device really was; for surveys and for scoring, never for localizing.
    case truth(Truth)

    /// When it happened, nil for the header.
    public var instant: Instant? {
        switch self {
        case .header: nil
        case .measurement(let measurement): measurement.instant
        case .truth(let truth): truth.instant
        }
    }
}
