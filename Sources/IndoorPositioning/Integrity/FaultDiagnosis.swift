import CMath
import IndoorVocabulary
import VenueModel

/// The most probable kind of a fault from the readings of a suspect beacon.
///
/// Each kind predicts the levels of the samples; the kind with the highest likelihood is selected. Schwarz's criterion
/// adds a cost for each free parameter.
///
/// Source: G. Schwarz, *Estimating the Dimension of a Model*, Annals of Statistics 6(2), 1978.
struct FaultDiagnosis {
    private let field: SignalField
    /// Index of the beacon in the signal field.
    private let beacon: Int
    private let samples: [BeaconRecord.Sample]
    /// The number of independent samples.
    private let count: Double
    /// Variance in dB² of a sample about a table's value, and about path loss.
    private let noise: Double
    private let pathLossVariance: Double
    /// The share of the global updates whose readings have two levels.
    private let duplicity: Double

    init(_ record: BeaconRecord, field: SignalField) {
        (self.field, beacon, samples, duplicity) = (field, record.beacon, record.samples, record.duplicity)
        var walked = 0.0
        for (one, next) in zip(record.samples, record.samples.dropFirst()) where one.mapIndex == next.mapIndex {
            walked += cmath_hypot(Double(next.x - one.x), Double(next.y - one.y))
        }
        count = min(Double(record.samples.count), 1 + walked / IntegrityConstants.sampleErrorLength)
        noise = field.readingDeviation * field.readingDeviation + IntegrityConstants.sampleBodyVariance
        pathLossVariance = field.pathLossDeviation * field.pathLossDeviation
    }

    /// Creates a diagnosis from independent samples.
    ///
    /// - Parameters:
    ///   - noise: the variance in dB² of a sample about a table's value.
    ///   - pathLossVariance: the variance in dB² of a sample about path loss.
    init(
        of beacon: Int, _ samples: [BeaconRecord.Sample], duplicity: Double, field: SignalField, noise: Double,
        pathLossVariance: Double
    ) {
        (self.field, self.beacon, self.samples, self.duplicity) = (field, beacon, samples, duplicity)
        (self.noise, self.pathLossVariance) = (noise, pathLossVariance)
        count = Double(samples.count)
    }

    /// Returns the most probable kind.
    ///
    /// - Parameter others: the other beacons with a fault.
    func kind(others: [Int]) -> BeaconFault.Kind {
        guard !samples.isEmpty else { return .contradictory }
        if duplicity > IntegrityConstants.doubleShare { return .duplicated }
        let sender = field.transmitters[beacon]
        let limit = sender.power - 10 * sender.exponent * cmath_log10(IntegrityConstants.nearest)
        let level = samples.reduce(0) { $0 + Double($1.level) } / Double(samples.count)
        if level - limit > IntegrityConstants.leastExcess { return .tooStrong(excess: level - limit) }
        return explanation(others: others).kind
    }

    /// Returns the kind that explains the samples best, and the negative logarithm of their likelihood, relative to that
    /// of perfect agreement with the field.
    func explanation(others: [Int]) -> (kind: BeaconFault.Kind, cost: Double) {
        var best = (kind: BeaconFault.Kind.contradictory, cost: unknownCost)
        func consider(_ kind: BeaconFault.Kind, _ cost: Double) { if cost < best.cost { best = (kind, cost) } }
        for other in others where other != beacon {
            consider(
                .exchanged(with: field.beacons[other]),
                cost(parameters: 0) { expected(of: other, $0) }
                    + cmath_log(Double(max(1, others.count - 1))))
        }
        let change = samples.reduce(0) { $0 + Double($1.residual) } / Double(samples.count)
        if abs(change) > IntegrityConstants.leastChange {
            consider(
                .powerChanged(difference: change),
                cost(parameters: 1) { sample in Double(sample.level - sample.residual) + change })
        }
        if let moved = place() { consider(moved.kind, moved.cost) }
        return best
    }

    private var unknownCost: Double {
        let density = cmath_log(Double(IntegrityConstants.faultyRange)) - cmath_log(2 * .pi * noise) / 2
        return count * density
    }

    /// Returns the negative logarithm of the likelihood of the samples, relative to that of perfect agreement.
    private func cost(parameters: Int, _ expected: (BeaconRecord.Sample) -> Double?) -> Double {
        var sum = 0.0
        for sample in samples {
            guard let level = expected(sample) else { return .infinity }
            let difference = Double(sample.level) - level
            sum += difference * difference
        }
        return sum / Double(samples.count) * count / (2 * noise)
            + Double(parameters) * cmath_log(max(count, 1)) / 2
    }

