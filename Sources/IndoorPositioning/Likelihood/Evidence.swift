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
        /// Weight of the RSSI as evidence, in [0, 1]: below 1 for repeated and 0 for irrelevant readings.
        package var share: Float
        /// The equivalent number of independent detections.
        var draws: Float
    }

    /// Length of the interval in seconds.
    var duration: Float
    /// Mean age of the readings in seconds.
    var age = 0.0
    /// The detected beacons, the strongest first.
    package var heard: [Heard]

    /// Sorts the beacons, the strongest first.
    mutating func order() { heard.sort { ($0.rssi, $1.beacon) > ($1.rssi, $0.beacon) } }
}

/// A collector that combines sightings into evidence.
package struct EvidenceCollector: Sendable {
    private struct Accumulator: Sendable {
        var sum = 0.0
        var count = 0
        /// Sum of the readings' times in seconds since the start of the interval.
        var times = 0.0
        var lastUsed: Instant?
        /// RSSI and time of each reading, the oldest first; used only if their number is limited.
        var kept: [(rssi: Double, time: Double)] = []

        /// Adds a reading and discards the oldest readings beyond the limit.
        mutating func keep(_ rssi: Double, _ time: Double, newest limit: Int) {
            kept.append((rssi, time))
            if kept.count > limit { kept.removeFirst(kept.count - limit) }
            count = kept.count
            sum = kept.reduce(0) { $0 + $1.rssi }
            times = kept.reduce(0) { $0 + $1.time }
        }
    }

    /// A reading in the window from which a lost filter restarts.
    private struct Reading: Sendable {
        var instant: Instant
        var beacon: Int
        var rssi: Double
    }

    /// Length of the window in seconds, during which a walker stays within a few metres.
    static let window = 4.0

    private let model: SignalModel
    private var accumulators: [Accumulator]
    private var recent: [Reading] = []
    private var start: Instant?
    private var lastDrain: Instant?

    /// Creates a collector for the beacons of a field.
    package init(field: SignalField) {
        model = field.model
        accumulators = Array(repeating: Accumulator(), count: field.beacons.count)
    }

    /// Whether no beacon was detected since the last call of `drain`.
    package var isEmpty: Bool { accumulators.allSatisfy { $0.count == 0 } }

    /// Whether any beacon was ever detected.
    package var hasHeard: Bool { start != nil }

    /// Adds a reading of a beacon, identified by its index in the field.
    package mutating func add(beacon: Int, rssi: Double, at instant: Instant) {
        start = start ?? instant
        let time = (lastDrain ?? start ?? instant).duration(to: instant).seconds
        if model.readingLimit < SignalModel.unlimited {
            accumulators[beacon].keep(rssi, time, newest: model.readingLimit)
            forgetOldest(of: beacon)
        } else {
            accumulators[beacon].sum += rssi
            accumulators[beacon].count += 1
            accumulators[beacon].times += time
        }
        recent.append(Reading(instant: instant, beacon: beacon, rssi: rssi))
    }

    /// Returns and removes the evidence since the last call; nil before the first reading.
    package mutating func drain(at now: Instant) -> Evidence? {
        guard let start else { return nil }
        let since = lastDrain ?? start
        lastDrain = now
        // The minimum gives an interval with a single reading a positive length.
        let duration = max(since.duration(to: now).seconds, 0.5)
        forget(before: now)
        let means = recentMeans()
        let threshold = weakestRelevant(means)
        var evidence = Evidence(duration: Float(duration), heard: [])
        var (count, times) = (0, 0.0)
        for index in accumulators.indices {
            guard accumulators[index].count > 0 else { continue }
            count += accumulators[index].count
            times += accumulators[index].times
            let age = accumulators[index].lastUsed.map { $0.duration(to: now).seconds }
            let fresh = age.map { 1 - cmath_exp(-$0 / model.correlationTime) } ?? 1
            let isRelevant = means[index].map { $0.mean >= threshold } ?? true
            evidence.heard.append(heard(index, share: isRelevant ? fresh : 0, draws: fresh))
            accumulators[index] = Accumulator(lastUsed: now)
        }
        evidence.age = count > 0 ? since.duration(to: now).seconds - times / Double(count) : 0
        evidence.order()
        return evidence
    }

    private func heard(_ index: Int, share: Double, draws: Double) -> Evidence.Heard {
        let ear = accumulators[index]
        let rssi = ear.sum / Double(ear.count)
        return Evidence.Heard(
            beacon: index, rssi: Float(rssi), variance: fading(ear.count),
            share: Float(share), draws: Float(draws))
    }

    private func fading(_ count: Int) -> Float {
        Float(model.fastFading * model.fastFading / Double(min(count, model.readingCap)))
    }

    /// Returns the mean and the number of the readings in the window, by beacon.
    private func recentMeans() -> [Int: (mean: Double, count: Int)] {
        var sums: [Int: (sum: Double, count: Int)] = [:]
        for reading in recent {
            let old = sums[reading.beacon] ?? (0, 0)
            sums[reading.beacon] = (old.sum + reading.rssi, old.count + 1)
        }
        return sums.mapValues { ($0.sum / Double($0.count), $0.count) }
    }

    /// Returns the RSSI in dBm of the weakest beacon within the beacon limit.
    private func weakestRelevant(_ means: [Int: (mean: Double, count: Int)]) -> Double {
        guard means.count > model.beaconLimit else { return -.infinity }
        guard model.beaconLimit > 0 else { return .infinity }
        return means.values.map(\.mean).sorted(by: >)[model.beaconLimit - 1]
    }

    /// Returns the evidence of the whole window, regardless of earlier calls; nil if the window is empty.
    package func snapshot(at now: Instant) -> Evidence? {
        guard let start, !recent.isEmpty else { return nil }
        let means = recentMeans()
        let threshold = weakestRelevant(means)
        let duration = min(max(start.duration(to: now).seconds, 0.5), Self.window)
        var evidence = Evidence(duration: Float(duration), heard: [])
        for index in accumulators.indices {
            guard let (mean, count) = means[index] else { continue }
            evidence.heard.append(
                Evidence.Heard(
                    beacon: index, rssi: Float(mean), variance: fading(count), share: mean >= threshold ? 1 : 0,
                    draws: 1))
        }
        evidence.order()
        return evidence
    }

    /// Discards the oldest reading of a beacon if the window has reached the reading limit.
    private mutating func forgetOldest(of beacon: Int) {
        let indices = recent.indices.filter { recent[$0].beacon == beacon }
        guard indices.count >= model.readingLimit, let oldest = indices.first else { return }
        recent.remove(at: oldest)
    }

    private mutating func forget(before now: Instant) {
        let limit = now.advanced(by: .zero - .seconds(Self.window))
        if let first = recent.first, first.instant < limit { recent.removeAll { $0.instant < limit } }
    }
}
