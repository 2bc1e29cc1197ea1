import CMath
import IndoorVocabulary

/// The readings of a time interval, prepared for weighing.
package struct Evidence: Sendable {
    /// The readings of one detected beacon.
    package struct Heard: Sendable {
        /// Index in the signal field.
        package var beacon: Int
        /// Mean RSSI in dBm.
        package var rssi: Float
        /// Variance in dB² of the mean due to fast fading.
        var variance: Float
        /// Weight of the RSSI as evidence, in [0, 1]: below 1 for the readings of a window that was partly used before, and 0
        /// for irrelevant readings.
        package var share: Float
        /// The factor on this weight, in [0, 1], for a beacon whose lasting errors are unknown: below 1 soon after another
        /// reading of the beacon.
        var fresh: Float = 1
        /// The equivalent number of independent detections.
        var draws: Float
        /// The number of readings in the mean.
        var count: Float = 1
        /// Variance in dB² of the readings about their mean; 0 for a single reading.
        var spread: Float = 0
    }

    /// Length of the interval in seconds.
    var duration: Float
    /// Mean age of the readings in seconds.
    var age = 0.0
    /// The end of the interval, in seconds since the first reading of any beacon.
    var time = 0.0
    /// The detected beacons, the strongest first.
    package var heard: [Heard]

    /// The evidence without any reading.
    static let silent = Evidence(duration: 0.5, heard: [])

    /// Sorts the beacons, the strongest first.
    mutating func order() { heard.sort { ($0.rssi, $1.beacon) > ($1.rssi, $0.beacon) } }
}

