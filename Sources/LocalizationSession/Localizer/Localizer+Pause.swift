// Pausing and resuming the estimation.
extension Localizer {
    /// Pauses the estimation and stops the radio and the sensors. Does nothing if no session is running.
    ///
    /// The localizer emits nothing until you call ``resume()`` or ``start()``. Pausing causes no exit events for rooms
    /// and fences, and the session memory keeps the estimated location. Interactions with beacons and points of
    /// interest end. While the localizer is paused, its state is `idle`.
    public func pause() async {
        guard !state.isOver else { return }
        // A request that started the session must not end it: the pause stays.
        sessionOfRequests = nil
        _ = await suspend()
        isPaused = true
    }

    /// Resumes the estimation after ``pause()``. Does nothing if the localizer isn't paused.
    ///
    /// The session continues with the estimated location, whose radius has grown during the pause, and with the rooms
    /// and fences that the device is in. Motion keeps its local frame, floor, heading and statistics. To start without
    /// them, call ``start()``. To end the pause without resuming, call ``stop()``.
    public func resume() async {
        guard isPaused else { return }
        await restore(memory)
        await beginSession(with: .resume)
    }
}
