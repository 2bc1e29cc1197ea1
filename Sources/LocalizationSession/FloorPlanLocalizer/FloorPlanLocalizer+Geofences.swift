import VenueModel

extension FloorPlanLocalizer {
    /// Starts monitoring a geofence, in addition to the fences of the floor plan's venue.
    ///
    /// ``events`` reports its entries and exits. The localizer monitors the geofence until you call
    /// ``stopMonitoring(_:)``, also in later sessions. A geofence with the identifier of a monitored one replaces it.
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
        await monitor(.start(fences))
    }

    /// Stops monitoring a geofence, without an exit event. An unknown identifier has no effect.
    public func stopMonitoring(_ id: String) async { await monitor(.stop([id])) }

    /// Stops monitoring all geofences, without exit events. The fences of the venue stay monitored.
    public func stopMonitoringGeofences() async { await monitor(.stopAll) }
}