/// A collector that combines sightings into evidence.
///
/// A reading can be the median over a window of some seconds, which a gateway has computed from the advertisements in
/// it. Such a filtered reading is not one advertisement:
/// - Its age is half of the window at its arrival.
/// - Its fading is that of a median of as many readings as the window is expected to contain.
/// - It shares advertisements with the reading before, and the newest reading of a beacon replaces the older ones. The
///   part of the window since the last use is new. If all errors of a reading lasted, its weight would be that part; if
///   the errors of advertisements were independent, a few new advertisements would make it a whole reading. The weight
///   is the square root of the part, which lies between. On three data sets with medians of 15 s every 1 s and every
///   5 s, the mean error is at most 5 % above that of whole readings, and 84 to 100 % of the positions are within the
///   68 % radius; with whole readings, it is 61 % on one set.
///
/// A window of zero stands for one advertisement.
package struct EvidenceCollector: Sendable {
    /// The readings of one beacon since the last call of `drain`.
    private struct Accumulator: Sendable {
        var beacon: Int
        var sum = 0.0
        var count = 0
        /// Sum of the readings' times in seconds since the start of the interval.
        var times = 0.0
        /// The window of the reading in seconds; 0 for readings of one advertisement.
        var window = 0.0
        var lastUsed: Instant?
        /// RSSI and time of each reading, the oldest first; used only if their number is limited.
        var kept: [(rssi: Double, time: Double)] = []

        init(_ beacon: Int) { self.beacon = beacon }

        /// Removes the readings, which were used at an instant.
        mutating func use(at now: Instant) {
            (sum, count, times) = (0, 0, 0)
            kept = []
            lastUsed = now
        }

        /// Returns whether the next reading of the beacon is as good as its first one, because more seconds have passed
        /// than readings share their errors.
        func isForgotten(at now: Instant, after memory: Double) -> Bool {
            guard count == 0, let lastUsed else { return false }
            return lastUsed.seconds(to: now) > max(memory, window)
        }

        /// Adds a reading and discards the oldest readings beyond the limit.
        mutating func keep(_ rssi: Double, _ time: Double, newest limit: Int) {
            kept.append((rssi, time))
            if kept.count > limit { kept.removeFirst(kept.count - limit) }
            count = kept.count
            sum = kept.reduce(0) { $0 + $1.rssi }
            times = kept.reduce(0) { $0 + $1.time }
        }

        /// Replaces all readings by one.
        mutating func replace(by rssi: Double, _ time: Double, window: Double) {
            (sum, count, times) = (rssi, 1, time)
            kept = []
            self.window = window
        }
    }

    /// A reading in the window from which a lost filter restarts.
    private struct Reading: Sendable {
        var instant: Instant
        var beacon: Int
        var rssi: Double
        /// The window of the reading in seconds.
        var window = 0.0
    }

    /// The mean of a beacon's recent readings.
    private struct Mean {
        var beacon: Int
        var mean = 0.0
        var squares = 0.0
        var count = 0
        var window: Double
    }

    /// Length of the window in seconds, during which a walker stays within a few metres.
    static let window = 4.0
    /// The rate per second of the advertisements in the window of a filtered reading: tags send one in a second or more,
    /// and gateways receive a part of those that are sent more often.
    private static let filteredRate = 1.0
    /// The ratio of the variance of a mean to that of a median, for many normally distributed readings.
    private static let medianEfficiency = 2 / Double.pi
    /// The correlation times after which a reading is as good as a first one: `exp(-40)` is less than the resolution of
    /// a number at 1.
    private static let longestMemory = 40.0
    /// The same for detections, whose number has less resolution.
    private static let longestDetection = 17.0

    private let model: SignalModel
    /// The time in seconds within which detections of one beacon have the same cause.
    private let detectionTime: Double
    /// The beacons that were received lately, ordered by their index in the field. A venue has many more beacons than a
    /// place.
    private var accumulators: [Accumulator] = []
    private var recent: [Reading] = []
    /// The beacons that one transmitter seems to send, in ascending order; they don't count toward the beacon limit.
    var imitated: [Int] = []
    private var start: Instant?
    /// The instant from which on the window contains all readings; nil if it does from the start.
    private var windowStart: Instant?
    private var lastDrain: Instant?

    /// Creates a collector for the beacons of a field.
    package init(field: SignalField) {
        model = field.model
        let time = field.hearingLimit == nil ? 0 : HearingLimit.correlationTime
        detectionTime = max(model.correlationTime, time)
    }

    /// Whether no beacon was detected since the last call of `drain`.
    package var isEmpty: Bool { accumulators.allSatisfy { $0.count == 0 } }

    /// Whether any beacon was ever detected.
    package var hasHeard: Bool { start != nil }

    /// The bytes of the readings.
    var byteCount: Int {
        MemoryLayout<Accumulator>.stride * accumulators.capacity + MemoryLayout<Reading>.stride * recent.capacity
    }

    /// Continues after readings of an earlier collector, the last of which arrived at an instant.
    mutating func resume(at instant: Instant) { (start, lastDrain) = (instant, instant) }

    /// Adds a reading of a beacon, identified by its index in the field.
    ///
    /// - Parameter window: the time over which the RSSI is a median; zero for the RSSI of one advertisement.
    package mutating func add(beacon: Int, rssi: Double, at instant: Instant, window: Duration = .zero) {
        start = start ?? instant
        let time = (lastDrain ?? start ?? instant).seconds(to: instant)
        let (place, length) = (place(of: beacon), max(0, window.seconds))
        if length > 0 {
            accumulators[place].replace(by: rssi, time - length / 2, window: length)
            recent.removeAll { $0.beacon == beacon }
        } else if accumulators[place].window > 0 {
            accumulators[place].replace(by: rssi, time, window: 0)
            recent.removeAll { $0.beacon == beacon }
        } else if model.readingLimit < SignalModel.unlimited {
            accumulators[place].keep(rssi, time, newest: model.readingLimit)
            forgetOldest(of: beacon)
        } else {
            accumulators[place].sum += rssi
            accumulators[place].count += 1
            accumulators[place].times += time
        }
        recent.append(Reading(instant: instant, beacon: beacon, rssi: rssi, window: length))
    }

    /// Returns the place of a beacon's accumulator, which this makes if it is missing.
    private mutating func place(of beacon: Int) -> Int {
        let place = accumulators.indices.bisection { accumulators[$0].beacon >= beacon }
        if place == accumulators.count || accumulators[place].beacon != beacon {
            accumulators.insert(Accumulator(beacon), at: place)
        }
        return place
    }

    /// Returns and removes the evidence since the last call; nil before the first reading.
    package mutating func drain(at now: Instant) -> Evidence? {
        guard let start else { return nil }
        let since = lastDrain ?? start
        lastDrain = now
        let elapsed = since.seconds(to: now)
        // The minimum gives an interval with a single reading a positive length.
        let duration = max(elapsed, 0.5)
        forget(before: now)
        let means = recentMeans()
        let threshold = weakestRelevant(means)
        var evidence = Evidence(duration: Float(duration), time: start.seconds(to: now), heard: [])
        var (count, times) = (0, 0.0)
        for place in accumulators.indices {
            let accumulator = accumulators[place]
            guard accumulator.count > 0 else { continue }
            count += accumulator.count
            times += accumulator.times
            let known = Self.place(of: accumulator.beacon, in: means)
            let isRelevant =
                known == means.count || means[known].beacon != accumulator.beacon || means[known].mean >= threshold
            evidence.heard.append(
                Evidence.Heard(
                    beacon: accumulator.beacon, rssi: Float(accumulator.sum / Double(accumulator.count)),
                    variance: fading(accumulator.count, window: accumulator.window),
                    share: Float(isRelevant ? newPart(of: accumulator, at: now) : 0),
                    fresh: Float(freshness(of: accumulator, at: now, after: model.correlationTime)),
                    draws: Float(
                        freshness(of: accumulator, at: now, after: detectionTime) * newPart(of: accumulator, at: now))))
            accumulators[place].use(at: now)
        }
        evidence.age = count > 0 ? elapsed - times / Double(count) : 0
        let memory = max(Self.longestMemory * model.correlationTime, Self.longestDetection * detectionTime)
        accumulators.removeAll { $0.isForgotten(at: now, after: memory) }
        evidence.order()
        return evidence
    }

    /// Returns the share of a beacon's readings that is independent of those used before, in [0, 1].
    ///
    /// - Parameter time: the time in seconds within which readings are dependent.
    private func freshness(of accumulator: Accumulator, at now: Instant, after time: Double) -> Double {
        guard let age = accumulator.lastUsed.map({ $0.seconds(to: now) }) else { return 1 }
        return 1 - cmath_exp(-age / time)
    }

    /// Returns the part of a filtered reading that no earlier one contains, as a weight in [0, 1].
    private func newPart(of accumulator: Accumulator, at now: Instant) -> Double {
        guard accumulator.window > 0, let age = accumulator.lastUsed.map({ $0.seconds(to: now) }) else {
            return 1
        }
        return min(1, max(0, age / accumulator.window)).squareRoot()
    }

    /// Returns the variance in dB² of the mean of some readings, or of a median over a window in seconds, due to fading.
    private func fading(_ count: Int, window: Double) -> Float {
        let fading = model.fastFading * model.fastFading
        guard window > 0 else { return Float(fading / Double(min(count, model.readingCap))) }
        let equivalent = Self.medianEfficiency * Self.filteredRate * window
        return Float(fading / min(max(1, equivalent), Double(model.readingCap)))
    }

    /// Returns the mean and the number of the readings in the window for each beacon, ordered by the beacons' indexes.
    private func recentMeans() -> [Mean] {
        var means: [Mean] = []
        means.reserveCapacity(accumulators.count)
        for reading in recent {
            let place = Self.place(of: reading.beacon, in: means)
            if place == means.count || means[place].beacon != reading.beacon {
                means.insert(Mean(beacon: reading.beacon, window: reading.window), at: place)
            }
            means[place].mean += reading.rssi
            means[place].squares += reading.rssi * reading.rssi
            means[place].count += 1
        }
        for place in means.indices {
            means[place].mean /= Double(means[place].count)
            means[place].squares /= Double(means[place].count)
        }
        return means
    }

    /// Returns the place of a beacon's mean, or the one at which it is missing.
    private static func place(of beacon: Int, in means: [Mean]) -> Int {
        means.indices.bisection { means[$0].beacon >= beacon }
    }

    /// Returns the RSSI in dBm of the weakest beacon within the beacon limit.
    private func weakestRelevant(_ means: [Mean]) -> Double {
        guard means.count > model.beaconLimit else { return -.infinity }
        guard model.beaconLimit > 0 else { return .infinity }
        let levels = means.filter { !imitated.contains($0.beacon) }.map(\.mean).sorted(by: >)
        return levels.count > model.beaconLimit ? levels[model.beaconLimit - 1] : -.infinity
    }

    /// Returns the evidence of the whole window, regardless of earlier calls; nil if the window is empty.
    package func snapshot(at now: Instant) -> Evidence? {
        guard let start, !recent.isEmpty else { return nil }
        let means = recentMeans()
        let threshold = weakestRelevant(means)
        let duration = min(max((windowStart ?? start).seconds(to: now), 0.5), Self.window)
        var evidence = Evidence(duration: Float(duration), time: start.seconds(to: now), heard: [])
        for recent in means {
            evidence.heard.append(
                Evidence.Heard(
                    beacon: recent.beacon, rssi: Float(recent.mean),
                    variance: fading(recent.count, window: recent.window),
                    share: recent.mean >= threshold ? 1 : 0, draws: 1, count: Float(recent.count),
                    spread: Float(max(0, recent.squares - recent.mean * recent.mean))))
        }
        evidence.order()
        return evidence
    }

    /// Returns the beacons in the window that one transmitter seems to send; nil without them.
    ///
    /// - Parameter snapshot: the evidence of the window.
    func sharedTransmitter(in snapshot: Evidence, field: SignalField) -> SharedTransmitter? {
        guard recent.count >= SharedTransmitter.fewestInAll else { return nil }
        return SharedTransmitter(snapshot.heard, seconds: Self.window) { beacon in
            let levels = recent.filter { $0.beacon == beacon }.map(\.rssi).sorted()
            return levels.isEmpty ? .nan : levels[levels.count / 2]
        } surveyedRate: { beacon in
            guard field.areLevelsKnown, field.areRatesKnown else { return nil }
            return field.maps.compactMap { $0.tables[beacon]?.logRate.max() }.max().map { cmath_exp(Double($0)) }
        }
    }

    /// Empties the window, as the device is at another place than its readings indicate.
    mutating func forgetWindow() {
        windowStart = recent.last?.instant ?? windowStart
        recent = []
    }

    /// Discards the oldest reading of a beacon if the window has reached the reading limit.
    private mutating func forgetOldest(of beacon: Int) {
        let indices = recent.indices.filter { recent[$0].beacon == beacon }
        guard indices.count >= model.readingLimit, let oldest = indices.first else { return }
        recent.remove(at: oldest)
    }

    /// Discards the readings before the window; a filtered reading stays longer by half of its own window.
    private mutating func forget(before now: Instant) {
        let limit = now.advanced(by: .zero - .seconds(Self.window))
        if let first = recent.first, first.instant < limit {
            recent.removeAll {
                ($0.window > 0 ? $0.instant.advanced(by: .seconds($0.window / 2)) : $0.instant) < limit
            }
        }
    }
}

