import IndoorLocalization
import ScanRecording

/// A simulator of the sensor readings and the ground truth of a walk through a venue.
///
/// The simulator has no hidden inputs: the same venue, path, settings and seed give the same entries on every machine.
/// Walks with different seeds through one venue share its walls, powers and shadowing
/// (`RadioSettings.environmentSeed`), but have independent fading, noise and losses. Some of them can serve as surveys
/// and others for scoring.
public struct WalkSimulator: Sendable {
    /// The venue of the walk; its beacons advertise, and the device measures its distance to the anchors.
    package let venue: Venue
    /// The path of the walk.
    package let path: WalkPath
    /// The settings of the simulation.
    package let settings: SimulationSettings
    /// The seed that distinguishes this walk from others on the same path.
    package let seed: UInt64

    let timeline: WalkTimeline
    let transforms: [MapID: GeoTransform]

    /// Creates a simulator.
    ///
    /// A walk lasts at most a day and has at most three million readings. Beacons on unknown maps are silent.
    /// - Throws: `SimulationError` if the path or the settings are invalid.
    public init(
        venue: Venue, path: WalkPath, settings: SimulationSettings = SimulationSettings(), seed: UInt64
    ) throws(SimulationError) {
        self.venue = venue
        self.path = path
        self.settings = settings
        self.seed = seed
        try settings.check()
        try path.check()
        transforms = try Self.transforms(of: path, in: venue)
        timeline = WalkTimeline(path, venue: venue, sensors: settings.sensors)
        try checkLength()
    }

    /// Creates a simulator from a walk document.
    ///
    /// - Throws: `SimulationError` if the path or the settings are invalid.
    public init(venue: Venue, script: WalkScript, seed: UInt64) throws(SimulationError) {
        try self.init(venue: venue, path: script.path, settings: script.settings, seed: seed)
    }

    /// The duration of the walk.
    public var duration: Duration { Instant.zero.duration(to: Instant(seconds: timeline.duration)) }

    /// The header of the walk's recording.
    public var header: RecordingHeader {
        RecordingHeader(device: "simulator, seed \(seed)", venueID: venue.id, name: path.name)
    }

    /// Returns all readings and ground truths in chronological order, without the header.
    ///
    /// Outdoors, where no map applies, ground truths have the room `WalkSimulator.outdoors` instead of a point.
    public func entries() -> [RecordingEntry] {
        let readings = sightings() + motionSamples() + steps() + pressureSamples() + gnssFixes() + ranges()
        let entries = truths().map(RecordingEntry.truth) + readings.map(RecordingEntry.measurement)
        // The sort uses the index as well, so that entries with equal instants keep their order.
        return entries.enumerated()
            .map { (instant: $1.instant ?? .zero, index: $0, entry: $1) }
            .sorted { ($0.instant, $0.index) < ($1.instant, $1.index) }
            .map(\.entry)
    }

    /// Returns the readings of `entries()`.
    package func sensorReadings() -> [SensorReading] {
        entries().compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
    }

    /// The room in ground truths outdoors.
    package static let outdoors = "outdoors"

    private static func transforms(of path: WalkPath, in venue: Venue) throws(SimulationError) -> [MapID: GeoTransform]
    {
        var transforms: [MapID: GeoTransform] = [:]
        for (index, point) in path.points.enumerated() {
            let field = "points[\(index)]"
            guard let map = venue.map(point.mapID) else { throw .unknownMap(point.mapID, field: field + ".mapId") }
            if transforms[map.id] == nil { transforms[map.id] = try? map.geoTransform() }
            if point.isOutdoors, transforms[map.id] == nil { throw .noGeoreference(map.id, field: field + ".outdoors") }
        }
        return transforms
    }
}

extension WalkSimulator: ScanSource {
    public var pace: ScanPace { .recorded }

    /// Returns a stream of the walk's sensor readings; each call returns the same readings.
    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream { continuation in
            for reading in sensorReadings() { continuation.yield(reading) }
            continuation.finish()
        }
    }
}

extension WalkPath {
    /// Checks the numbers of the path.
    func check() throws(SimulationError) {
        guard !points.isEmpty else { throw .noPoints }
        try Self.check(speed, "speed", positive: true)
        for (index, point) in points.enumerated() {
            let field = "points[\(index)]."
            try Self.check(point.point.x, field + "x")
            try Self.check(point.point.y, field + "y")
            try Self.check(point.pause, field + "pause")
            if point.pause < 0 { throw .outOfRange(field: field + "pause", value: point.pause, allowed: "0 or above") }
            if let heading = point.heading { try Self.check(heading, field + "heading") }
            if let seconds = point.seconds { try Self.check(seconds, field + "seconds", positive: true) }
            if let speed = point.speed { try Self.check(speed, field + "speed", positive: true) }
        }
    }

    /// Checks that a number is at most a million metres or seconds, because a larger one is probably a typing error.
    private static func check(_ value: Double, _ field: String, positive: Bool = false) throws(SimulationError) {
        let range = positive ? 1e-3...1e6 : -1e6...1e6
        guard range.contains(value) else {
            throw .outOfRange(field: field, value: value, allowed: "\(range.lowerBound) to \(range.upperBound)")
        }
    }
}
