import CMath
import IndoorLocalization

/// A simulator of walking tags and of the readings that the receivers of a venue measure from them.
///
/// Each tag walks to random points of its map at a speed of its own, with pauses, and ignores walls. It advertises at a
/// constant interval. The RSSI of an advertisement in dBm is
///
///     rssi = P₁ + T − 10 n log₁₀(d / 1 m) + S(x, y) + F + O
///
/// with the tag's deviation T from the common power, the distance d, the shadowing S of the receiver, the fading F of
/// each reading and the receiver's offset O. The simulator has no hidden inputs: the same venue, settings and calls
/// give the same readings. The shadowing doesn't depend on the calls or on the number of tags.
package struct SimulatedFleet: Sendable {
    /// The reading of one tag by one receiver.
    package struct Reading: Hashable, Sendable {
        /// The index of the tag, from 0.
        package var tag: Int
        /// The index of the receiver in ``Venue/receivers``.
        package var receiver: Int
        /// The time of the reading.
        package var instant: Instant
        /// The RSSI in dBm.
        package var rssi: Double

        /// Creates a reading.
        package init(tag: Int, receiver: Int, instant: Instant, rssi: Double) {
            self.tag = tag
            self.receiver = receiver
            self.instant = instant
            self.rssi = rssi
        }
    }

    /// The place of a tag.
    package struct Place: Hashable, Sendable {
        /// The map of the tag.
        package var mapID: MapID
        /// The point on the map, in metres.
        package var point: MapPoint
    }

    private struct Walker: Sendable {
        var map: Int
        var from: MapPoint
        var to: MapPoint
        /// The times in seconds after the start at which the tag leaves `from` and reaches `to`.
        var departure: Double
        var arrival: Double
        var speed: Double
        /// The deviation of the tag's power in dB.
        var power: Double
        /// The time of the next advertisement in seconds after the start.
        var next: Double
        var generator: SeededGenerator

        /// Begins the next part of the walk, after a pause with an exponential distribution.
        mutating func turn(on map: VenueMap, _ settings: SimulatedFleetSettings) {
            let pause = -settings.pause * cmath_log(1 - generator.uniform())
            from = to
            departure = arrival + pause
            to = SimulatedFleet.point(on: map, &generator)
            arrival = departure + max(from.distance(to: to) / max(speed, 0.01), 0.1)
        }
    }

    /// The true state of a receiver.
    private struct Station: Sendable {
        var point: MapPoint
        var power: Double
        var exponent: Double
        var offset: Double
        var isDead: Bool
        var shadowing: LatticeNoise
    }

    /// The venue; its receivers receive the tags.
    package let venue: Venue
    /// The settings of the simulation.
    package let settings: SimulatedFleetSettings
    /// The time at which the walks begin.
    package let start: Instant

    private var walkers: [Walker]
    private var stations: [Station]
    /// The indices of the stations that can receive from each square cell of each map.
    private var reach: [[Cell: [Int]]]

    private struct Cell: Hashable, Sendable {
        var column: Int
        var row: Int
    }

    /// Creates a simulator with the tags at random points.
    ///
    /// - Precondition: the venue has a map.
    package init(venue: Venue, settings: SimulatedFleetSettings = SimulatedFleetSettings(), start: Instant = .zero) {
        precondition(!venue.maps.isEmpty, "the venue has no map")
        self.venue = venue
        self.settings = settings
        self.start = start
        stations = venue.receivers.enumerated().map { index, receiver in
            Station(
                point: settings.receiverPoints[index] ?? receiver.point,
                power: receiver.measuredPower ?? settings.power,
                exponent: receiver.pathLossExponent ?? settings.exponent,
                offset: settings.receiverOffsets[index] ?? 0, isDead: false,
                shadowing: LatticeNoise(
                    deviation: settings.shadowing, distance: settings.shadowingDistance,
                    seed: SeededGenerator.seed([settings.seed, 1, UInt64(index)])))
        }
        walkers = (0..<settings.tagCount).map { Self.walker($0, in: venue, settings) }
        reach = Self.reach(of: stations, in: venue, settings)
    }

    private static func walker(_ index: Int, in venue: Venue, _ settings: SimulatedFleetSettings) -> Walker {
        var generator = SeededGenerator.stream(settings.seed, 2, UInt64(index))
        let map = Int(generator.uniform() * Double(venue.maps.count))
        let from = point(on: venue.maps[map], &generator)
        let power = settings.tagDeviation * generator.normal()
        let speed = settings.speed * (0.7 + 0.6 * generator.uniform())
        let next = settings.advertisingInterval * generator.uniform()
        return Walker(
            map: map, from: from, to: from, departure: 0, arrival: settings.pause * generator.uniform(), speed: speed,
            power: power, next: next, generator: generator)
    }

    fileprivate static func point(on map: VenueMap, _ generator: inout SeededGenerator) -> MapPoint {
        MapPoint(x: map.width * generator.uniform(), y: map.height * generator.uniform())
    }

    private static func reach(
        of stations: [Station], in venue: Venue, _ settings: SimulatedFleetSettings
    ) -> [[Cell: [Int]]] {
        venue.maps.map { map in
            var cells: [Cell: [Int]] = [:]
            for (index, station) in stations.enumerated() where venue.receivers[index].mapID == map.id {
                let lower = cell(at: station.point - MapPoint(x: settings.range, y: settings.range), settings)
                let upper = cell(at: station.point + MapPoint(x: settings.range, y: settings.range), settings)
                for column in lower.column...upper.column {
                    for row in lower.row...upper.row {
                        cells[Cell(column: column, row: row), default: []].append(index)
                    }
                }
            }
            return cells
        }
    }

    private static func cell(at point: MapPoint, _ settings: SimulatedFleetSettings) -> Cell {
        let size = max(settings.range / 2, 1)
        return Cell(column: Int((point.x / size).rounded(.down)), row: Int((point.y / size).rounded(.down)))
    }

    /// Returns the place of a tag at the time of its latest advertisement, or at the start.
    package func place(of tag: Int) -> Place {
        let walker = walkers[tag]
        let time = max(0, walker.next - settings.advertisingInterval)
        return Place(mapID: venue.maps[walker.map].id, point: Self.point(of: walker, at: time))
    }

    private static func point(of walker: Walker, at time: Double) -> MapPoint {
        guard walker.arrival > walker.departure else { return walker.to }
        let share = min(max((time - walker.departure) / (walker.arrival - walker.departure), 0), 1)
        return walker.from + (walker.to - walker.from) * share
    }

    /// Changes a receiver from now on; nil leaves a property unchanged.
    ///
    /// - Parameters:
    ///   - isDead: whether the receiver receives nothing.
    ///   - point: the true point on the receiver's map.
    ///   - offset: the difference of its RSSI in dB.
    package mutating func change(
        receiver index: Int, isDead: Bool? = nil, point: MapPoint? = nil, offset: Double? = nil
    ) {
        stations[index].isDead = isDead ?? stations[index].isDead
        stations[index].offset = offset ?? stations[index].offset
        guard let point else { return }
        stations[index].point = point
        reach = Self.reach(of: stations, in: venue, settings)
    }

    /// Returns the readings since the last call, or since the start, that precede an instant, in the order of time.
    package mutating func readings(until end: Instant) -> [Reading] {
        let seconds = start.seconds(to: end)
        var readings: [Reading] = []
        for tag in walkers.indices {
            while walkers[tag].next < seconds {
                advertise(tag, into: &readings)
                walkers[tag].next += settings.advertisingInterval
            }
        }
        readings.sort { one, other in
            guard one.instant == other.instant else { return one.instant < other.instant }
            return one.tag != other.tag ? one.tag < other.tag : one.receiver < other.receiver
        }
        return readings
    }

    private mutating func advertise(_ tag: Int, into readings: inout [Reading]) {
        let time = walkers[tag].next
        let map = venue.maps[walkers[tag].map]
        if time >= walkers[tag].arrival { walkers[tag].turn(on: map, settings) }
        let point = Self.point(of: walkers[tag], at: time)
        for index in reach[walkers[tag].map][Self.cell(at: point, settings)] ?? [] {
            let station = stations[index]
            let planar = point.distance(to: station.point)
            guard planar <= settings.range else { continue }
            // The number is drawn even if the receiver is dead, so that a dead receiver doesn't change the other random
            // numbers.
            let fading = settings.fading * walkers[tag].generator.normal()
            let draw = walkers[tag].generator.uniform()
            let distance = max(cmath_hypot(planar, settings.heightDifference), 0.3)
            let rssi =
                station.power + walkers[tag].power - 10 * station.exponent * cmath_log10(distance)
                + station.shadowing.value(at: point) + fading + station.offset
            let chance =
                (1 - settings.lossShare)
                / (1 + cmath_exp((settings.sensitivity - rssi) / settings.sensitivityWidth))
            guard !station.isDead, draw < chance else { continue }
            readings.append(
                Reading(
                    tag: tag, receiver: index, instant: start.advanced(by: .seconds(time)), rssi: min(rssi, -1)))
        }
    }
}

