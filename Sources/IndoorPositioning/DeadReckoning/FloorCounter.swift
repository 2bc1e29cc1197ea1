import IndoorVocabulary

/// A counter of floors by the barometer's height; without a barometer, the floor changes only if it is set.
struct FloorCounter: Hashable, Sendable {
    /// The share of the height to the next floor above which the device is on that floor.
    private static let switchShare = 0.6
    /// The time constant in seconds with which a floor's height follows the barometer while the device doesn't climb;
    /// this corrects for the weather and for inexact floor heights.
    private static let settling = 8.0

    /// The ordinal of the floor; the initial floor is 0 unless it was set.
    private(set) var floor = 0
    /// The barometer's height on the current floor, in metres; nil before a reading.
    private var reference: Double?
    private var lastHeight: Instant?
    /// The height in metres from a floor up to the next one, by the floor's number.
    private var heights: [Int: Double] = [:]

    /// Sets the floor; the barometer's current height becomes the height of the floor.
    mutating func set(floor: Int, height: Double?) {
        self.floor = floor
        reference = height
    }

    /// Sets the height in metres from a floor up to the next one.
    mutating func setHeight(_ metres: Double, of floor: Int) { heights[floor] = metres }

    /// Handles a height in metres.
    mutating func observe(_ height: Double, isClimbing: Bool, at now: Instant, usual: Double) {
        let seconds = lastHeight.map { max(0, $0.duration(to: now).seconds) } ?? 0
        lastHeight = now
        guard var reference else { return self.reference = height }
        // The limit bounds the loop if a broken barometer reports an impossible height; no building has as many floors.
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

    /// Returns the height in metres from a floor up to the next one.
    private func rise(from floor: Int, _ usual: Double) -> Double { heights[floor] ?? usual }
}