    /// Returns the expected level of a beacon at a sample's position.
    private func expected(of beacon: Int, _ sample: BeaconRecord.Sample) -> Double? {
        let map = field.maps[Int(sample.mapIndex)]
        let point = MapPoint(x: Double(sample.x), y: Double(sample.y))
        guard let table = map.tables[beacon], let cell = map.grid.cell(at: point),
            let entry = table.index(column: cell % map.grid.columns, row: cell / map.grid.columns)
        else { return nil }
        return Double(table.mean[entry])
    }

    /// Returns the place that explains the samples best by path loss.
    private func place() -> (kind: BeaconFault.Kind, cost: Double)? {
        // Near stairs, many readings come through a ceiling; the beacon's own map therefore counts twice.
        let home = field.maps.firstIndex { $0.mapID == field.transmitters[beacon].mapID }
        let counts = Dictionary(
            samples.map { (Int($0.mapIndex), Int($0.mapIndex) == home ? 2 : 1) }, uniquingKeysWith: +)
        guard count >= IntegrityConstants.fewestForPlace,
            let mapIndex = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key
        else { return nil }
        let here = samples.filter { Int($0.mapIndex) == mapIndex }
        let (map, sender) = (field.maps[mapIndex], field.transmitters[beacon])
        let grid = map.grid
        let stride = max(1, Int((Double(grid.count) / IntegrityConstants.placeCount).squareRoot().rounded(.up)))
        let variance = pathLossVariance
        let height = field.model.heightDifference * field.model.heightDifference
        let slope = 5 * sender.exponent
        let share = count / Double(samples.count)
        var (all, x, y, squares, best) = (0.0, 0.0, 0.0, 0.0, Double.infinity)
        for row in Swift.stride(from: stride / 2, to: grid.rows, by: stride) {
            for column in Swift.stride(from: stride / 2, to: grid.columns, by: stride) {
                let center = grid.center(of: row * grid.columns + column)
                var sum = 0.0
                for sample in here {
                    let (dx, dy) = (Double(sample.x) - center.x, Double(sample.y) - center.y)
                    let expected = sender.power - slope * cmath_log10(dx * dx + dy * dy + height)
                    let difference = Double(sample.level) - expected
                    sum += difference * difference
                }
                let cost = sum * share / (2 * variance)
                best = min(best, cost)
                let weight = cmath_exp(-min(cost, 500))
                all += weight
                x += weight * center.x
                y += weight * center.y
                squares += weight * (center.x * center.x + center.y * center.y)
            }
        }
        guard all > 0 else { return nil }
        let point = MapPoint(x: x / all, y: y / all)
        let spread = max(0, squares / all - point.x * point.x - point.y * point.y) / 2
        let isHome = sender.mapID == map.mapID
        let distance = isHome ? sender.point.distance(to: point) : nil
        let deviation = (spread + grid.cellSize * grid.cellSize).squareRoot()
        guard distance.map({ $0 >= max(IntegrityConstants.leastMove, deviation) }) ?? true else { return nil }
        let kind = BeaconFault.Kind.moved(
            place: BeaconFault.Place(mapID: map.mapID, point: point, deviation: deviation), distance: distance)
        // The path-loss law predicts a sample with a larger variance than a table does; add the cost of that variance.
        let width = cmath_log(variance / noise) / 2 * count
        return (kind, best + width + cmath_log(max(count, 1)))
    }
}

/// The evidence about one detected beacon over time.
struct BeaconRecord: Sendable {
    /// A reading of a suspect beacon, at the position from the other beacons.
    struct Sample: Sendable {
        var mapIndex: Int32
        var x: Float
        var y: Float
        /// The reading in dBm without the receiver offset, and its difference from the field in dB.
        var level: Float
        var residual: Float
    }

    /// Index in the signal field.
    let beacon: Int
    /// The logarithm of the odds of a fault.
    private(set) var odds = IntegrityConstants.prior
    /// The number of independent global updates.
    private var looks = 0.0
    /// The latest global update with a reading.
    private(set) var latest: Instant
    /// The instant since which the fault is reported; nil without a reported fault.
    private(set) var since: Instant?
    private(set) var samples: [Sample] = []
    /// The most probable kind of the fault.
    private(set) var kind = BeaconFault.Kind.contradictory
    /// The number of samples since the kind was determined.
    private var newSamples = 0
    /// The sums of 1/v and r/v over independent residuals r with the variance v.
    private(set) var precision = 0.0
    private(set) var shift = 0.0
    /// The share of the recent global updates whose readings have two levels.
    private(set) var duplicity = 0.0
    /// Whether one transmitter seems to send the identity together with others: see `SharedTransmitter`.
    private(set) var isImitated = false
    /// The logarithm of the probability ratio of a changed power, from all residuals so far.
    private var shiftRatio = 0.0

