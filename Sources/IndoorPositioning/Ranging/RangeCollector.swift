import CMath
import IndoorVocabulary

/// A collector that combines readings of distances into evidence.
///
/// The collector uses the median of an anchor's readings in an interval, because temporary reflections cause outliers.
/// Readings at one place share the errors of the radio path: within `RangeErrors.correlationTime`, a further reading
/// has a lower weight.
package struct RangeCollector: Sendable {
    /// A reading of an anchor by one technology.
    private struct Reading: Sendable {
        var instant: Instant
        /// The number that identifies anchor and technology.
        var key: Int
        var distance: Double
        var deviation: Double
    }

    /// Length in seconds of the window whose readings a lost filter restarts from.
    private static let window = 4.0
    /// The maximum number of readings in the window; the collector ignores further ones.
    private static let limit = 20_000

    private let model: RangeModel
    private var recent: [Reading] = []
    private var lastDrain: Instant?
    /// The instant of the latest used reading, by anchor and technology.
    private var lastUsed: [Int: Instant] = [:]
    /// The instant of the latest reading; nil before any.
    private(set) var latest: Instant?

    /// Creates a collector without readings.
    package init(model: RangeModel) { self.model = model }

    /// Whether any distance was ever measured.
    package var hasMeasured: Bool { latest != nil }

    /// The bytes of the readings.
    var byteCount: Int {
        MemoryLayout<Reading>.stride * recent.capacity + MemoryLayout<(Int, Instant)>.stride * lastUsed.capacity
    }

    /// Adds a reading of an anchor, identified by its index in the field.
    package mutating func add(_ range: RangeReading, anchor: Int) {
        guard range.hasMeasurement, recent.count < Self.limit else { return }
        let technology = RangeModel.number(of: range.technology)
        recent.append(
            Reading(
                instant: range.instant, key: Self.key(anchor, technology), distance: range.distance,
                deviation: range.deviation ?? model.errors(ofTechnology: technology).deviation))
        latest = max(latest ?? range.instant, range.instant)
    }

    /// Returns the number that identifies an anchor and a technology: two indexes of 32 bits.
    private static func key(_ anchor: Int, _ technology: Int) -> Int { anchor + technology << 32 }

    /// Returns whether the window that ends at an instant contains a reading.
    func isMeasuring(at now: Instant) -> Bool { latest.map { $0.duration(to: now).seconds <= Self.window } ?? false }

    /// Returns the evidence of the readings since the last call; nil without any.
    package mutating func drain(at now: Instant) -> RangeEvidence? {
        guard hasMeasured else { return nil }
        let since = lastDrain
        lastDrain = now
        let limit = now.advanced(by: .zero - .seconds(Self.window))
        recent.removeAll { $0.instant < limit }
        let fresh = since.map { since in recent.filter { $0.instant > since } } ?? recent
        guard var evidence = evidence(of: fresh, at: now) else { return nil }
        for index in evidence.measured.indices {
            let key = Self.key(evidence.measured[index].anchor, evidence.measured[index].technology)
            if let used = lastUsed[key] {
                let time = model.errors(ofTechnology: evidence.measured[index].technology).correlationTime
                evidence.measured[index].share = 1 - cmath_exp(-used.duration(to: now).seconds / time)
            }
            lastUsed[key] = now
        }
        return evidence
    }

    /// Returns the evidence of the whole window, regardless of earlier calls; nil if the window is empty.
    package func snapshot(at now: Instant) -> RangeEvidence? {
        recent.isEmpty ? nil : evidence(of: recent, at: now)
    }

    /// Empties the window, because the device is not at the place that its readings indicate.
    mutating func forgetWindow() { recent = [] }

    private func evidence(of readings: [Reading], at now: Instant) -> RangeEvidence? {
        guard !readings.isEmpty else { return nil }
        let sorted = readings.sorted { ($0.key, $0.distance) < ($1.key, $1.distance) }
        var measured: [RangeEvidence.Measured] = []
        var start = 0
        while start < sorted.count {
            let key = sorted[start].key
            let end = sorted[start...].firstIndex { $0.key != key } ?? sorted.count
            let (low, high) = (sorted[(start + end - 1) / 2], sorted[(start + end) / 2])
            measured.append(
                RangeEvidence.Measured(
                    anchor: key & 0xffff_ffff, technology: key >> 32, distance: (low.distance + high.distance) / 2,
                    deviation: max(low.deviation, high.deviation), share: 1))
            start = end
        }
        let ages = readings.reduce(0) { $0 + $1.instant.duration(to: now).seconds }
        return RangeEvidence(measured: measured, age: max(0, ages / Double(readings.count)))
    }
}
