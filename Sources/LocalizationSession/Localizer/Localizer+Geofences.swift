import VenueModel

extension Localizer {
    /// Watches a geofence, beside the fences of the venue that the device is in; `events` tell its entries and exits.
    ///
    /// It is watched in each venue, until it is stopped and also in later sessions. Another one with the same identifier
    /// takes its place: if the device was in that one, the next position decides whether it is in this one, so that
    /// entries and exits of an identifier alternate.
    ///
    /// - Throws: what is wrong with it; then nothing is changed.
    public func startMonitoring(_ fence: Geofence) async throws(GeofenceError) { try await startMonitoring([fence]) }

    /// Watches geofences; thousands of them at once cost little more than one.
    ///
    /// - Throws: what is wrong with the first one that cannot be watched; then nothing is changed.
    public func startMonitoring(_ fences: [Geofence]) async throws(GeofenceError) {
        if let problem = fences.lazy.compactMap(\.problem).first { throw problem }
        _ = await guide(.monitor(.start(fences)))
    }

    /// Watches a geofence no more; no exit is told. An unknown identifier is of no effect.
    public func stopMonitoring(_ id: String) async { _ = await guide(.monitor(.stop([id]))) }

    /// Watches no geofence any more; no exits are told. The fences of venues stay watched.
    public func stopMonitoringGeofences() async { _ = await guide(.monitor(.stopAll)) }
}
