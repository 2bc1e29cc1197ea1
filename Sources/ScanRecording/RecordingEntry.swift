import IndoorVocabulary

/// The content of one line of a recording.
public enum RecordingEntry: Hashable, Sendable {
    /// The header of the recording; always the first entry and only the first.
    case header(RecordingHeader)
    /// A measurement by one of the device's sensors.
    case measurement(SensorReading)
    /// The true position of the device; used for surveys and for scoring, never for localization.
    case truth(Truth)

    /// The time of the entry; nil for the header.
    public var instant: Instant? {
        switch self {
        case .header: nil
        case .measurement(let measurement): measurement.instant
        case .truth(let truth): truth.instant
        }
    }
}
