import IndoorLocalization
import ScanRecording

/// Simulates what a device senses on a walk through a venue, and where it really was.
///
/// A value without hidden inputs: the same venue, path, settings and seed give the same entries, everywhere. Walks
/// with different seeds through one venue meet the same walls, powers and shadowing (`RadioSettings.environmentSeed`)
/// but other fading, noise and losses: some can be surveyed and others scored.
public struct WalkSimulator: Sendable {
    /// The venue that is walked through; its beacons advertise.
    public let venue: Venue
    /// Where one walks.
    public let path: WalkPath
    /// How the walk is simulated.
    public let settings: SimulationSettings
    /// What makes this walk differ from another one on the same path.
    public let seed: UInt64

    let timeline: WalkTimeline
    let transforms: [MapID: GeoTransform]

    /// Creates a simulator.
    ///
    /// A walk lasts a day at most, and gives three million readings.
    /// - Throws: what is wrong with the path or the settings. Beacons on maps that the venue lacks stay silent.
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

    /// Creates a simulator of a walk's document.
    ///
    /// - Throws: what is wrong with the path or the settings.
    public init(venue: Venue, script: WalkScript, seed: UInt64) throws(SimulationError) {
        try self.init(venue: venue, path: script.path, settings: script.settings, seed: seed)
    }

    /// How long the walk takes.
    public var duration: Duration { Instant.zero.duration(to: Instant(seconds: timeline.duration)) }

    /// The first line of the walk's recording.
    public var header: RecordingHeader {
        RecordingHeader(device: "simulator, seed \(seed)", venueID: venue.id, name: path.name)
    }

    /// All readings and truths in the order of their time, without the header.
    ///
    /// Outdoors, where no map counts, truths name the room `WalkSimulator.outdoors` instead of a point.
    public func entries() -> [RecordingEntry] {
        let readings = sightings() + motionSamples() + steps() + pressureSamples() + gnssFixes()
        let entries = truths().map(RecordingEntry.truth) + readings.map(RecordingEntry.measurement)
        // Stable by the index, so that equal instants keep the order above.
        return entries.enumerated()
            .map { (instant: $1.instant ?? .zero, index: $0, entry: $1) }
            .sorted { ($0.instant, $0.index) < ($1.instant, $1.index) }
            .map(\.entry)
    }

    /// The readings of `entries()`.
    public func sensorReadings() -> [SensorReading] {
        entries().compactMap { if case .measurement(let reading) = $0 { reading } else { nil } }
    }

    /// The room that truths name outdoors.
    public static let outdoors = "outdoors"

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

    /// What the device senses on the walk; each call walks anew, with the same readings.
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

    /// Beyond a million metres or seconds, a walk is a slip of the pen that would fill the memory.
    private static func check(_ value: Double, _ field: String, positive: Bool = false) throws(SimulationError) {
        let range = positive ? 1e-3...1e6 : -1e6...1e6
        guard range.contains(value) else {
            throw .outOfRange(field: field, value: value, allowed: "from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
