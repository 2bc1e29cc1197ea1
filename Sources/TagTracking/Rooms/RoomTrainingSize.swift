import BeaconScanning

extension RoomTrainingSet {
    /// The largest size of the training of a fleet's rooms in a file, in bytes.
    ///
    /// Readers refuse files beyond 64 MB, and beyond 2 million values, of which a sample has at least one for 30 bytes.
    package static let mostBytes = 48 << 20
    /// The largest size of a sample in a file without its readings, and of each reading, in bytes.
    private static let (sampleBytes, readingBytes) = (80, 66)
    /// The share of a room's samples that is discarded at once.
    private static let step = 8

    /// Discards the oldest samples of the rooms with the most data, until a file of the training has at most a size.
    ///
    /// - Parameter bytes: the size, without the names of the rooms.
    package mutating func shorten(to bytes: Int = mostBytes) {
        var sizes = rooms.mapValues(Self.size)
        var total = sizes.values.reduce(0, +)
        while total > bytes, let (room, size) = sizes.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), size > 0 {
            let excess = max(1, (rooms[room]?.samples.count ?? 0) / Self.step)
            rooms[room]?.samples.removeFirst(excess)
            let rest = rooms[room].map(Self.size) ?? 0
            sizes[room] = rest
            total -= size - rest
        }
    }

    private static func size(_ fingerprint: RoomFingerprint) -> Int {
        fingerprint.samples.reduce(0) { $0 + sampleBytes + $1.rssi.count * readingBytes }
    }
}
