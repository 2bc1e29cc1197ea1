import IndoorVocabulary

/// What a session or a scanner has counted since it was created.
public struct ActivityCounts: Hashable, Sendable {
    /// Passes of the radio that began.
    public package(set) var passes = 0
    /// Advertisements as they came over the air, and beacons that the source told as such.
    public package(set) var readings = 0
    /// Of these, beacons with an RSSI that is a measurement.
    public package(set) var sightings = 0
    /// Positions indoors.
    public package(set) var positions = 0
    /// Positions by satellites, outdoors.
    public package(set) var outdoorPositions = 0
    /// Rooms, fences and regions that were entered or left.
    public package(set) var events = 0
    /// Errors that were reported, also those that the session survived.
    public package(set) var errors = 0
    /// Whether the radio rests between two passes.
    private var isResting = false

    /// Creates counts of nothing.
    public init() {}

    /// Takes in what a source delivers to a scanner, which tells itself which of it are beacons.
    package mutating func noteReading(_ reading: SensorReading) {
        switch reading {
        case .sighting, .advertisement: readings += 1
        case .motion, .step, .pressure, .gnss, .fix, .radio: break
        }
    }

    /// Takes in what a source delivers to a session.
    package mutating func note(_ decoded: DecodedReading) {
        noteReading(decoded.reading)
        if case .sighting = decoded.content { sightings += 1 }
        guard case .radio(let event) = decoded.reading else { return }
        // The first pass began with the scan.
        if isResting, event.status == .scanning { passes += 1 }
        isResting = event.status == .resting
    }
}
