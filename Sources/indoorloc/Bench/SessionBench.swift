import CBench
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording

/// The benchmark of complete sessions on readings in memory.
struct SessionBench {
    private let venue: Venue
    private let fields: [VenueID: SignalField]
    private let readings: [SensorReading]
    /// The duration of the readings in seconds.
    let seconds: Double

    /// An office with one beacon per 50 m².
    static let office = BenchVenue(width: 60, height: 40, beacons: 48)

    /// Simulates a walk around a building.
    ///
    /// - Parameters:
    ///   - rounds: the number of rounds; in the office, one round takes two minutes.
    ///   - motionRate: the rate of the motion sensors in Hz.
    init(_ building: BenchVenue = Self.office, rounds: Int, motionRate: Double) throws {
        let venue = building.surveyed(every: 3)
        let corners = [(0.125, 0.1875), (0.875, 0.1875), (0.875, 0.8125), (0.125, 0.8125)].map { x, y in
            MapPoint(x: x * building.width, y: y * building.height)
        }
        let path = WalkPath(
            points: (0...4 * rounds).map { corner in
                WalkPath.Point(mapID: BenchVenue.mapID, point: corners[corner % 4])
            })
        var settings = SimulationSettings()
        settings.sensors.motionRate = motionRate
        let walk = try WalkSimulator(venue: venue, path: path, settings: settings, seed: 5)
        self.init(venue: venue, readings: walk.sensorReadings())
    }

    /// Reads the longest track of a data set, and learns from its survey.
    init(dataSet path: String) throws {
        let dataSet = try DataSet(path: path, radioMap: nil)
        var venue = dataSet.venue
        if !dataSet.surveys.isEmpty {
            var learning = SurveyLearning(venue: venue, model: SignalModel())
            try learning.add(dataSet.surveys, strictness: .lenient, progress: ProgressLine())
            venue.radioMap = learning.learner.finish() ?? venue.radioMap
        }
        let tracks = try dataSet.tracks.map(Self.readings)
        let length = { (track: [SensorReading]) in (track.last?.instant ?? .zero).nanoseconds }
        self.init(venue: venue, readings: tracks.max { length($0) < length($1) } ?? [])
    }

    private init(venue: Venue, readings: [SensorReading]) {
        self.venue = venue
        self.readings = readings
        fields = [venue.id: SignalField(venue: venue)]
        seconds = readings.first.map { $0.instant.duration(to: readings.last?.instant ?? $0.instant).seconds } ?? 0
    }

    private static func readings(_ path: String) throws -> [SensorReading] {
        var reader = try RecordingReader(path: path, strictness: .lenient)
        var readings: [SensorReading] = []
        while let entry = try reader.next() {
            if case .measurement(let reading) = entry { readings.append(reading) }
        }
        return readings
    }

    /// Runs a session from start to end; returns the number of positions.
    func play() -> Int {
        var replay = session()
        var positions = 0
        for reading in readings { positions += Self.positions(replay.handle(reading)) }
        return positions + Self.positions(replay.finish())
    }

    private func session() -> SessionReplay {
        var replay = SessionReplay(venues: [venue], settings: SettingsStack(), seed: 1, fields: fields)
        _ = replay.start()
        return replay
    }

    private static func positions(_ outputs: [SessionReplay.Output]) -> Int {
        outputs.count { if case .position = $0.content { true } else { false } }
    }

    /// The bytes that a session holds halfway through the readings, without the venue and its tables.
    func memory(sessions count: Int = 8) -> Double {
        // The first session also allocates memory that stays, so it is not measured.
        var replays = [session()]
        replays.reserveCapacity(count + 1)
        run(&replays[0])
        let before = cbench_bytes()
        for _ in 0..<count {
            replays.append(session())
            run(&replays[replays.count - 1])
        }
        return Double(cbench_bytes() - before) / Double(count)
    }

    private func run(_ replay: inout SessionReplay) {
        for reading in readings.prefix(readings.count / 2) { _ = replay.handle(reading) }
    }
}