/// The beacons whose lasting errors the particles estimate: the strongest ones of the last seconds.
package struct RememberedBeacons: Sendable {
    /// A beacon, with the time of its latest reading in seconds.
    private struct Slot: Sendable {
        var beacon: Int
        var latest: Double
    }

    /// The number of slots: 32 kB for 250 particles. Six or twelve change the mean error on the data sets by no more than
    /// another seed does. With six, the two other beacons of eight make the radius of a standing device too small.
    static let limit = 8
    /// The time in seconds after which another beacon can have the slot of one that isn't heard any more.
    private static let patience = 5.0

    private var slots: [Slot] = []

    /// Creates the memory without beacons.
    package init() {}

    /// The number of slots in use.
    var count: Int { slots.count }

    /// Returns the slot of a beacon, and the time of its latest reading; nil if it isn't remembered.
    func slot(of beacon: Int) -> (index: Int, latest: Double)? {
        slots.firstIndex { $0.beacon == beacon }.map { ($0, slots[$0].latest) }
    }

    /// Gives a slot to each detected beacon without one, the strongest first, as long as there are free ones.
    ///
    /// - Returns: the slots that have another beacon now, a bit for each.
    mutating func remember(_ evidence: Evidence) -> UInt {
        var changed: UInt = 0
        for heard in evidence.heard where heard.share > 0 && slot(of: heard.beacon) == nil {
            let slot = Slot(beacon: heard.beacon, latest: evidence.time)
            if slots.count < Self.limit {
                changed |= 1 << slots.count
                slots.append(slot)
            } else if let free = slots.indices.min(by: { slots[$0].latest < slots[$1].latest }),
                slots[free].latest + Self.patience < evidence.time
            {
                changed |= 1 << free
                slots[free] = slot
            } else {
                break
            }
        }
        return changed
    }

    /// Notes that the readings of an interval were used.
    mutating func use(_ evidence: Evidence) {
        for heard in evidence.heard where heard.share > 0 {
            if let slot = slot(of: heard.beacon) { slots[slot.index].latest = evidence.time }
        }
    }
}

