import CBench
import IndoorLocalization
import IndoorLocalizationTesting
import ScanRecording
import TagTracking

/// The benchmark of the filter's innermost loop: the likelihood of received beacons for each particle, and each
/// particle's estimate of the receiver offset.
struct WeighBench {
    private let likelihood: Likelihood
    private let map: SignalField.MapField
    private let receiver = ReceiverOffset(deviation: 6, bodyDeviation: 2)
    /// The initial positions, and the cell of each, counted from 1; 0 is outside the grid.
    private let places: [MapPoint]
    private let cells: [Int32]
    private var particles = ParticleFilter.Particles()
    /// The C code's data of each beacon, and the start of its table in `mean` and `variance`.
    private var beacons: [(numbers: cbench_beacon, start: Int)] = []
    private var mean: [Float] = []
    private var variance: [Float] = []
    private var inC: [cbench_particle] = []
    private var sums: [Float]

    /// Creates particles at random places in the office, one in a hundred outside.
    init(particles count: Int, seed: UInt64 = 3) {
        let bench = FilterBench(particles: 100)
        map = bench.field.maps[0]
        likelihood = Likelihood(
            field: bench.field, evidence: bench.evidence[0], receivers: [receiver])
        var generator = SeededGenerator(seed: seed)
        let grid = map.grid
        places = (0..<count).map { _ in
            let isOutside = generator.uniform() < 0.01
            let point = grid.center(of: Int.random(in: 0..<grid.count, using: &generator))
            return isOutside ? MapPoint(x: -1000, y: point.y) : point
        }
        cells = places.map { Int32(grid.cell(at: $0) ?? -1) + 1 }
        sums = Array(repeating: 0, count: count)
        particles.place(places, receiver)
        for heard in likelihood.evidence.heard {
            guard let table = map.tables[heard.beacon] else { continue }
            let reading = likelihood.numbers(heard, table, mapIndex: 0)
            beacons.append((reading, mean.count))
            mean += table.mean
            variance += table.variance
        }
    }

    /// The number of particles times the number of beacons.
    var count: Int { cells.count * beacons.count }

    /// Resets the sums.
    private mutating func begin() {
        for index in sums.indices { sums[index] = 0 }
    }

    mutating func weigh() {
        begin()
        particles.forget(receiver)
        likelihood.hear(&particles, 0..<cells.count, mapIndex: 0, cells: cells, sums: &sums)
    }

    mutating func weighInC() {
        begin()
        inC.removeAll(keepingCapacity: true)
        for (index, place) in places.enumerated() {
            inC.append(
                cbench_particle(
                    x: Float(place.x), y: Float(place.y), cell: cells[index] - 1, mean: (0, 0, 0),
                    covariance: (
                        Float(receiver.variance), 0, 0, Float(receiver.bodyVariance), 0, Float(receiver.bodyVariance)
                    )))
        }
        mean.withUnsafeBufferPointer { mean in
            variance.withUnsafeBufferPointer { variance in
                guard let mean = mean.baseAddress, let variance = variance.baseAddress else { return }
                let placed = beacons.map { beacon in
                    var numbers = beacon.numbers
                    numbers.mean = mean + beacon.start
                    numbers.variance = variance + beacon.start
                    return numbers
                }
                cbench_hear(placed, placed.count, Int32(map.grid.columns), &inC, inC.count, &sums)
            }
        }
    }

    /// The largest difference between the results of both.
    func difference(to other: WeighBench) -> Float { zip(sums, other.sums).map { abs($0 - $1) }.max() ?? .infinity }
}

extension Likelihood {
    /// A received beacon as data of the C code, without its table.
    fileprivate func numbers(_ heard: Evidence.Heard, _ table: SignalField.Table, mapIndex: Int) -> cbench_beacon {
        let terms = terms(heard, mapIndex: mapIndex)
        let place = place(of: heard)
        var numbers = cbench_beacon()
        numbers.first_column = Int32(table.columns.lowerBound)
        numbers.columns = Int32(table.columns.count)
        numbers.first_row = Int32(table.rows.lowerBound)
        numbers.rows = Int32(table.rows.count)
        numbers.rssi = heard.rssi
        numbers.noise = terms.variance
        numbers.share = heard.share
        numbers.caution = Float(model.receiverCaution)
        (numbers.x, numbers.y) = (Float(place.x), Float(place.y))
        numbers.outside = terms.outside
        numbers.freedom = Float(model.degreesOfFreedom)
        return numbers
    }
}

