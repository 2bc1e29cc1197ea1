import IndoorPositioning

extension Localizer {
    /// Restores the memory of an earlier session for the next one; while a session is on, this does nothing.
    ///
    /// The memory makes no position by itself. Once a beacon is heard, it tells where the device probably is: the older it
    /// is, the vaguer, and after `memoryTimeout` nothing but what was learned of the device. A device that was carried
    /// elsewhere is found there.
    /// - Parameters:
    ///   - memory: what `memory` or `suspend()` gave.
    ///   - duration: how long ago they did.
    public func restore(_ memory: SessionMemory, after duration: Duration = .zero) async {
        _ = await guide(.restore(memory.aged(by: duration)))
    }

    /// Ends the session as `stop()` does, but to go on later: no room or fence is left.
    ///
    /// The next session that is given this memory tells neither their entry again nor, as long as the device stays in them,
    /// their exit.
    /// - Returns: the session memory, for `restore(_:after:)`.
    public func suspend() async -> SessionMemory {
        _ = await guide(.suspend)
        return memory
    }
}
