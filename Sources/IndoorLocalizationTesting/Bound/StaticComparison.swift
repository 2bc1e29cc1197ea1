import IndoorLocalization

/// Root mean square errors in metres of a device that stands still, over many places.
public struct StaticComparison: Hashable, Sendable {
    /// Number of beacons in the hall.
    public var beacons: Int
    /// Number of places.
    public var places: Int
    /// Of the engine whose settings know the simulated world.
    public var engine: Double
    /// Of the engine with its default settings, which expect a real building.
    public var engineAtDefaults: Double
    /// Of the exact posterior mean, the least that is possible.
    public var exact: Double
    /// The classical Cramér–Rao bound.
    public var cramerRao: Double

    /// How far the engine is from what is possible: 1 at best.
    public var ratio: Double { engine / exact }

    /// Puts a device at many places of a hall and compares.
    ///
    /// - Parameters:
    ///   - venue: gives the hall its map; its own beacons and radio map are not used.
    ///   - mapID: of that map; nil for the first.
    ///   - particleCount: of the engines; nil for their default.
    ///   - seed: of all that is random.
    ///   - progress: called with the number of places that are done.
    /// - Throws: `StaticHallError` if there is no such map, or no place on it.
    public static func measure(
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

    /// Everybody who is asked for the place.
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

        /// Puts the device at a place and asks all.
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

    /// The settings of an engine that knows this world: what the defaults hold against a real building is left out.
    static func matched(_ defaults: PositioningSettings, to world: StaticHallSettings) -> PositioningSettings {
        var settings = defaults
        settings.signal.heightDifference = world.height
        // All the noise is shadowing, normal, equal everywhere, and no two phones differ.
        settings.signal.readingDeviation = world.shadowing
        settings.signal.unsurveyedDeviation = 0
        settings.signal.unseenDeviation = 0
        settings.signal.fastFading = 0
        settings.signal.degreesOfFreedom = 1e6
        settings.signal.receiverOffsetDeviation = 0
        settings.signal.bodyDeviation = 0
        settings.signal.unsurveyedDetectionWeight = 0
        // Every beacon tells as much as any other, and each reading as much as it is new.
        settings.signal.beaconLimit = Int.max
        settings.signal.unsurveyedBeaconLimit = Int.max
        settings.signal.correlationTime = world.isIndependent ? 1e-3 : 1e9
        // The device does not even sway.
        settings.motion.standingWander = 0
        // Places count once, when the filter begins, and nobody stands outside.
        settings.signal.unsupportedShare = 1e-6
        settings.priorShare = 0
        return settings
    }
}