/// The benchmark of the particle filter.
struct FilterBench {
    /// The number of beacons received at each moment.
    static let heard = 8

    let venue: Venue
    let field: SignalField
    let evidence: [Evidence]
    let receivers: [ReceiverOffset]
    private var filter: ParticleFilter
    private var turn = 0

    /// Creates a surveyed office of 40 × 30 m with 40 beacons, and a filter that has converged there.
    init(particles: Int) {
        let office = BenchVenue(width: 40, height: 30, beacons: 40)
        venue = office.surveyed(every: 3)
        field = SignalField(venue: venue)
        evidence = office.evidence(on: field, of: venue, moments: 200, heard: Self.heard)
        receivers = [ReceiverOffset(deviation: 2)]
        filter = ParticleFilter(
            walls: field.walls, motion: MotionModel(), count: particles, seed: 1)
        filter.receivers = receivers
        let posterior = GridPosterior(Likelihood(field: field, evidence: evidence[0], receivers: receivers))
        let likelihood = Likelihood(field: field, evidence: evidence[0], receivers: receivers)
        filter.redistribute(to: [1], posterior: posterior, likelihood: likelihood, share: 1)
    }

    /// Advances by half a second: predicts, weighs, resamples if needed, and estimates.
    mutating func step() -> MapPoint? {
        let likelihood = Likelihood(field: field, evidence: evidence[turn], receivers: receivers)
        turn = (turn + 1) % evidence.count
        filter.drift(seconds: 0.5)
        filter.passReceivers(seconds: 0.5, field.model)
        _ = filter.weigh(likelihood) { _, _, _ in }
        filter.setMapShares([1])
        filter.resampleIfNeeded(mapCount: 1)
        return filter.moments(mapIndex: 0).map { filter.median(mapIndex: 0, from: $0.mean) }
    }
}

/// The benchmark of an estimate from the readings of one moment, without history.
struct FixBench {
    let field: SignalField
    let evidence: [Evidence]
    private let receivers: [ReceiverOffset]
    private let readings: [[Trilateration.Reading]]
    private var posterior = GridPosterior()
    private var turn = 0

    /// Creates readings in a building.
    ///
    /// - Parameters:
    ///   - spacing: the distance between two places of the survey in metres; nil without a survey.
    ///   - heard: the number of beacons received at each moment.
    init(_ building: BenchVenue, surveyedEvery spacing: Double?, heard: Int) {
        let venue = spacing.map(building.surveyed) ?? building.venue
        let field = SignalField(venue: venue)
        self.field = field
        evidence = building.evidence(on: field, of: venue, moments: 50, heard: heard, interval: 4)
        receivers = [ReceiverOffset(deviation: 2)]
        readings = evidence.map { moment in
            moment.heard.map { heard in
                Trilateration.Reading(
                    point: venue.beacons[heard.beacon].point, power: -59, exponent: 2.2, rssi: Double(heard.rssi))
            }
        }
    }

    /// Returns the mean of the grid posterior.
    mutating func grid() -> MapPoint? {
        turn = (turn + 1) % evidence.count
        posterior.weigh(Likelihood(field: field, evidence: evidence[turn], receivers: receivers))
        return posterior.moments(mapIndex: 0, field: field)?.mean
    }

    /// Returns the estimate by robust least squares.
    mutating func leastSquares() -> MapPoint? {
        turn = (turn + 1) % evidence.count
        return Trilateration.solve(readings[turn])?.point
    }
}

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
        seconds = readings.first.map { $0.instant.seconds(to: readings.last?.instant ?? $0.instant) } ?? 0
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

