import CMath
import IndoorLocalization

/// The root mean square errors in metres of a stationary device, over many places.
package struct StaticComparison: Hashable, Sendable {
    /// The number of beacons in the hall.
    package var beacons: Int
    /// The number of places.
    package var places: Int
    /// The error of the engine with settings that match the simulated world.
    package var engine: Double
    /// The error of the engine with its default settings, which are tuned for real buildings.
    package var engineAtDefaults: Double
    /// The error of the exact posterior mean, the smallest possible error.
    package var exact: Double
    /// The classical Cramér–Rao bound.
    package var cramerRao: Double

    /// The engine's error relative to the smallest possible error: 1 at best.
    package var ratio: Double { engine / exact }

    /// Places a device at many places of a hall and compares the errors of the estimators.
    ///
    /// - Parameters:
    ///   - venue: the venue whose map the hall uses; its beacons and radio map are not used.
    ///   - mapID: the identifier of that map; nil for the first map.
    ///   - particleCount: the number of particles of the engines; nil for their default.
    ///   - seed: the seed of all random numbers.
    ///   - progress: called with the number of places that are complete.
    /// - Throws: `StaticHallError` if the map does not exist or has no walkable place.
    package static func measure(
        venue: Venue, mapID: MapID? = nil, settings: StaticHallSettings = StaticHallSettings(),
        particleCount: Int? = nil, seed: UInt64 = 0, progress: (Int) -> Void = { _ in }
    ) throws(StaticHallError) -> StaticComparison {
        guard let map = mapID.map({ venue.map($0) }) ?? venue.maps.first else {
            throw mapID.map(StaticHallError.unknownMap) ?? .noMap
        }
        let hall = try StaticHall(venue: venue, map: map, settings: settings)
        var defaults = PositioningSettings()
        defaults.particleCount = particleCount ?? defaults.particleCount
        let contest = Contest(hall: hall, defaults: defaults)
        var generator = SeededGenerator(seed: seed)
        var sum = Contest.Squares()
        for index in 0..<settings.places {
            sum.add(try contest.squares(using: &generator))
            progress(index + 1)
        }
        func root(_ sum: Double) -> Double { (sum / Double(settings.places)).squareRoot() }
        return StaticComparison(
            beacons: hall.beacons.count, places: settings.places, engine: root(sum.engine),
            engineAtDefaults: root(sum.usual), exact: root(sum.exact), cramerRao: root(sum.bound))
    }

    /// The estimators that are compared.
    private struct Contest {
        /// Square errors in m².
        struct Squares {
            var engine = 0.0
            var usual = 0.0
            var exact = 0.0
            var bound = 0.0

            mutating func add(_ other: Squares) {
                engine += other.engine
                usual += other.usual
                exact += other.exact
                bound += other.bound
            }
        }

        let hall: StaticHall
        let matched: StandingReceiver
        let usual: StandingReceiver
        let posterior: ExactPosterior

        init(hall: StaticHall, defaults: PositioningSettings) {
            self.hall = hall
            matched = StandingReceiver(in: hall, settings: StaticComparison.matched(defaults, to: hall.settings))
            usual = StandingReceiver(in: hall, settings: defaults)
            posterior = ExactPosterior(of: hall)
        }

        /// Returns the square error of each estimator at a random place.
        func squares(using generator: inout SeededGenerator) throws(StaticHallError) -> Squares {
            let place = try hall.place(using: &generator)
            let readings = hall.readings(at: place, using: &generator)
            let means = hall.beacons.indices.map { beacon in
                readings.reduce(0) { $0 + $1[beacon] } / Double(readings.count)
            }
            let seed = generator.next()
            func square(_ point: MapPoint?) -> Double {
                guard let error = point?.distance(to: place) else { return .infinity }
                return error * error
            }
            return Squares(
                engine: square(matched.point(hearing: readings, seed: seed)),
                usual: square(usual.point(hearing: readings, seed: seed)), exact: square(posterior.mean(of: means)),
                bound: CramerRaoBound(hall: hall).meanSquare(at: place) ?? .infinity)
        }
    }

    /// Returns the settings of an engine for this world, without the tolerances that the defaults have for real
    /// buildings.
    static func matched(_ defaults: PositioningSettings, to world: StaticHallSettings) -> PositioningSettings {
        var settings = defaults
        settings.signal.heightDifference = world.height
        // All noise is shadowing, which is normal and equal everywhere. All devices have the same receiver.
        settings.signal.readingDeviation = world.shadowing
        settings.signal.unsurveyedDeviation = 0
        settings.signal.unseenDeviation = 0
        settings.signal.fastFading = 0
        settings.signal.degreesOfFreedom = 1e6
        settings.signal.receiverOffsetDeviation = 0
        settings.signal.bodyDeviation = 0
        settings.signal.unsurveyedDetectionWeight = 0
        // All beacons are equally informative. Readings are as independent as in the world's settings.
        settings.signal.beaconLimit = Int.max
        settings.signal.unsurveyedBeaconLimit = Int.max
        settings.signal.correlationTime = world.isIndependent ? 1e-3 : 1e9
        // The device is perfectly still.
        settings.motion.standingWander = 0
        // The prior applies only when the filter begins, and the device is never outside the walkable area.
        settings.signal.unsupportedShare = 1e-6
        settings.priorShare = 0
        return settings
    }
}

