import VenueModel

/// The application's monitored geofences, by identifier.
struct MonitoredGeofences: Sendable {
    private var fences: [String: (order: Int, fence: Geofence)] = [:]
    private var nextOrder = 0
    /// The revision, which increases with each change.
    private(set) var revision = 0

    /// The geofences in the order in which monitoring started. A replacement keeps the place of the replaced geofence.
    var list: [Geofence] { fences.values.sorted { $0.order < $1.order }.map(\.fence) }

    /// Starts monitoring geofences; each replaces one with the same identifier.
    mutating func start(_ started: [Geofence]) {
        for fence in started {
            let order = fences[fence.id]?.order ?? nextOrder
            nextOrder = max(nextOrder, order + 1)
            fences[fence.id] = (order, fence)
        }
        revision += 1
    }

    /// Stops monitoring the geofences with these identifiers; unknown identifiers have no effect.
    mutating func stop(_ ids: [String]) {
        let before = fences.count
        for id in ids { fences[id] = nil }
        if fences.count != before { revision += 1 }
    }

    /// Stops monitoring all geofences.
    mutating func stopAll() { stop(Array(fences.keys)) }
}
