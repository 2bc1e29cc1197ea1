import IndoorVocabulary

/// The speed of the device, from the distance to the position of two seconds ago.
///
/// The filter's own velocity isn't that of the device: it is the velocity of the latest step, or a mean over particles
/// that move in different directions. Over two seconds, the errors of two positions amount to less than walking speed.
package struct Speedometer: Hashable, Sendable {
    private struct Place: Hashable, Sendable {
        var instant: Instant
        var point: MapPoint
    }

    /// The time between the two positions.
    private static let window = Duration.seconds(2)
    /// The shortest time for which a speed is returned.
    private static let least = Duration.seconds(1)

    private var map: MapID?
    private var places: [Place] = []

    /// Creates a speedometer without positions.
    package init() {}

    /// The bytes of the positions.
    package var byteCount: Int { MemoryLayout<Place>.stride * places.capacity }

    /// Handles a position; returns the speed in metres per second, nil in the first second on a map.
    mutating func observe(_ point: MapPoint, on map: MapID, at now: Instant) -> Double? {
        if self.map != map { places.removeAll(keepingCapacity: true) }
        self.map = map
        places.append(Place(instant: now, point: point))
        // Keep the latest of the positions that are old enough, and all newer ones.
        let old = places.lastIndex { $0.instant.duration(to: now) >= Self.window } ?? 0
        places.removeFirst(old)
        guard let first = places.first, first.instant.duration(to: now) >= Self.least else { return nil }
        return first.point.distance(to: point) / first.instant.duration(to: now).seconds
    }
}
