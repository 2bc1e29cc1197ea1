/// Whether the barometer's height changes just now: on stairs, in an elevator.
struct ClimbDetector: Hashable, Sendable {
    /// Seconds that are looked back.
    private static let window = 4.0
    /// Heights further apart than this many metres within the window are a climb, not noise: slow stairs make 1 m.
    private static let span = 0.8

    private struct Entry: Hashable, Sendable {
        var age: Double
        var height: Double
    }

    private var entries: [Entry] = []

    /// Takes in a height in metres `seconds` after the last call; nil without a reading.
    mutating func observe(_ height: Double?, after seconds: Double) {
        for index in entries.indices { entries[index].age += seconds }
        entries.removeAll { $0.age > Self.window }
        if let height { entries.append(Entry(age: 0, height: height)) }
    }

    /// Whether the heights of the window are too far apart for somebody who stays on a floor.
    var isClimbing: Bool {
        guard let lowest = entries.map(\.height).min(), let highest = entries.map(\.height).max() else { return false }
        return highest - lowest > Self.span
    }
}