/// The beacons whose readings look as if one transmitter sent all of them.
///
/// A program that imitates a venue's beacons sends their identities in turn with one power. A receiver therefore gets
/// all of them with the same level and rate, and this rate exceeds that of the other beacons, which it has to outweigh.
/// Beacons that stand at different places have the same level only where the receiver is equally far from all of them.
/// The signature alone therefore accuses no beacon: it lets the other beacons decide between both explanations.
struct SharedTransmitter: Hashable, Sendable {
    /// The minimum number of identities. Fewer are tested one by one.
    private static let fewest = 4
    /// The minimum number of readings of each identity.
    private static let fewestReadings: Float = 12
    /// The minimum ratio between the rate of each identity and that of every other beacon.
    private static let rateRatio: Float = 3
    /// The maximum ratio between the rates of two identities.
    private static let rateSpread: Float = 2
    /// The maximum standard deviation of the levels in dB. The levels of one transmitter differ by the fading of their
    /// medians, which is less than 1 dB for twelve readings.
    private static let levelDeviation = 2.0
    /// The minimum number of other beacons that can decide.
    private static let fewestOthers = 2
    /// The minimum number of readings of all beacons.
    static let fewestInAll = fewest * Int(fewestReadings)

    /// Indexes in the signal field, in ascending order.
    let beacons: [Int]
    /// Whether enough other beacons are received to decide. Without them, the rates exceed those of the survey.
    let hasOthers: Bool

