import CMath

extension ParticleFilter {
    /// The memory that an update of a filter needs, in addition to the particles.
    ///
    /// The contents have no meaning between two updates. Filters that are updated in turn can share one workspace: each
    /// exchanges its own, empty one with the shared one before an update and again afterwards, which takes constant time
    /// and allocates nothing. A filter of a device owns its workspace.
    package struct Workspace: Sendable {
        /// The particles before resampling.
        var spare = Particles()
        var picks: [Int32] = []
        /// For each new particle, the particle that it is a copy of; -1 for one that was drawn anew.
        var origins: [Int32] = []
        /// The cells that the particles of each map from `first` on were drawn from.
        var drawn: [(first: Int, cells: [Int], mapIndex: Int)] = []
        /// The strides of an update, in the form of the C loop.
        var strides: [cmath_stride] = []
        /// The occupied cells of the maps.
        var occupied: [OccupiedCells] = []
        var lookup: [Int32] = []
        var sums: [Float] = []
        var evidence: [Double] = []
        var heardCells: [Int32] = []
        var cellSums: [Float] = []
        /// The test of the beacons against each other.
        var consensus = BeaconConsensus()

        /// Creates a workspace without memory.
        package init() {}

        /// The bytes of the arrays.
        package var byteCount: Int {
            spare.byteCount + consensus.byteCount
                + 4
                * (picks.capacity + origins.capacity + lookup.capacity + sums.capacity + heardCells.capacity
                    + cellSums.capacity)
                + 8 * evidence.capacity + MemoryLayout<cmath_stride>.stride * strides.capacity
                + occupied.reduce(0) { $0 + 4 * ($1.cells.capacity + $1.slots.capacity) }
        }
    }

    /// The bytes that the filter holds, without the walls, which filters share.
    package var byteCount: Int {
        particles.byteCount + workspace.byteCount + MemoryLayout<ReceiverOffset>.stride * receivers.capacity
    }
}
