import CMath
import IndoorVocabulary
import VenueModel

/// A filter for emitted positions, by distance, time and change of course since the last emitted position.
///
/// A position passes if it meets one of the three conditions. With none of them set, every position passes.
public struct PositionFilter: Hashable, Sendable {
    /// The minimum distance in metres to the last emitted position, in [0, 10000000]; 0 ignores the distance.
    public var distance: Double
    /// The minimum time since the last emitted position, from 0 s to a day; 0 ignores the time.
    public var time: Duration
    /// The minimum change of course in degrees since the last emitted position, in [0, 180]; 0 ignores the course.
    public var heading: Double

    /// Creates a filter. By default, every position passes.
    public init(distance: Double = 0, time: Duration = .zero, heading: Double = 0) {
        self.distance = distance
        self.time = time
        self.heading = heading
    }

    /// Whether every position passes.
    package var tellsAll: Bool { distance <= 0 && time <= .zero && heading <= 0 }
}

/// The application of a position filter, with the last position that passed.
package struct PositionGate: Hashable, Sendable {
    /// The last position that passed; nil before the first one.
    private var last: Position?

    /// Creates a gate that lets the first position pass.
    package init() {}

    /// Makes the next position pass, regardless of the filter.
    package mutating func open() { last = nil }

    /// Moves the last position to a timeline with another origin.
    package mutating func shift(by duration: Duration) {
        if let instant = last?.instant { last?.instant = instant.advanced(by: duration) }
    }

    /// Returns whether a position passes a filter, which may differ from call to call.
    package mutating func admits(_ position: Position, by filter: PositionFilter) -> Bool {
        guard let last, last.mapID == position.mapID, !filter.tellsAll else {
            last = position
            return true
        }
        let isFar = filter.distance > 0 && last.point.distance(to: position.point) >= filter.distance
        let isLate = filter.time > .zero && last.instant.duration(to: position.instant) >= filter.time
        let hasTurned = filter.heading > 0 && Self.turn(from: last.course, to: position.course) >= filter.heading
        guard isFar || isLate || hasTurned else { return false }
        self.last = position
        return true
    }

    /// Returns the angle between two courses in degrees, in [0, 180]; 0 if one of them is nil.
    private static func turn(from first: Double?, to second: Double?) -> Double {
        guard let first, let second else { return 0 }
        let apart = abs(cmath_fmod(second - first, 360))
        return min(apart, 360 - apart)
    }
}

extension PositionFilter {
    /// The settings of the filter, each once.
    package static let list: [Setting<PositionFilter>] = [
        .number(
            "distance", \.distance, in: 0...10_000_000, unit: "m",
            "The minimum distance to the last emitted position; 0 ignores the distance."),
        .duration(
            "time", \.time, from: .zero,
            "The minimum time since the last emitted position; 0 ignores the time."),
        .number(
            "heading", \.heading, in: 0...180, unit: "°",
            "The minimum change of course since the last emitted position; 0 ignores the course."),
    ]
}
