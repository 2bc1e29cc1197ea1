import IndoorVocabulary

// Thousands of engines in one process.
extension PositioningEngine {
    /// Exchanges the memory that an update needs with another workspace, in constant time and without an allocation.
    ///
    /// Call this before `advance(to:)` and again afterwards, so that one workspace serves many engines in turn. The
    /// exchange affects no position. Engines with other numbers of particles need other workspaces: an engine takes over
    /// memory of the workspace for its particles.
    package mutating func exchangeWorkspace(with workspace: inout ParticleFilter.Workspace) {
        swap(&filter.workspace, &workspace)
    }

    /// Sets the seed of all random numbers. Call this before any evidence, for a copy of an engine that serves as a
    /// model.
    package mutating func begin(seed: UInt64) { filter.generator = SeededGenerator(seed: seed) }

    /// The bytes of the engine's own memory: without the field, the walls and the links, which engines share, and without
    /// the engine's own value.
    package var byteCount: Int {
        filter.byteCount + collector.byteCount + floorFilter.byteCount + integrity.byteCount
            + ranging.byteCount
            + MemoryLayout<ReceiverOffset>.stride * offsets.capacity
    }
}