/// The settings of simulated tags, receivers and their radio channel.
package struct SimulatedFleetSettings: Hashable, Sendable {
    /// The number of tags, 0 or above.
    package var tagCount = 100
    /// The seed of all random numbers.
    package var seed: UInt64 = 1
    /// The time between two advertisements of a tag in seconds, above 0.
    package var advertisingInterval = 1.0
    /// The mean walking speed in m/s; the tags have speeds from 70 to 130 % of it.
    package var speed = 1.0
    /// The mean time in seconds that a tag stands between two walks, 0 or above.
    package var pause = 20.0
    /// P₁ of receivers without one in the venue packet, in dBm.
    package var power = -62.0
    /// n of receivers without one in the venue packet.
    package var exponent = 2.4
    /// The standard deviation of T in dB.
    package var tagDeviation = 3.0
    /// The standard deviation of S in dB.
    package var shadowing = 3.0
    /// The edge in metres of the lattice of S, above 0.
    package var shadowingDistance = 2.0
    /// The standard deviation of F, which is normally distributed, in dB.
    package var fading = 3.0
    /// The difference in height between tags and receivers in metres.
    package var heightDifference = 1.0
    /// The distance in metres beyond which no receiver receives a tag, above 0.
    package var range = 40.0
    /// The RSSI in dBm at which half of the advertisements are received.
    package var sensitivity = -92.0
    /// The width of that threshold: the scale of a logistic function in dB, above 0.
    package var sensitivityWidth = 2.0
    /// The share of the advertisements that a receiver loses at any RSSI, in [0, 1].
    package var lossShare = 0.2
    /// O by the index of the receiver, in dB; 0 for receivers without an entry.
    package var receiverOffsets: [Int: Double] = [:]
    /// The true points of receivers that aren't at their places in the venue packet, by index.
    package var receiverPoints: [Int: MapPoint] = [:]

    /// Creates settings with the documented defaults.
    package init() {}
}
