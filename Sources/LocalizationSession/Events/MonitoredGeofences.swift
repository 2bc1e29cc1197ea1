import VenueModel

/// The geofences that the application has a session watch, by their identifiers.
struct MonitoredGeofences: Sendable {
    private var fences: [String: (order: Int, fence: Geofence)] = [:]
    private var nextOrder = 0
    /// Grows with each change.
    private(set) var revision = 0

    /// In the order in which they were started; one that takes the place of another has its place in the order too.
    var list: [Geofence] { fences.values.sorted { $0.order < $1.order }.map(\.fence) }

    /// Watches fences, each in place of one with the same identifier.
    mutating func start(_ started: [Geofence]) {
        for fence in started {
            let order = fences[fence.id]?.order ?? nextOrder
            nextOrder = max(nextOrder, order + 1)
            fences[fence.id] = (order, fence)
        }
        revision += 1
    }

    /// Watches those fences no more; unknown identifiers are of no effect.
    mutating func stop(_ ids: [String]) {
        let before = fences.count
        for id in ids { fences[id] = nil }
        if fences.count != before { revision += 1 }
    }

    /// Watches no fence any more.
    mutating func stopAll() { stop(Array(fences.keys)) }
}
