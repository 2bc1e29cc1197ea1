import IndoorPositioning

extension Localizer {
    /// Restores the memory of an earlier session for the next one. Does nothing while a session is running.
    ///
    /// The memory alone yields no position. When the source receives the first beacon, the memory supplies the probable
    /// location of the device. The location is less certain the older the memory is. After `memoryTimeout`, the session
    /// uses only the calibration. A device that was moved meanwhile is still located at its new place.
    /// - Parameters:
    ///   - memory: the value of ``memory`` or the result of ``suspend()``.
    ///   - duration: the age of the memory.
    public func restore(_ memory: SessionMemory, after duration: Duration = .zero) async {
        _ = await guide(.restore(memory.aged(by: duration)))
    }

    /// Ends the session as `stop()` does, but without exit events, so that a later session can continue it.
    ///
    /// A session that restores this memory repeats no entry event for the rooms and fences that the device is in, and
    /// reports their exits only when the device leaves them.
    /// - Returns: the session memory, for `restore(_:after:)`.
    public func suspend() async -> SessionMemory {
        _ = await guide(.suspend)
        return memory
    }
}
