import IndoorVocabulary

/// How fast positions move: the way from the one of two seconds ago, by the time since then.
///
/// The filter's own velocity is none of the device: it is that of the latest step, or a mean over guesses that walk in
/// different directions. Over two seconds the errors of two positions make less than the speed of a walker.
struct Speedometer: Hashable, Sendable {
    private struct Place: Hashable, Sendable {
        var instant: Instant
        var point: MapPoint
    }

    /// How far is looked back.
    private static let window = Duration.seconds(2)
    /// Over less time than this nothing is told.
    private static let least = Duration.seconds(1)

    private var map: MapID?
    private var places: [Place] = []

    /// Takes in a place; returns metres per second, nil in the first second on a map.
    mutating func observe(_ point: MapPoint, on map: MapID, at now: Instant) -> Double? {
        if self.map != map { places.removeAll(keepingCapacity: true) }
        self.map = map
        places.append(Place(instant: now, point: point))
        // The first one that is kept is the latest of those that are old enough.
        let old = places.lastIndex { $0.instant.duration(to: now) >= Self.window } ?? 0
        places.removeFirst(old)
        guard let first = places.first, first.instant.duration(to: now) >= Self.least else { return nil }
        return first.point.distance(to: point) / first.instant.duration(to: now).seconds
    }
}
