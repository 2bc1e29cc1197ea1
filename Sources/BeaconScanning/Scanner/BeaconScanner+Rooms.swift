import IndoorVocabulary

extension BeaconScanner {
    /// How likely each trained room of a region is, with each scan that allows an answer, whatever room is believed.
    ///
    /// Told while rooms are: from `startRooms()` on. Of what nobody takes, the newest 1024 elements are kept.
    public nonisolated func roomEstimates(in regionID: String) -> AsyncStream<RoomEstimate> {
        let rangings = rangings
        let (stream, continuation) = AsyncStream.makeStream(
            of: RoomEstimate.self, bufferingPolicy: .bufferingNewest(1024))
        let watch = Task { [weak self] in
            var latest: Instant?
            for await ranging in rangings where ranging.regionID == regionID {
                // The estimate was made before the ranging was told.
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