    init(beacon: Int, at instant: Instant) { (self.beacon, latest) = (beacon, instant) }

    /// The probability of a fault.
    var fault: Double { 1 / (1 + cmath_exp(-odds)) }

    /// The weight of the beacon's evidence, in [0, 1]: full until a fault is more probable than not.
    var weight: Double { min(1, 2 * (1 - fault)) }

    /// Whether the kind of the fault must be determined again.
    var needsKind: Bool { since != nil && newSamples >= IntegrityConstants.samplesOfKind }

    mutating func setKind(_ kind: BeaconFault.Kind) { (self.kind, newSamples) = (kind, 0) }

    /// Adds a global update in which one transmitter seems to send the identity together with others.
    ///
    /// - Parameters:
    ///   - odds: the logarithm of the odds that it does, between `lowest` and `highest`.
    ///   - independence: the share of the error that is independent of the previous global update, in (0, 1].
    mutating func observeImitation(odds: Double, independence: Double, at now: Instant) {
        self.odds = odds
        isImitated = true
        latest = now
        looks = min(looks + independence, IntegrityConstants.mostLooks)
        decide(at: now)
    }

    /// Returns what the result of one global update adds to the logarithm of the odds.
    static func gain(_ logRatio: Double, independence: Double) -> Double {
        min(max(logRatio, IntegrityConstants.leastGain), IntegrityConstants.mostGain) * independence
    }

    /// Adds the result of a global update.
    ///
    /// - Parameters:
    ///   - extent: the faults for which the beacon is tested.
    ///   - independence: the share of the error that is independent of the previous global update, in (0, 1].
    ///   - ceiling: the maximum logarithm of the odds after the global update.
    ///   - powerDoubt: the standard deviation in dB of the persistent error of a healthy beacon's power.
    mutating func observe(
        _ test: BeaconConsensus.Test, extent: TestedBeacons.Extent, reading: Evidence.Heard, independence: Double,
        ceiling: Double, mapIndex: Int,
        offset: Double, powerDoubt: Double, at now: Instant
    ) {
        let seconds = max(0, latest.seconds(to: now))
        let keep = cmath_exp(-seconds / IntegrityConstants.oddsMemory)
        odds = IntegrityConstants.prior + (odds - IntegrityConstants.prior) * keep
        precision *= keep
        shift *= keep
        latest = now
        duplicity += (Self.hasTwoLevels(reading) ? 1 - duplicity : -duplicity) * IntegrityConstants.doublePace
        let before = odds
        // A persistent difference of the power: the probability ratio from all residuals so far.
        precision += independence / test.variance
        shift += independence * test.residual / test.variance
        let ratio = Self.shiftRatio(precision, shift, usual: powerDoubt)
        let logRatio = extent == .excess ? test.excessRatio : test.logRatio
        let gain = Self.gain(logRatio, independence: independence)
        looks = min(looks * keep + independence, IntegrityConstants.mostLooks)
        odds += extent == .excess ? gain : max(gain, min(ratio - shiftRatio, IntegrityConstants.mostGain))
        shiftRatio = ratio
        odds = min(max(odds, IntegrityConstants.lowest), IntegrityConstants.highest)
        if odds > ceiling { odds = max(before, ceiling) }
        if odds > IntegrityConstants.suspect {
            if samples.count == IntegrityConstants.sampleLimit { samples.removeFirst() }
            newSamples += 1
            samples.append(
                Sample(
                    mapIndex: Int32(mapIndex), x: Float(test.point.x), y: Float(test.point.y),
                    level: reading.rssi - Float(offset), residual: Float(test.residual)))
        } else if since == nil, !samples.isEmpty {
            samples.removeAll()
        }
        decide(at: now)
    }

    /// Reports the beacon as faulty or clears it.
    private mutating func decide(at now: Instant) {
        if since == nil, odds >= IntegrityConstants.named, looks >= IntegrityConstants.fewestLooks {
            (since, newSamples) = (now, IntegrityConstants.samplesOfKind)
        }
        if odds <= IntegrityConstants.forgiven { (since, isImitated) = (nil, false) }
    }

