/// A detector of climbs from the barometer's height, by stairs, escalator or elevator.
struct ClimbDetector: Hashable, Sendable {
    /// The length of the window in seconds.
    private static let window = 4.0
    /// The difference of height in metres within the window above which the change is a climb and not noise; a slow
    /// walk on stairs makes 1 m.
    private static let span = 0.8

    private struct Entry: Hashable, Sendable {
        var age: Double
        var height: Double
    }

    private var entries: [Entry] = []

    /// Adds a height in metres, `seconds` after the last call; nil without a reading.
    mutating func observe(_ height: Double?, after seconds: Double) {
        for index in entries.indices { entries[index].age += seconds }
        entries.removeAll { $0.age > Self.window }
        if let height { entries.append(Entry(age: 0, height: height)) }
    }

    /// Whether the heights in the window differ too much for a device that stays on a floor.
    var isClimbing: Bool {
        guard let lowest = entries.map(\.height).min(), let highest = entries.map(\.height).max() else { return false }
        return highest - lowest > Self.span
    }
}
