import CMath
import IndoorVocabulary
import VenueModel

/// A test of whether the RSSIs of a receiver contradict its place.
///
/// The RSSIs of tags at many points are compared with the signal field and with path loss from another place, each with
/// a free offset. The ratio of the squared errors gives a likelihood ratio for normal errors of unknown variance; half
/// of the readings count, because the readings of one tag are correlated. Large errors are limited, as in P. J. Huber,
/// *Robust Estimation of a Location Parameter*, Annals of Mathematical Statistics 35(1), 1964.
struct ReceiverPlacement: Hashable, Sendable {
    /// The RSSI of a common tag at a point.
    struct Sample: Hashable, Sendable {
        var tag: UInt64
        var instant: Instant
        var mapID: MapID
        var point: MapPoint
        /// The RSSI in dBm, without the estimated power of the tag.
        var rssi: Double
        /// The RSSI in dBm that the signal field predicts.
        var common: Double
    }

    /// A better place of a receiver.
    struct Finding: Hashable, Sendable {
        /// The most plausible point on the receiver's map.
        var point: MapPoint
        /// The distance in metres from the receiver's place.
        var distance: Double
        /// The logarithm of the likelihood ratio of both places.
        var evidence: Double
        /// The root of the mean squared error at the receiver's place and at the other one, in dB.
        var deviation: Double
        var otherDeviation: Double
        /// The number of readings.
        var count: Int
    }

    /// The number of readings and the age in seconds of the oldest one.
    private static let sampleLimit = 160
    private static let longestAge = 900.0
    /// The numbers of readings and tags that the test needs.
    private static let leastSamples = 60
    private static let leastTags = 5
    /// The limit in dB on an error; a larger error counts as this one.
    private static let errorLimit = 15.0
    /// The distance in metres between two points of the search at its end, and the number of points at its start.
    private static let step = 2.0
    private static let pointLimit = 2500.0
    /// The path-loss exponent of a receiver without one.
    private static let usualExponent = 2.4
    /// The difference in height between tag and receiver in metres.
    private static let height = 1.0

    var samples: [Sample] = []

    /// Adds a reading.
    mutating func add(_ sample: Sample) {
        if samples.count >= Self.sampleLimit { samples.removeFirst() }
        samples.append(sample)
    }

    /// Discards old readings.
    mutating func discard(at now: Instant) {
        samples.removeAll { $0.instant.duration(to: now).seconds > Self.longestAge }
    }

    /// Returns the root of the mean squared error at the receiver's place in dB; nil with too few readings.
    func deviation(for receiver: VenueReceiver) -> Double? {
        let here = usable(for: receiver)
        guard !here.isEmpty else { return nil }
        return (error(at: receiver, here) / Double(here.count)).squareRoot()
    }

    /// Returns the best place on the receiver's map; nil with too few readings.
    func finding(for receiver: VenueReceiver, on map: VenueMap) -> Finding? {
        let here = usable(for: receiver)
        guard !here.isEmpty, map.width > 0, map.height > 0 else { return nil }
        let current = error(at: receiver, here)
        var best = (point: receiver.point, error: current)
        var step = max(Self.step, (map.width * map.height / Self.pointLimit).squareRoot())
        for column in 0...Int(map.width / step) {
            for row in 0...Int(map.height / step) {
                let point = MapPoint(x: Double(column) * step, y: Double(row) * step)
                let error = Self.pathLossError(here, from: point, receiver)
                if error < best.error { best = (point, error) }
            }
        }
        while step > Self.step / 2 {
            step /= 2
            let center = best.point
            for (x, y) in [(-1.0, 0.0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
                let point = center + MapPoint(x: x, y: y) * step
                let error = Self.pathLossError(here, from: point, receiver)
                if error < best.error { best = (point, error) }
            }
        }
        let count = Double(here.count)
        return Finding(
            point: best.point, distance: best.point.distance(to: receiver.point),
            evidence: count / 4 * cmath_log(current / max(best.error, 1e-9)),
            deviation: (current / count).squareRoot(), otherDeviation: (best.error / count).squareRoot(),
            count: here.count)
    }

    /// Returns the readings on the receiver's map; empty if there are too few.
    private func usable(for receiver: VenueReceiver) -> [Sample] {
        let here = samples.filter { $0.mapID == receiver.mapID }
        return here.count >= Self.leastSamples && Set(here.map(\.tag)).count >= Self.leastTags ? here : []
    }

    /// Returns the squared error of the better one of signal field and path loss.
    private func error(at receiver: VenueReceiver, _ here: [Sample]) -> Double {
        min(
            Self.squaredError(here.map { $0.rssi - $0.common }),
            Self.pathLossError(here, from: receiver.point, receiver))
    }

    private static func pathLossError(
        _ samples: [Sample], from point: MapPoint, _ receiver: VenueReceiver
    ) -> Double {
        let slope = 5 * (receiver.pathLossExponent ?? usualExponent)
        return squaredError(
            samples.map { sample in
                let planar = sample.point.distance(to: point)
                return sample.rssi + slope * cmath_log10(planar * planar + height * height)
            })
    }

    /// Returns the sum of the squared differences from their median, each limited.
    private static func squaredError(_ values: [Double]) -> Double {
        let median = values.sorted()[values.count / 2]
        return values.reduce(0) { sum, value in
            let error = min(abs(value - median), errorLimit)
            return sum + error * error
        }
    }
}

extension ReceiverPlacement {
    /// Adds the readings of another worker.
    mutating func merge(_ other: ReceiverPlacement) {
        samples = (samples + other.samples).sorted { ($0.instant, $0.tag) < ($1.instant, $1.tag) }
        samples.removeFirst(max(0, samples.count - Self.sampleLimit))
    }
}
