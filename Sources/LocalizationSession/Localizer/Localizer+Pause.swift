// Estimation pauses and goes on.
extension Localizer {
    /// Pauses the estimation: stops the radio and the sensors. Nothing is told until `resume()` or `start()`.
    ///
    /// No room or fence is left, and the session memory keeps what is known of the place. Interactions with beacons and points of interest
    /// end. The state is `idle` meanwhile. Does nothing while no session is on.
    public func pause() async {
        guard !state.isOver else { return }
        // A request that began the session no longer ends it: the pause stays.
        sessionOfRequests = nil
        _ = await suspend()
        isPaused = true
    }

    /// Goes on after `pause()`: with what was known of the place, whose radius has grown with the pause, with the rooms and
    /// fences that the device is in, and with the motion of before: its local frame, floor, heading and statistics. Does nothing unless it is paused.
    ///
    /// `start()` instead begins anew, and `stop()` ends the pause without going on.
    public func resume() async {
        guard isPaused else { return }
        await restore(memory)
        await beginSession(with: .resume)
    }
}
