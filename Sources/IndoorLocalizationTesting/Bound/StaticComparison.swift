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
