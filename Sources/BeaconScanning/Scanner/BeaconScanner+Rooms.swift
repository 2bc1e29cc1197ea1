import IndoorVocabulary

extension BeaconScanner {
    /// The probabilities of all trained rooms of a region, for each scan with a valid estimate, regardless of the
    /// confirmed room.
    ///
    /// The stream emits elements after `startRooms()`. It stores the newest 1024 elements for a slow reader.
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
                if case .dropped = continuation.yield(estimate) { self?.lostEstimates.withLock { $0 += 1 } }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in watch.cancel() }
        return stream
    }
}

// Training of rooms, from the scanner's rangings.
extension BeaconScanner {
    /// Records samples of a room, one with each ranging, until the training is finished or aborted.
    ///
    ///     let progress = scanner.trainingProgress
    ///     await scanner.train(room: "kitchen", in: "home")
    ///     for await step in progress where step.quality.isSufficient { break }
    ///     let kitchen = await scanner.finishTraining()
    ///
    /// One room is trained at a time: a new training discards the samples of an unfinished one. The region must be
    /// tracked; the scanner ranges it while the device is in it.
    /// - Parameters:
    ///   - room: the name of the room that the device is in.
    ///   - regionID: the name of the tracked region that contains the room; nil to use the rangings of all regions.
    ///   - placement: the place where a person carries the device during the training.
    ///   - unixTime: returns the wall-clock time at an instant of the source, in seconds since 1970 (UTC); called for
    ///     each sample. Nil uses the source's wall clock; without one, samples begin in 1970.
    public func train(
        room: String, in regionID: String? = nil, placement: RoomFingerprint.Placement = .hand,
        unixTime: (@Sendable (Instant) -> Double)? = nil
    ) {
        let clock = unixTime ?? { [source] in source.wallClock?.unixTime(at: $0).seconds ?? 0 }
        trainer = RoomTrainer(room: room, regionID: regionID, placement: placement, unixTime: clock)
        tellTraining()
    }

    /// The progress of the training; nil if no room is being trained.
    package var training: TrainingProgress? { trainer?.progress }

    /// Pauses the training until `resumeTraining()`.
    public func pauseTraining() {
        trainer?.pause()
        tellTraining()
    }

    /// Ends a pause.
    public func resumeTraining() {
        trainer?.resume()
        tellTraining()
    }

    /// Ends the training and discards its samples.
    public func abortTraining() {
        trainer?.abort()
        tellTraining()
        trainer = nil
    }

    /// Ends the training.
    ///
    /// - Returns: the fingerprint, which can be without samples; nil if no room is being trained.
    public func finishTraining() -> RoomFingerprint? {
        guard var ended = trainer else { return nil }
        let room = ended.room
        let fingerprint = ended.finish()
        trainer = nil
        trainingBroadcast.send(TrainingProgress(room: room, state: .idle, fingerprint: fingerprint))
        return fingerprint
    }

    /// Passes a ranging to the training.
    func train(with ranging: RegionRanging) {
        if trainer?.observe(ranging) == true { tellTraining() }
    }

    private func tellTraining() {
        if let training { trainingBroadcast.send(training) }
    }
}