    /// Returns whether the readings of a global update have two levels.
    static func hasTwoLevels(_ reading: Evidence.Heard) -> Bool {
        reading.count >= IntegrityConstants.doubleCount && reading.spread > IntegrityConstants.doubleSpread
    }

    private static func shiftRatio(_ precision: Double, _ shift: Double, usual: Double) -> Double {
        func evidence(_ deviation: Double) -> Double {
            let variance = deviation * deviation
            return shift * shift / (2 * (precision + 1 / variance)) - cmath_log(1 + variance * precision) / 2
        }
        return evidence(IntegrityConstants.changedShift) - evidence(usual)
    }
}

/// The differences between the readings of each beacon and the signal field, by place.
///
/// The error of the field at a place is persistent; a place therefore counts once, regardless of the number of visits.
struct ResidualAtlas: Sendable {
    /// The averages of one beacon's readings at one place.
    struct Place: Sendable {
        /// The means over the global updates.
        var sample: BeaconRecord.Sample
        /// The mean variance in dB² of the residual if the beacon is healthy.
        var variance: Double
        /// The number of global updates.
        var count: Double
    }

    /// The counts of all global updates with one beacon.
    struct Tally: Sendable {
        /// The number of global updates, and the number of those whose readings have two levels.
        var looks = 0.0
        var doubleLooks = 0.0
        /// The number of expected readings that did not arrive.
        var missed = 0.0
    }

    private struct Key: Hashable, Comparable {
        let beacon: Int
        let mapIndex: Int
        let column: Int
        let row: Int

        static func < (one: Key, other: Key) -> Bool {
            (one.beacon, one.mapIndex, one.column, one.row)
                < (other.beacon, other.mapIndex, other.column, other.row)
        }
    }

    private var places: [Key: Place] = [:]
    private(set) var tallies: [Int: Tally] = [:]

    /// Adds a test of a beacon.
    mutating func add(_ test: BeaconConsensus.Test, level: Double, isDouble: Bool, mapIndex: Int) {
        tallies[test.beacon, default: Tally()].looks += 1
        if isDouble { tallies[test.beacon, default: Tally()].doubleLooks += 1 }
        let key = Key(
            beacon: test.beacon, mapIndex: mapIndex,
            column: Int((test.point.x / IntegrityConstants.placeEdge).rounded(.down)),
            row: Int((test.point.y / IntegrityConstants.placeEdge).rounded(.down)))
        let sample = BeaconRecord.Sample(
            mapIndex: Int32(mapIndex), x: Float(test.point.x), y: Float(test.point.y), level: Float(level),
            residual: Float(test.residual))
        add(Place(sample: sample, variance: test.variance, count: 1), at: key)
    }

    /// Adds the number of readings of a beacon that were expected and didn't arrive.
    mutating func addMissed(_ count: Double, of beacon: Int) {
        tallies[beacon, default: Tally()].missed += count
    }

    /// Adds the places of another atlas.
    mutating func add(_ other: ResidualAtlas) {
        for (key, place) in other.places { add(place, at: key) }
        for (beacon, tally) in other.tallies {
            tallies[beacon, default: Tally()].looks += tally.looks
            tallies[beacon, default: Tally()].doubleLooks += tally.doubleLooks
            tallies[beacon, default: Tally()].missed += tally.missed
        }
    }

    private mutating func add(_ place: Place, at key: Key) {
        guard let known = places[key] else {
            if places.count < IntegrityConstants.mostPlaces { places[key] = place }
            return
        }
        let share = place.count / (known.count + place.count)
        func mix(_ one: Float, _ other: Float) -> Float { one + Float(share) * (other - one) }
        var sum = known
        sum.sample.x = mix(known.sample.x, place.sample.x)
        sum.sample.y = mix(known.sample.y, place.sample.y)
        sum.sample.level = mix(known.sample.level, place.sample.level)
        sum.sample.residual = mix(known.sample.residual, place.sample.residual)
        sum.variance += share * (place.variance - known.variance)
        sum.count += place.count
        places[key] = sum
    }

    /// Returns the places of each received beacon, ordered by beacon and place.
    func placesByBeacon() -> [(beacon: Int, places: [Place])] {
        var all: [(beacon: Int, places: [Place])] = []
        for (key, place) in places.sorted(by: { $0.key < $1.key }) {
            if all.last?.beacon != key.beacon { all.append((key.beacon, [])) }
            all[all.count - 1].places.append(place)
        }
        return all
    }
}
