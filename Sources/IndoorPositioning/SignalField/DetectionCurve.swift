import CMath
import IndoorVocabulary
import VenueModel

/// The detection rate of beacons as a function of the RSSI that path loss predicts, learned from a survey.
///
/// The curve supplies the expected rate for places outside the survey. Without the curve, the rate there would be zero,
/// and the filter would exclude these places. The curve is non-decreasing in the RSSI, by the pool-adjacent-violators
/// algorithm. Source: M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman, *An Empirical Distribution Function
/// for Sampling with Incomplete Information*, Annals of Mathematical Statistics 26(4), 1955.
struct DetectionCurve: Sendable {
    /// The listening time and the detections at places with a similar predicted RSSI.
    private struct Pool: Sendable {
        var detections = 0.0
        var seconds = 0.0
        /// The number of bins in the pool.
        var bins = 1

        var rate: Double { seconds > 0 ? detections / seconds : 0 }
    }

    /// Expected RSSI in dBm at the lower edge of the first bin.
    private static let lowest = -120.0
    /// Width of a bin in dB.
    private static let width = 2.0
    private static let bins = 50

    private var pools = Array(repeating: Pool(), count: DetectionCurve.bins)
    private var rates: [Double] = []

    /// Adds the detections of a beacon at a place.
    ///
    /// - Parameters:
    ///   - detections: the number of detections, 0 if there were none.
    ///   - seconds: the listening time.
    ///   - rssi: the RSSI in dBm that path loss predicts there.
    mutating func add(detections: Double, seconds: Double, rssi: Double) {
        let bin = Self.bin(rssi)
        pools[bin].detections += detections
        pools[bin].seconds += seconds
    }

    /// Computes the curve from all added detections, with at least `floor` detections per second everywhere.
    mutating func finish(floor: Double) {
        var merged: [Pool] = []
        for var pool in pools {
            while let before = merged.last, pool.rate <= before.rate {
                pool.detections += before.detections
                pool.seconds += before.seconds
                pool.bins += before.bins
                merged.removeLast()
            }
            merged.append(pool)
        }
        rates = merged.flatMap { Array(repeating: max(floor, $0.rate), count: $0.bins) }
    }

    /// Returns the detections per second at a predicted RSSI in dBm.
    func rate(rssi: Double) -> Double { rates[Self.bin(rssi)] }

    /// Returns the lowest RSSI in dBm at which the detection rate exceeds `rate` per second; nil if there is none.
    func faintest(above rate: Double) -> Double? {
        rates.firstIndex { $0 > rate }.map { Self.lowest + Double($0) * Self.width }
    }

    /// The RSSI bins of one beacon by distance. A large venue's survey has millions of pairs of place and beacon; the
    /// lookup by distance avoids a logarithm for each pair.
    private struct RSSIBins {
        private let point: MapPoint
        private let height: Double
        /// The squared distances in m², in descending order, at which the RSSI falls to the lower edge of each bin,
        /// from the second bin on.
        private var reaches: [Double]

        init(of beacon: RadioMap.Beacon, exponent: Double, model: SignalModel) {
            point = beacon.point
            height = model.heightDifference * model.heightDifference
            // The margin compensates rounding: an RSSI at an edge must be in the upper bin.
            reaches = (1..<DetectionCurve.bins).map { bin in
                let edge = DetectionCurve.lowest + Double(bin) * DetectionCurve.width
                return (1 + 1e-12) * cmath_pow(10, (beacon.power - edge) / (5 * exponent))
            }
        }

        /// Returns the bin of the RSSI that path loss predicts at a point of the beacon's map.
        func bin(at place: MapPoint) -> Int {
            let (x, y) = (place.x - point.x, place.y - point.y)
            let square = x * x + y * y + height
            return (0..<reaches.count).bisection { !(square <= reaches[$0]) }
        }
    }

    private static func bin(_ rssi: Double) -> Int {
        let bin = (rssi - lowest) / width
        return bin >= Double(bins) ? bins - 1 : bin > 0 ? Int(bin) : 0
    }
}

extension DetectionCurve {
    /// Creates the curve of a survey from each pair of a place and a beacon on the same map.
    ///
    /// - Parameter exponents: the path-loss exponent of each beacon.
    init(
        of beacons: [RadioMap.Beacon], _ places: [RadioMap.Fingerprint], exponents: [Double], model: SignalModel
    ) {
        self.init()
        let byMap = Dictionary(grouping: beacons.indices, by: { beacons[$0].mapID })
        let bins = beacons.indices.map { RSSIBins(of: beacons[$0], exponent: exponents[$0], model: model) }
        // Detections of each beacon at the current place; -1 for the beacons without any.
        var counts = [Int](repeating: -1, count: beacons.count)
        for place in places {
            let seconds = min(place.duration, model.rateDurationCap)
            for reading in place.readings where counts.indices.contains(reading.beacon) && counts[reading.beacon] < 0 {
                counts[reading.beacon] = reading.count
            }
            for index in byMap[place.mapID] ?? [] {
                let bin = bins[index].bin(at: place.point)
                pools[bin].detections += Double(max(counts[index], 0)) * seconds / place.duration
                pools[bin].seconds += seconds
            }
            for reading in place.readings where counts.indices.contains(reading.beacon) { counts[reading.beacon] = -1 }
        }
        finish(floor: model.unheardRate(of: beacons.count))
    }
}
