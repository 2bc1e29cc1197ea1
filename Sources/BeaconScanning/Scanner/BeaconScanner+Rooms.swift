import IndoorVocabulary

extension BeaconScanner {
    /// The probabilities of all trained rooms of a region, for each scan with a valid estimate, whatever room is
    /// confirmed.
    ///
    /// The stream emits elements from `startRooms()` on. It stores the newest 1024 elements for a slow reader.
    public nonisolated func roomEstimates(in regionID: String) -> AsyncStream<RoomEstimate> {
        let rangings = rangings
        let (stream, continuation) = AsyncStream.makeStream(
            of: RoomEstimate.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task { [weak self] in
            var latest: Instant?
            for await ranging in rangings where ranging.regionID == regionID {
                // The scanner updates the estimate before it emits the ranging.
                guard let estimate = await self?.roomEstimate(in: regionID), estimate.instant != latest else {
                    continue
                }
                latest = estimate.instant
                continuation.yield(estimate)
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}
