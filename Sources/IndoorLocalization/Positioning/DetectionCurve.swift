/// How often beacons are heard, by how strong path loss expects them: what a survey tells of places where it was not.
///
/// Without it, a place where nobody surveyed would be one where nothing is heard, and the device never there. The curve
/// rises with the level, by the pool-adjacent-violators algorithm.
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
    ///   - level: the RSSI in dBm expected there by path loss.
    mutating func add(detections: Double, seconds: Double, level: Double) {
        let bin = Self.bin(level)
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
    func rate(level: Double) -> Double { rates[Self.bin(level)] }

    /// The lowest level in dBm at which beacons are heard more often than `rate` times a second; nil if never.
    func faintest(above rate: Double) -> Double? {
        rates.firstIndex { $0 > rate }.map { Self.lowest + Double($0) * Self.width }
    }

    private static func bin(_ level: Double) -> Int {
        let bin = (level - lowest) / width
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
        for place in places {
            let seconds = min(place.duration, model.rateDurationCap)
            let counts = Dictionary(
                place.readings.map { ($0.beacon, $0.count) }, uniquingKeysWith: { first, _ in first })
            for index in byMap[place.mapID] ?? [] {
                let level = model.level(of: beacons[index], exponent: exponents[index], at: place.point)
                let detections = Double(counts[index] ?? 0) * seconds / place.duration
                add(detections: detections, seconds: seconds, level: level)
            }
        }
        finish(floor: model.unheardRate(of: beacons.count))
    }
}