/// The benchmark of the sessions of many tags in an office, each received by four receivers once a second.
///
/// The sessions take turns, as in a fleet. When a session's turn comes, its particles are no longer in the processor's
/// nearest caches.
struct TagBench {
    /// The number of receivers that receive a tag.
    private static let receivers = 4
    /// The number of different walks.
    private static let walks = 8
    /// An office with one receiver per 100 m² and rooms of 25 m².
    private static let office = BenchVenue(width: 60, height: 40, beacons: 24)
    private static let room = 5.0

    private struct Reading {
        var receiver: Int
        var rssi: Double
    }

    /// The number of tags.
    let tags: Int
    /// The seconds of one round.
    let seconds: Int
    private let model: TagModel
    /// The readings by walk and second.
    private let readings: [[[Reading]]]
    private var sessions: [TagSession]
    private var workspace = TagWorkspace()
    private var second = 0

    /// Creates tags of a class, without readings.
    init(_ tagClass: FleetSettings.TagClass, tags: Int = 64, seconds: Int = 20) {
        var venue = Self.office.venue
        venue.rooms = Self.rooms
        (self.tags, self.seconds) = (tags, seconds)
        let model = TagModel(venue: venue, tagClass: tagClass, tables: SharedTables())
        self.model = model
        readings = (0..<Self.walks).map { walk in
            Self.readings(in: venue, seconds: seconds, start: Double(walk) / Double(Self.walks), seed: UInt64(walk))
        }
        sessions = (0..<tags).map { TagSession(model: model, power: nil, seed: UInt64($0)) }
    }

    private static var rooms: [Room] {
        let (columns, rows) = (Int(office.width / room), Int(office.height / room))
        return (0..<columns * rows).map { place in
            let corner = MapPoint(x: Double(place % columns) * room, y: Double(place / columns) * room)
            let corners = [(0.0, 0.0), (room, 0.0), (room, room), (0.0, room)].map { x, y in
                corner + MapPoint(x: x, y: y)
            }
            return Room(id: place, name: "Room \(place)", mapID: BenchVenue.mapID, area: .polygon(corners))
        }
    }

    /// Returns the readings of the nearest receivers while a tag goes back and forth at walking speed.
    private static func readings(in venue: Venue, seconds: Int, start: Double, seed: UInt64) -> [[Reading]] {
        var generator = SeededGenerator(seed: seed)
        return (0..<seconds).map { second in
            let walked = Double(min(second, seconds - second))
            let point = MapPoint(x: 10 + walked, y: office.height * (0.1 + 0.8 * start))
            let near = venue.beacons.enumerated().sorted {
                $0.element.point.distance(to: point) < $1.element.point.distance(to: point)
            }
            return near.prefix(receivers).map { index, beacon in
                Reading(receiver: index, rssi: BenchVenue.rssi(of: beacon, at: point) + 4 * generator.normal())
            }
        }
    }

    /// Runs all tags for one round; returns the number of positions.
    mutating func go() -> Int {
        var positions = 0
        for turn in 0..<seconds {
            let now = Instant(seconds: Double(second + turn))
            for tag in sessions.indices {
                positions += Self.step(&sessions[tag], readings[tag % Self.walks][turn], now, &workspace) ? 1 : 0
            }
        }
        second += seconds
        return positions
    }

    private static func step(
        _ session: inout TagSession, _ readings: [Reading], _ now: Instant, _ workspace: inout TagWorkspace
    ) -> Bool {
        for reading in readings {
            session.observe(receiver: reading.receiver, rssi: reading.rssi, window: .zero, at: now)
        }
        return session.update(to: now, &workspace).position != nil
    }

    /// The bytes that a tag holds after a round, without the venue, its tables and the workspace.
    mutating func memory() -> Double {
        // The first tags also allocate memory that stays, so they are not measured.
        _ = go()
        let before = cbench_bytes()
        var others = (0..<tags).map { TagSession(model: model, power: nil, seed: UInt64($0)) }
        for turn in 0..<seconds {
            let now = Instant(seconds: Double(turn))
            for tag in others.indices {
                _ = Self.step(&others[tag], readings[tag % Self.walks][turn], now, &workspace)
            }
        }
        return Double(cbench_bytes() - before) / Double(tags)
    }
}