    /// Finds the beacons in the readings of a few seconds; nil without the signature.
    ///
    /// - Parameters:
    ///   - heard: the beacons, each with the number of its readings.
    ///   - seconds: the length of the time.
    ///   - level: returns the median RSSI of a beacon in dBm. The mean would contain the readings of the imitated beacon
    ///     itself, which differ.
    ///   - surveyedRate: returns the largest number of readings per second of a beacon in the survey; nil without a survey.
    init?(
        _ heard: [Evidence.Heard], seconds: Double, level: (_ beacon: Int) -> Double,
        surveyedRate: (_ beacon: Int) -> Double?
    ) {
        let ordered = heard.sorted { ($0.count, $1.beacon) > ($1.count, $0.beacon) }
        guard let largest = ordered.first?.count else { return nil }
        let group = ordered.prefix { $0.count >= Self.fewestReadings && $0.count * Self.rateSpread >= largest }
        let others = ordered.dropFirst(group.count)
        guard group.count >= Self.fewest, let slowest = group.last?.count,
            slowest >= Self.rateRatio * (others.first?.count ?? 0)
        else { return nil }
        let levels = group.map { level($0.beacon) }
        let count = Double(levels.count)
        let mean = levels.reduce(0, +) / count
        let squares = levels.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        guard squares <= (count - 1) * Self.levelDeviation * Self.levelDeviation else { return nil }
        hasOthers = others.count >= Self.fewestOthers
        if !hasOthers {
            let isFrequent = group.allSatisfy { member in
                let usual = surveyedRate(member.beacon).map { Double(Self.rateRatio) * $0 * seconds }
                return Double(member.count) >= usual ?? .infinity
            }
            guard isFrequent else { return nil }
        }
        beacons = group.map(\.beacon).sorted()
    }
}
