import IndoorVocabulary

// Training of rooms, with what the scanner hears.
extension BeaconScanner {
    /// Takes samples of a room, one with each ranging, until it is finished or aborted.
    ///
    ///     let progress = scanner.trainingProgress
    ///     await scanner.train(room: "kitchen", in: "home")
    ///     for await step in progress where step.quality.isSufficient { break }
    ///     let kitchen = await scanner.finishTraining()
    ///
    /// One room is trained at a time: samples of one that was not finished are discarded. The region must be tracked, and is
    /// ranged while the device is in it.
    /// - Parameters:
    ///   - room: the name of the room that the device is in.
    ///   - regionID: the name of the tracked region that it lies in; nil to take the rangings of all regions.
    ///   - placement: where the device is carried meanwhile.
    ///   - unixTime: the time of the wall clock at an instant of the source, in seconds since 1970 (UTC). It is asked with each
    ///     sample. Nil takes the source's wall clock; without one, samples begin in 1970.
    public func train(
        room: String, in regionID: String? = nil, placement: RoomFingerprint.Placement = .hand,
        unixTime: (@Sendable (Instant) -> Double)? = nil
    ) {
        let clock = unixTime ?? { [source] in source.wallClock?.unixTime(at: $0).seconds ?? 0 }
        trainer = RoomTrainer(room: room, regionID: regionID, placement: placement, unixTime: clock)
        tellTraining()
    }

    /// How far the training is; nil if no room is being trained.
    public var training: TrainingProgress? { trainer?.progress }

    /// Takes no samples until `resumeTraining()`.
    public func pauseTraining() {
        trainer?.pause()
        tellTraining()
    }

    /// Ends a pause.
    public func resumeTraining() {
        trainer?.resume()
        tellTraining()
    }

    /// Ends the training, and drops its samples.
    public func abortTraining() {
        trainer?.abort()
        tellTraining()
        trainer = nil
    }

    /// Ends the training.
    ///
    /// - Returns: the fingerprint, also one without samples; nil if no room is being trained.
    public func finishTraining() -> RoomFingerprint? {
        guard var ended = trainer else { return nil }
        let room = ended.room
        let fingerprint = ended.finish()
        trainer = nil
        trainingBroadcast.send(TrainingProgress(room: room, state: .idle, fingerprint: fingerprint))
        return fingerprint
    }

    /// Takes in a ranging.
    func train(with ranging: RegionRanging) {
        if trainer?.observe(ranging) == true { tellTraining() }
    }

    private func tellTraining() {
        if let training { trainingBroadcast.send(training) }
    }
}
