import IndoorVocabulary

/// Counts floors by the height that the barometer tells; without one, the floor stays what it was said to be.
struct FloorCounter: Hashable, Sendable {
    /// Share of the way to another floor from which on that one is nearer for sure.
    private static let switchShare = 0.6
    /// Time constant in seconds with which a floor's height follows the barometer while nobody climbs: the weather, and
    /// floors that are not as high as was said.
    private static let settling = 8.0

    /// Ordinal of the floor: where it began is 0 unless somebody said otherwise.
    private(set) var floor = 0
    /// What the barometer reads on the present floor, in metres; nil before a reading.
    private var reference: Double?
    private var lastHeight: Instant?
    /// Metres from a floor up to the next one, by the floor's number.
    private var heights: [Int: Double] = [:]

    /// Says which floor it is; what the barometer tells now is its height.
    mutating func set(floor: Int, height: Double?) {
        self.floor = floor
        reference = height
    }

    /// Says how many metres it is from a floor up to the next one.
    mutating func setHeight(_ metres: Double, of floor: Int) { heights[floor] = metres }

    /// Takes in a height in metres.
    mutating func observe(_ height: Double, isClimbing: Bool, at now: Instant, usual: Double) {
        let seconds = lastHeight.map { max(0, $0.duration(to: now).seconds) } ?? 0
        lastHeight = now
        guard var reference else { return self.reference = height }
        // No building has more floors than this; a broken barometer may say so.
        for _ in 0..<200 {
            let offset = height - reference
            let step = offset > 0 ? rise(from: floor, usual) : rise(from: floor - 1, usual)
            guard abs(offset) > Self.switchShare * step else { break }
            floor += offset > 0 ? 1 : -1
            reference += offset > 0 ? step : -step
        }
        if !isClimbing { reference += (height - reference) * min(1, seconds / Self.settling) }
        self.reference = reference
    }

    /// Metres from a floor up to the next one.
    private func rise(from floor: Int, _ usual: Double) -> Double { heights[floor] ?? usual }
}
