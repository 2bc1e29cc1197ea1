import IndoorVocabulary
import VenueModel

/// What the sessions in a venue received of each beacon, by day and place, over the last three months.
///
///     var history = BeaconHistory()
///     history.add(levels, day: BeaconHistory.day(of: now))
///     for trend in history.trends() where trend.advice != nil { print(trend.beacon, trend.change) }
///
/// The memory is bounded: at most ``mostDays`` days, and ``mostPlaces`` places of each beacon. One beacon needs at most
/// 200 kB, and usually a tenth of it.
package struct BeaconHistory: Hashable, Sendable {
    /// A place on one day.
    package struct Key: Hashable, Comparable, Sendable {
        /// The number of days since 1 January 1970 in UTC.
        package var day: Int
        /// The place of the device.
        package var place: BeaconLevels.Place

        /// Creates a key.
        package init(day: Int, place: BeaconLevels.Place) { (self.day, self.place) = (day, place) }

        package static func < (one: Key, other: Key) -> Bool {
            one.day != other.day ? one.day < other.day : one.place < other.place
        }
    }

    /// The maximum number of days: a beacon that fades by 1 dB a month must become visible.
    package static let mostDays = 92
    /// The maximum number of places of a beacon: a circle with a radius of 16 m. Later ones are left out.
    package static let mostPlaces = 32
    /// The maximum number of beacons.
    package static let mostBeacons = 10_000

    /// What is known of one beacon.
    private struct Record: Hashable, Sendable {
        var cells: [Key: BeaconLevels.Cell] = [:]
        var places: Set<BeaconLevels.Place> = []
    }

    private var records: [BeaconIdentity: Record] = [:]
    private var days: Set<Int> = []

    /// Creates an empty history.
    package init() {}

    /// Returns the number of days since 1 January 1970 in UTC.
    package static func day(of time: UnixTime) -> Int {
        let (quotient, remainder) = time.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        return Int(remainder < 0 ? quotient - 1 : quotient)
    }

    /// Whether the history has no cell.
    package var isEmpty: Bool { records.isEmpty }
    /// The days with levels, in ascending order.
    package var knownDays: [Int] { days.sorted() }
    /// The beacons with levels, in the order of their identities.
    package var beacons: [BeaconIdentity] { records.keys.sorted() }

    /// Returns the cells of a beacon, ordered by day and place.
    package func cells(of beacon: BeaconIdentity) -> [(key: Key, cell: BeaconLevels.Cell)] {
        (records[beacon]?.cells ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Adds the levels of a part of a day.
    ///
    /// The oldest days are removed beyond the maximum number of days, not beyond an age: a clock that was set wrong for
    /// a moment must not remove the history.
    package mutating func add(_ levels: BeaconLevels, day: Int) {
        // Beyond the maximum number of places, those of the first day with the most readings stay.
        let ordered = levels.cells.filter(\.value.isValid).sorted {
            ($1.value.readings, $0.key) < ($0.value.readings, $1.key)
        }
        for (key, cell) in ordered { add(cell, of: key.beacon, at: Key(day: day, place: key.place)) }
        while days.count > Self.mostDays, let oldest = days.min() { remove(day: oldest) }
    }

    private mutating func add(_ cell: BeaconLevels.Cell, of beacon: BeaconIdentity, at key: Key) {
        guard let record = records[beacon] else {
            if records.count < Self.mostBeacons {
                records[beacon] = Record(cells: [key: cell], places: [key.place])
                days.insert(key.day)
            }
            return
        }
        guard record.places.contains(key.place) || record.places.count < Self.mostPlaces else { return }
        records[beacon]?.places.insert(key.place)
        records[beacon]?.cells[key, default: BeaconLevels.Cell()].add(cell)
        days.insert(key.day)
    }

    private mutating func remove(day: Int) {
        days.remove(day)
        records = records.compactMapValues { record in
            let cells = record.cells.filter { $0.key.day != day }
            return cells.isEmpty ? nil : Record(cells: cells, places: Set(cells.keys.map(\.place)))
        }
    }

    /// Returns the trend of each beacon, in the order of their identities.
    package func trends() -> [BeaconTrend] {
        let all = beacons.map { (beacon: $0, cells: cells(of: $0)) }
        let detections = BeaconDetections(all)
        let threshold = ChangeThreshold(beacons: records.count, days: days.count)
        return all.map { beacon, cells in
            BeaconTrend(
                beacon: beacon, cells: cells, detections: detections.days(of: beacon), threshold: threshold)
        }
    }
}

/// How many beacons were expected and received on each day, by the places at which people were.
///
/// The share of the looks at a place in which a beacon is received follows from its whole history. A device that receives
/// fewer beacons than the others, and a busy day, change all beacons alike: the expected number of a day is scaled by
/// the received share of all beacons on that day.
struct BeaconDetections {
    /// The detections of one beacon on one day.
    struct Day: Hashable, Sendable {
        var day: Int
        /// The independent looks near the beacon, and those with a reading.
        var looks: Double
        var heard: Double
        /// The expected number of looks with a reading, and its variance for independent looks.
        var expected: Double
        var variance: Double
    }

    private var byBeacon: [BeaconIdentity: [Day]] = [:]

    /// The looks that the venue's share counts as in the share of a beacon at a place, which may have few looks.
    private static let priorLooks = 1.0
    private static let scales = 0.2...1.5

    /// - Parameter cells: the cells of each beacon, ordered by day and place.
    init(_ cells: [(beacon: BeaconIdentity, cells: [(key: BeaconHistory.Key, cell: BeaconLevels.Cell)])]) {
        var all = (looks: 0.0, heard: 0.0)
        for (_, cells) in cells {
            for (_, cell) in cells { all = (all.looks + cell.looks, all.heard + cell.heard) }
        }
        guard all.looks > 0 else { return }
        var sums: [Int: (heard: Double, expected: Double)] = [:]
        for (beacon, cells) in cells {
            let days = Self.days(cells, usual: all.heard / all.looks)
            byBeacon[beacon] = days
            for day in days {
                sums[day.day, default: (0, 0)].heard += day.heard
                sums[day.day, default: (0, 0)].expected += day.expected
            }
        }
        for beacon in byBeacon.keys {
            byBeacon[beacon] = byBeacon[beacon]?.map { day in
                guard let sum = sums[day.day], sum.expected > 0 else { return day }
                var day = day
                let scale = min(max(sum.heard / sum.expected, Self.scales.lowerBound), Self.scales.upperBound)
                day.expected = min(day.expected * scale, day.looks)
                day.variance = max(day.expected * (1 - day.expected / max(day.looks, 1e-9)), 0.01)
                return day
            }
        }
    }

    /// Returns the detections of a beacon, by day.
    func days(of beacon: BeaconIdentity) -> [Day] { byBeacon[beacon] ?? [] }

    private static func days(
        _ cells: [(key: BeaconHistory.Key, cell: BeaconLevels.Cell)], usual: Double
    ) -> [Day] {
        // A beacon that fell silent is expected as it was received until then.
        let last = cells.last { $0.cell.heard > 0 }?.key.day ?? .max
        var shares: [BeaconLevels.Place: (looks: Double, heard: Double)] = [:]
        for (key, cell) in cells where key.day <= last && last != .max {
            shares[key.place, default: (0, 0)].looks += cell.looks
            shares[key.place, default: (0, 0)].heard += cell.heard
        }
        var days: [Day] = []
        for (key, cell) in cells where cell.looks > 0 {
            let known = shares[key.place] ?? (0, 0)
            let share = (known.heard + usual * priorLooks) / (known.looks + priorLooks)
            if days.last?.day != key.day {
                days.append(Day(day: key.day, looks: 0, heard: 0, expected: 0, variance: 0))
            }
            days[days.count - 1].looks += cell.looks
            days[days.count - 1].heard += cell.heard
            days[days.count - 1].expected += cell.looks * share
            days[days.count - 1].variance += cell.looks * share * (1 - share)
        }
        return days
    }
}

extension BeaconLevels {
    /// Returns the levels of a recorded session.
    ///
    /// - Parameters:
    ///   - readings: the readings of the session, ordered by instant; they need no ground truth.
    ///   - device: the model of the device, as in ``LocalizationSettings/device``; nil if unknown.
    ///   - seed: the seed of the engine's random numbers.
    package init(
        of readings: [SensorReading], in venue: Venue, field: SignalField, settings: PositioningSettings,
        device: String? = nil, seed: UInt64 = 0
    ) {
        var settings = settings
        settings.method = .particle
        if settings.testedBeacons == .none { settings.testedBeacons = .surveyed }
        var engine = PositioningEngine(venue: venue, field: field, settings: settings, seed: seed)
        engine.collectLevels()
        if let device { engine.begin(asDevice: device) }
        engine.play(readings)
        self = engine.drainLevels() ?? BeaconLevels()
    }
}
