// Estimation pauses and goes on.
extension Localizer {
    /// Pauses the estimation: stops the radio and the sensors. Nothing is told until `resume()` or `start()`.
    ///
    /// No room or fence is left, and what is known of the place is remembered. Interactions with beacons and points of interest
    /// end. The state is `idle` meanwhile. Does nothing while no session is on.
    public func pause() async {
        guard !state.isOver else { return }
        _ = await suspend()
        isPaused = true
    }

    /// Goes on after `pause()`: with what was known of the place, whose radius has grown with the pause, with the rooms and
    /// fences that the device is in, and with the motion of before: its local frame, floor, heading and statistics. Does nothing unless it is paused.
    ///
    /// `start()` instead begins anew, and `stop()` ends the pause without going on.
    public func resume() async {
        guard isPaused else { return }
        await remember(memory)
        await begin(with: .resume)
    }
}
