import IndoorVocabulary

// Support for thousands of engines in one process.
extension PositioningEngine {
    /// Exchanges the working memory of the updates with a workspace, in constant time and without an allocation.
    ///
    /// Call this before `advance(to:)` and again afterwards, so that one workspace serves many engines in turn. The
    /// exchange affects no position. Only engines with the same number of particles can share a workspace, because an
    /// engine keeps some of its memory for the particles.
    package mutating func exchangeWorkspace(with workspace: inout ParticleFilter.Workspace) {
        swap(&filter.workspace, &workspace)
    }

    /// Sets the seed of all random numbers. Call this before any evidence, after copying an engine that serves as a
    /// template.
    package mutating func begin(seed: UInt64) { filter.generator = SeededGenerator(seed: seed) }

    /// The bytes of the engine's own memory: without the field, the walls and the links, which engines share, and
    /// without the size of the value itself.
    package var byteCount: Int {
        filter.byteCount + collector.byteCount + floorFilter.byteCount + integrity.byteCount
            + ranging.byteCount
            + MemoryLayout<ReceiverOffset>.stride * offsets.capacity
    }
}