/// Settings of a world that compares an engine with the smallest possible error: a stationary device among beacons.
package struct StaticHallSettings: Hashable, Sendable {
    /// Floor area for each beacon in m²; from 1 to 10,000.
    package var areaPerBeacon = 50.0
    /// Standard deviation of the shadowing of a beacon at a place, in dB; from 0.1 to 20.
    package var shadowing = 4.0
    /// The path-loss exponent; from 1 to 6.
    package var exponent = 2.2
    /// Expected RSSI at 1 m in dBm; from -100 to -20.
    package var power = -59.0
    /// Height of the beacons above the device in metres; from 0.1 to 20.
    package var height = 1.0
    /// Duration of the measurement in seconds, with one reading of each beacon per second; from 1 to 600.
    package var seconds = 5
    /// Whether shadowing changes each second, so that more readings reduce the error.
    ///
    /// Otherwise it stays constant while the device is at one place.
    package var isIndependent = false
    /// Number of places at which the device is placed; from 1 to 1,000,000.
    package var places = 1000
    /// Edge length of the exact solution's grid cells in metres; from 0.02 to 5.
    package var gridEdge = 0.2

    /// Creates settings with the documented defaults.
    package init() {}
}

/// One map of a venue with beacons on a regular grid, whose expected RSSI follows the log-distance model.
struct StaticHall: Sendable {
    let settings: StaticHallSettings
    /// The venue with only the map and the beacons.
    let venue: Venue
    let map: VenueMap
    let beacons: [VenueBeacon]
    private let walkable: [Area]

    /// - Throws: `StaticHallError` if the map has no walkable place.
    init(venue: Venue, map: VenueMap, settings: StaticHallSettings) throws(StaticHallError) {
        guard map.width > 0, map.height > 0, map.width.isFinite, map.height.isFinite else {
            throw StaticHallError.noArea(map.id)
        }
        self.settings = settings
        self.map = map
        walkable = map.walkable.map(Area.polygon)
        beacons = Self.points(on: map, area: settings.areaPerBeacon).enumerated().map { index, point in
            VenueBeacon(
                identity: BeaconIdentity(uuid: BeaconUUID(high: 0, low: 1), major: 1, minor: UInt16(index % 65_536)),
                mapID: map.id, point: point, measuredPower: settings.power, pathLossExponent: settings.exponent)
        }
        self.venue = Venue(id: venue.id, name: venue.name, maps: [map], beacons: beacons)
    }

    /// Returns the centres of equal rectangles that are as square as the map allows.
    ///
    /// There are at least two by two, so that the beacons are never in one line.
    private static func points(on map: VenueMap, area: Double) -> [MapPoint] {
        let count = min(max(map.width * map.height / area, 1), 4000)
        let columns = max(2, Int((count * map.width / map.height).squareRoot().rounded()))
        let rows = max(2, Int((count / Double(columns)).rounded()))
        return (0..<rows * columns).map { index in
            MapPoint(
                x: (Double(index % columns) + 0.5) * map.width / Double(columns),
                y: (Double(index / columns) + 0.5) * map.height / Double(rows))
        }
    }

    /// Returns whether the point is walkable.
    func contains(_ point: MapPoint) -> Bool { walkable.isEmpty || walkable.contains { $0.contains(point) } }

    /// Returns a random walkable place; all are equally probable.
    ///
    /// - Throws: `StaticHallError` if many attempts find none.
    func place(using generator: inout SeededGenerator) throws(StaticHallError) -> MapPoint {
        for _ in 0..<100_000 {
            let point = MapPoint(x: generator.uniform() * map.width, y: generator.uniform() * map.height)
            if contains(point) { return point }
        }
        throw StaticHallError.noArea(map.id)
    }

    /// Returns the expected RSSI of a beacon in dBm.
    func mean(of beacon: VenueBeacon, at point: MapPoint) -> Double {
        let (dx, dy) = (point.x - beacon.point.x, point.y - beacon.point.y)
        let square = dx * dx + dy * dy + settings.height * settings.height
        return settings.power - 5 * settings.exponent * cmath_log10(square)
    }

    /// Returns the RSSI of each beacon in dBm, second by second.
    func readings(at place: MapPoint, using generator: inout SeededGenerator) -> [[Double]] {
        let means = beacons.map { mean(of: $0, at: place) }
        var seconds: [[Double]] = []
        for second in 0..<settings.seconds {
            if second == 0 || settings.isIndependent {
                seconds.append(means.map { $0 + settings.shadowing * generator.normal() })
            } else {
                seconds.append(seconds[0])
            }
        }
        return seconds
    }

