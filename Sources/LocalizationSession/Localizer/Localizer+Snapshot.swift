extension Localizer {
    /// Returns a snapshot of the session at the current instant: state, position, particles and received beacons.
    ///
    /// The session does no work for snapshots until you call this method. The time is linear in the number of
    /// particles of the session and in the number of received beacons.
    /// - Parameter particles: the greatest number of particles in the snapshot.
    public func snapshot(particles: Int = 1000) -> SessionSnapshot {
        runtime.driver.machine.snapshot(at: runtime.timeline.now, particles: particles)
    }
}
