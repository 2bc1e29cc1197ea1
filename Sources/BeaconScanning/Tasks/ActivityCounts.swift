import IndoorVocabulary

/// The activity of a session or a scanner since it was created, as counts.
public struct ActivityCounts: Hashable, Sendable {
    /// The number of scan passes that began.
    public package(set) var passes = 0
    /// The number of advertisements, and of beacons that the source delivered in decoded form.
    public package(set) var readings = 0
    /// The number of beacons among them whose RSSI is a measurement.
    public package(set) var sightings = 0
    /// The number of indoor positions.
    public package(set) var positions = 0
    /// The number of outdoor positions, from satellites.
    public package(set) var outdoorPositions = 0
    /// The number of entries into rooms, geofences and regions, and of exits from them.
    public package(set) var events = 0
    /// The number of reported errors, including those after which the session continued.
    public package(set) var errors = 0
    /// The number of reported errors by their effect on the session; codes without errors are absent.
    public package(set) var errorsByCode: [LocalizationError.Code: Int] = [:]
    /// Whether the radio rests between two passes.
    private var isResting = false

    /// Creates counts of zero.
    package init() {}

    /// Counts a reported error.
    package mutating func note(_ error: LocalizationError) {
        errors += 1
        errorsByCode[error.code, default: 0] += 1
    }

    /// Counts a reading that a source delivers to a scanner; the scanner itself counts the beacons among the readings.
    package mutating func noteReading(_ reading: SensorReading) {
        switch reading {
        case .sighting, .advertisement: readings += 1
        case .motion, .step, .pressure, .gnss, .fix, .range, .radio: break
        }
    }

    /// Counts a reading that a source delivers to a session.
    package mutating func note(_ decoded: DecodedReading) {
        noteReading(decoded.reading)
        if case .sighting = decoded.content { sightings += 1 }
        guard case .radio(let event) = decoded.reading else { return }
        // The first pass was counted at the start of the scan.
        if isResting, event.status == .scanning { passes += 1 }
        isResting = event.status == .resting
    }
}