    /// The number of readings of a beacon with independent shadowing.
    var independentReadings: Int { settings.isIndependent ? settings.seconds : 1 }
}

/// An error that prevents the comparison.
package enum StaticHallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The venue has no such map.
    case unknownMap(MapID)
    /// The venue has no map.
    case noMap
    /// The map has no walkable place.
    case noArea(MapID)

    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .unknownMap(let id): "the venue has no map \(id). Use the id of one of its maps."
        case .noMap: "the venue has no map. Use a venue with a map."
        case .noArea(let id): "map \(id) has no walkable place. Add a width, a height and areas inside them."
        }
    }
}

/// The posterior mean on a fine grid. No estimator has a smaller mean square error in the simulated world.
///
/// Source: S. M. Kay, *Fundamentals of Statistical Signal Processing: Estimation Theory*, 1993, section 10.4.
struct ExactPosterior: Sendable {
    private let points: [MapPoint]
    /// The expected RSSI, by beacon and then by point.
    private let means: [[Float]]
    private let precision: Float

    /// Computes the expected RSSI at each grid point of a hall.
    init(of hall: StaticHall) {
        let edge = hall.settings.gridEdge
        let (columns, rows) = (Int((hall.map.width / edge).rounded(.up)), Int((hall.map.height / edge).rounded(.up)))
        points = (0..<columns * rows).map { cell in
            MapPoint(
                x: (Double(cell % columns) + 0.5) * hall.map.width / Double(columns),
                y: (Double(cell / columns) + 0.5) * hall.map.height / Double(rows))
        }.filter(hall.contains)
        let points = points
        means = hall.beacons.map { beacon in points.map { Float(hall.mean(of: beacon, at: $0)) } }
        precision = Float(Double(hall.independentReadings) / (hall.settings.shadowing * hall.settings.shadowing))
    }

    /// Returns the posterior mean for the mean reading of each beacon; nil if the grid has no point.
    func mean(of readings: [Double]) -> MapPoint? {
        var squares = [Float](repeating: 0, count: points.count)
        for (reading, means) in zip(readings, means) {
            let reading = Float(reading)
            for index in squares.indices {
                let difference = reading - means[index]
                squares[index] += difference * difference
            }
        }
        guard let least = squares.min() else { return nil }
        var (weight, x, y) = (0.0, 0.0, 0.0)
        for (square, point) in zip(squares, points) {
            let share = Double(cmath_expf((least - square) * precision / 2))
            weight += share
            x += share * point.x
            y += share * point.y
        }
        return MapPoint(x: x / weight, y: y / weight)
    }
}

/// The classical Cramér–Rao bound of a position from RSSI: the least mean square error of any unbiased estimator.
///
/// An estimator that uses the walls is biased towards the inside and can have a smaller error.
struct CramerRaoBound {
    let hall: StaticHall

    /// Returns the bound in m² at a place; nil if the beacons leave a direction unobservable there.
    func meanSquare(at place: MapPoint) -> Double? {
        let settings = hall.settings
        let precision = Double(hall.independentReadings) / (settings.shadowing * settings.shadowing)
        var information = PositionInformation()
        for beacon in hall.beacons {
            information.add(
                offset: place - beacon.point, height: settings.height, exponent: settings.exponent,
                precision: precision)
        }
        return information.bound().map { $0.xx + $0.yy }
    }
}

/// A positioning engine that receives the readings of a stationary device, including its accelerometer.
struct StandingReceiver: Sendable {
    private let hall: StaticHall
    private let settings: PositioningSettings
    private let field: SignalField

    private static let rest = Vector3(x: 0, y: 0, z: 9.80665)

    init(in hall: StaticHall, settings: PositioningSettings) {
        self.hall = hall
        self.settings = settings
        field = SignalField(venue: hall.venue, model: settings.signal)
    }

    /// Returns the engine's position after the last second; nil if it has none.
    func point(hearing readings: [[Double]], seed: UInt64) -> MapPoint? {
        var engine = PositioningEngine(venue: hall.venue, field: field, settings: settings, seed: seed)
        for (second, row) in readings.enumerated() {
            let instant = Instant(seconds: Double(second + 1))
            engine.observe(
                .motion(MotionSample(instant: Instant(seconds: Double(second) + 0.5), acceleration: Self.rest)))
            engine.observe(.motion(MotionSample(instant: instant, acceleration: Self.rest)))
            for (beacon, rssi) in zip(hall.beacons, row) {
                engine.observe(.sighting(Sighting(instant: instant, beacon: beacon.identity, rssi: rssi)))
            }
            engine.advance(to: instant)
        }
        return engine.estimate(on: hall.map.id)?.point
    }
}
