import VenueModel

extension Localizer {
    /// Starts monitoring a geofence, in addition to the fences of the current venue.
    ///
    /// ``events`` reports its entries and exits. The localizer monitors the geofence in every venue and in later
    /// sessions, until you call ``stopMonitoring(_:)``. A geofence with the identifier of a monitored one replaces it.
    /// If the device was inside the replaced geofence, the next position decides whether it is inside the new one, so
    /// that entries and exits of an identifier alternate.
    ///
    /// - Throws: `GeofenceError` if the geofence is invalid. The monitored geofences then stay as they are.
    public func startMonitoring(_ fence: Geofence) async throws(GeofenceError) { try await startMonitoring([fence]) }

    /// Starts monitoring several geofences. Thousands of them in one call cost little more than one.
    ///
    /// - Throws: `GeofenceError` for the first invalid geofence. The monitored geofences then stay as they are.
    public func startMonitoring(_ fences: [Geofence]) async throws(GeofenceError) {
        if let problem = fences.lazy.compactMap(\.problem).first { throw problem }
        _ = await guide(.monitor(.start(fences)))
    }

    /// Stops monitoring a geofence, without an exit event. An unknown identifier has no effect.
    public func stopMonitoring(_ id: String) async { _ = await guide(.monitor(.stop([id]))) }

    /// Stops monitoring all geofences, without exit events. The fences of venues stay monitored.
    public func stopMonitoringGeofences() async { _ = await guide(.monitor(.stopAll)) }
}
