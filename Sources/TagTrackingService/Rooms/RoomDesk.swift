import BeaconScanning
import IndoorVocabulary
import TagTracking
import VenuePackets

/// The training of the rooms of a running fleet without a floor plan. It stores each change in the file of the training.
package actor RoomDesk {
    /// The reason why a change failed.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case refused(RoomTrainingProblem)
        /// The change counts until the end of the process, but isn't in the file.
        case unsaved(TrainingFileError)

        package var description: String {
            switch self {
            case .refused(let problem): "\(problem)"
            case .unsaved(let error): "The rooms have changed, but the file can't be written: \(error)"
            }
        }
    }

    /// A trained room.
    package struct Room: Hashable, Sendable {
        package var name: String
        /// The number of samples, one for each second of the training.
        package var samples: Int
        /// The number of gateways that heard the tag.
        package var gateways: Int
        /// Whether there are enough samples to recognize the room.
        package var isSufficient: Bool
    }

    /// The state of the training.
    package struct Status: Hashable, Sendable {
        /// The rooms in the order of their names.
        package var rooms: [Room]
        /// The trainings that run.
        package var trainings: [RoomFleetMachine.Progress]
        /// The gateways that send messages.
        package var gateways: [FleetEngine.Gateway]
    }

    private let engine: FleetEngine
    private let path: String
    private let now: @Sendable () -> Instant
    private let saved: @Sendable (RoomTrainingSet) -> Void
    private let failed: @Sendable (TrainingFileError) -> Void

    /// Creates a desk.
    ///
    /// - Parameters:
    ///   - engine: an engine with trained rooms.
    ///   - path: the file of the training.
    ///   - now: returns the time of the fleet.
    ///   - saved: called with the training after it was written.
    ///   - failed: called if the training couldn't be written.
    package init(
        _ engine: FleetEngine, path: String, now: @escaping @Sendable () -> Instant,
        saved: @escaping @Sendable (RoomTrainingSet) -> Void = { _ in },
        failed: @escaping @Sendable (TrainingFileError) -> Void = { _ in }
    ) {
        (self.engine, self.path, self.now, self.saved, self.failed) = (engine, path, now, saved, failed)
    }

    /// The state of the training.
    package var status: Status {
        get async {
            let training = await engine.training
            let rooms = training.rooms.map { name, fingerprint in
                Room(
                    name: name, samples: fingerprint.samples.count, gateways: fingerprint.beacons.count,
                    isSufficient: !FingerprintQuality(of: fingerprint).shortcomings.contains(.samples))
            }
            return Status(
                rooms: rooms.sorted { $0.name < $1.name }, trainings: await engine.trainingProgress,
                gateways: await engine.gateways)
        }
    }

    /// Starts to train a room with a tag that is in it.
    package func start(_ room: String, with tag: TagKey) async throws(Failure) {
        let now = now()
        try await change { rooms throws(RoomTrainingProblem) in
            try rooms.startTraining(of: room, with: tag, at: now)
        }
    }

    /// Ends the training with a tag, and stores its samples.
    package func finish(with tag: TagKey) async throws(Failure) {
        try await change { rooms throws(RoomTrainingProblem) in try rooms.finishTraining(with: tag) }
        try await save()
    }

    /// Ends the training with a tag, and discards its samples.
    package func cancel(with tag: TagKey) async throws(Failure) {
        try await change { rooms throws(RoomTrainingProblem) in rooms.cancelTraining(with: tag) }
    }

    /// Corrects the room of a tag, and stores the scans of the last half minute as samples of that room.
    package func correct(_ tag: TagKey, to room: String) async throws(Failure) {
        let now = now()
        try await change { rooms throws(RoomTrainingProblem) in _ = try rooms.correct(tag, to: room, at: now) }
        try await save()
    }

    /// Removes a room.
    package func remove(_ room: String) async throws(Failure) {
        try await change { rooms throws(RoomTrainingProblem) in try rooms.remove(room: room) }
        try await save()
    }

    private func change(
        _ change: @Sendable (inout RoomFleetMachine) throws(RoomTrainingProblem) -> Void
    ) async throws(Failure) {
        do throws(RoomTrainingProblem) { try await engine.changeRooms(change) } catch { throw .refused(error) }
    }

    private func save() async throws(Failure) {
        let training = await engine.training
        do throws(TrainingFileError) { try RoomTrainingFile.write(training, to: path) } catch {
            failed(error)
            throw .unsaved(error)
        }
        saved(training)
    }
}
