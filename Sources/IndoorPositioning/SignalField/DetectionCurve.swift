import CMath
import IndoorVocabulary
import VenueModel

/// How often beacons are heard, by how strong path loss expects them: what a survey tells of places where it was not.
///
/// Without it, a place where nobody surveyed would be one where nothing is heard, and the device never there. The curve
/// rises with the RSSI, by the pool-adjacent-violators algorithm.
/// Source: M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid, E. Silverman, *An Empirical Distribution Function for
/// Sampling with Incomplete Information*, Annals of Mathematical Statistics 26(4), 1955.
struct DetectionCurve: Sendable {
    /// Listening at places that expect a beacon alike.
    private struct Pool: Sendable {
        var detections = 0.0
        var seconds = 0.0
        /// How many bins they are.
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

    /// Adds what a place heard of a beacon.
    ///
    /// - Parameters:
    ///   - detections: number of them, 0 if it was silent.
    ///   - seconds: of listening.
    ///   - rssi: the RSSI in dBm expected there by path loss.
    mutating func add(detections: Double, seconds: Double, rssi: Double) {
        let bin = Self.bin(rssi)
        pools[bin].detections += detections
        pools[bin].seconds += seconds
    }

    /// Makes the curve of all that was added; nowhere lower than `floor` detections a second.
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

    /// Detections a second where that RSSI in dBm is expected.
    func rate(rssi: Double) -> Double { rates[Self.bin(rssi)] }

    /// The lowest RSSI in dBm at which beacons are heard more often than `rate` times a second; nil if never.
    func faintest(above rate: Double) -> Double? {
        rates.firstIndex { $0 > rate }.map { Self.lowest + Double($0) * Self.width }
    }

    /// The bins of one beacon's RSSIs, by distance: a survey of a large venue compares millions of pairs, each of which would
    /// take a logarithm.
    private struct RSSIBins {
        private let point: MapPoint
        private let height: Double
        /// Squares of distances in m², falling: as far as each bin's lower edge is reached, from the second bin on.
        private var reaches: [Double]

        init(of beacon: RadioMap.Beacon, exponent: Double, model: SignalModel) {
            point = beacon.point
            height = model.heightDifference * model.heightDifference
            // A little more, so that a RSSI at an edge belongs to the bin above in spite of rounding.
            reaches = (1..<DetectionCurve.bins).map { bin in
                let edge = DetectionCurve.lowest + Double(bin) * DetectionCurve.width
                return (1 + 1e-12) * cmath_pow(10, (beacon.power - edge) / (5 * exponent))
            }
        }

        /// The bin of the RSSI that path loss expects at a point of the beacon's map.
        func bin(at place: MapPoint) -> Int {
            let (x, y) = (place.x - point.x, place.y - point.y)
            let square = x * x + y * y + height
            var (low, high) = (0, reaches.count)
            while low < high {
                let middle = (low + high) / 2
                if square <= reaches[middle] { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private static func bin(_ rssi: Double) -> Int {
        let bin = (rssi - lowest) / width
        return bin >= Double(bins) ? bins - 1 : bin > 0 ? Int(bin) : 0
    }
}

extension DetectionCurve {
    /// The curve of a survey: each of its places against each beacon of the same map.
    ///
    /// - Parameter exponents: path-loss exponent of each beacon.
    init(
        of beacons: [RadioMap.Beacon], _ places: [RadioMap.Fingerprint], exponents: [Double], model: SignalModel
    ) {
        self.init()
        let byMap = Dictionary(grouping: beacons.indices, by: { beacons[$0].mapID })
        let bins = beacons.indices.map { RSSIBins(of: beacons[$0], exponent: exponents[$0], model: model) }
        // Detections of each beacon at a place, of which all but a few are none.
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
