import CMemory
import IndoorVocabulary
import VenueModel
import VenuePackets

/// Learns radio maps from the recordings of a survey's folder, and lets the system use them.
///
/// A thread of the lowest priority learns, so that the system goes on. Adopting a map writes the next edition of the packet,
/// and gives the system that edition. Files are read and written on threads of their own.
package actor SurveyMapDesk {
    /// Where the editions of the packet are written.
    package enum Place: Hashable, Sendable {
        /// The folder of the packet.
        case folder(String)
        /// Nowhere, with the reason and what to do.
        case none(String)
    }

    /// The reason why a request is refused.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case request(SurveyMapMachine.Refusal)
        case packet(SurveyedPacket.Problem)
        case place(String)

        package var description: String {
            switch self {
            case .request(let refusal): "\(refusal)"
            case .packet(let problem): "\(problem)"
            case .place(let reason): "The packet can't have the radio map: \(reason)"
            }
        }
    }

    /// What a page shows.
    package struct Status: Hashable, Sendable {
        package var machine = SurveyMapMachine()
        /// The version of the packet, and of the edition that can be taken back.
        package var edition: Int
        package var previous: Int?
        /// The number of walks from which a map can be judged.
        package var fewestWalks: Int
    }

    private let system: any SurveyedSystem
    private let folder: String
    private let packet: SurveyedPacket?
    private let place: Place
    private let priority: BackgroundThread.Priority
    private let limits: SurveyMapJob.Limits
    private var machine = SurveyMapMachine()
    /// The edition that the system uses.
    private var edition: SurveyedPacket.Edition
    private var map: RadioMap?
    /// The hash of the latest map's document, which tells whether an edition has the map.
    private var mapHash: String?
    /// The marks in the recordings that were read last, by the names of the files.
    private var waypoints: [String: [SurveyRecording.Waypoint]] = [:]
    private let stopping = Stopping()

    /// Whether the process ends.
    private final class Stopping: Sendable {
        private let hasBegun = Guarded(false)
        var isOn: Bool { hasBegun.withLock { $0 } }
        func begin() { hasBegun.withLock { $0 = true } }
    }

    /// Creates a desk.
    ///
    /// - Parameters:
    ///   - folder: the folder of the recordings.
    ///   - place: where the editions of the packet are written, from which the system's venue was read.
    ///   - priority: the priority of the threads that learn.
    package init(
        _ system: any SurveyedSystem, folder: String, place: Place, limits: SurveyMapJob.Limits = SurveyMapJob.Limits(),
        priority: BackgroundThread.Priority = .lowest
    ) {
        (self.system, self.folder, self.place) = (system, folder, place)
        (self.limits, self.priority) = (limits, priority)
        edition = SurveyedPacket.Edition(venue: system.venue, previous: nil)
        if case .folder(let path) = place {
            let packet = SurveyedPacket(folder: path)
            self.packet = packet
            if let current = try? packet.current, current.venue == edition.venue { edition = current }
        } else {
            packet = nil
        }
    }

    /// What a page shows.
    package var status: Status {
        Status(
            machine: machine, edition: edition.venue.version, previous: edition.previous,
            fewestWalks: limits.fewestWalks)
    }

    /// The marks of the recordings in the folder, by the names of the files.
    package var recordedWaypoints: [String: [SurveyRecording.Waypoint]] { waypoints }

    /// Learns the map if the folder has recordings of an earlier run.
    package func begin() {
        if !Self.recordings(in: folder).isEmpty { learn() }
    }

    /// Learns the map, or learns it again after the learning that runs.
    package func learn() {
        guard case .learn? = try? machine.handle(.requested) else { return }
        Task { await run() }
    }

    /// Starts no further learning, and ends the one that runs soon.
    package func stop() {
        stopping.begin()
        _ = try? machine.handle(.stopped)
    }

    /// Lets the system use the latest map, in a new edition of the packet.
    ///
    /// The packet is written when this function returns; the system uses it soon.
    package func adopt() async throws(Refusal) {
        try await change(.adopt) { packet, used, map throws(SurveyedPacket.Problem) in
            guard let map else { throw .hasNoEarlierEdition }
            return try packet.adopt(map, after: used)
        }
    }

    /// Lets the system use the edition of the packet before the current one.
    package func takeBack() async throws(Refusal) {
        try await change(.takeBack) { packet, used, _ throws(SurveyedPacket.Problem) in
            try packet.takeBack(from: used)
        }
    }

    private func change(
        _ event: SurveyMapMachine.Event,
        _ write:
            @escaping @Sendable (SurveyedPacket, Venue, RadioMap?) throws(SurveyedPacket.Problem)
            -> SurveyedPacket.Edition
    ) async throws(Refusal) {
        guard let packet else {
            if case .none(let reason) = place { throw .place(reason) }
            return
        }
        do throws(SurveyMapMachine.Refusal) { _ = try machine.handle(event) } catch { throw .request(error) }
        let (used, map) = (edition.venue, map)
        let written = await BackgroundThread.run(at: .usual) {
            _ -> Result<SurveyedPacket.Edition, SurveyedPacket.Problem> in
            do throws(SurveyedPacket.Problem) { return .success(try write(packet, used, map)) } catch {
                return .failure(error)
            }
        }
        switch written {
        case .success(let next):
            edition = next
            // Meanwhile, another map can have been learned.
            handle(.written(isAdopted: isLatestMapInUse))
        case .failure(let problem):
            handle(.refused("\(problem)"))
            throw .packet(problem)
        }
        let (venue, system, priority) = (edition.venue, system, priority)
        Task {
            do throws(SurveyedSystemError) {
                try await system.use(venue, preparedAt: priority)
                handle(.used)
            } catch { handle(.refused("\(error)")) }
        }
    }

    /// Handles an event that no person has caused, and begins the learning that follows.
    private func handle(_ event: SurveyMapMachine.Event) {
        guard case .learn? = try? machine.handle(event) else { return }
        Task { await run() }
    }

    private var isLatestMapInUse: Bool { mapHash != nil && edition.mapHash == mapHash }

    private static func recordings(in folder: String) -> [String] {
        DiskFolder.names(in: folder).filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".jsonl.gz") }
    }

    private func run() async {
        let (folder, packet, venue, limits) = (folder, packet, system.venue, limits)
        let (locating, hasTags) = (await system.locating(), system.hasTags)
        let read = await BackgroundThread.run(at: priority) {
            _ -> Result<(job: SurveyMapJob, walks: SurveyMapJob.Walks), SurveyedPacket.Problem> in
            do throws(SurveyedPacket.Problem) {
                let job = SurveyMapJob(
                    base: try packet?.unsurveyed ?? venue, hasTags: hasTags, limits: limits, locating: locating)
                return .success((job, job.walks(in: folder, Self.recordings(in: folder))))
            } catch { return .failure(error) }
        }
        let (job, walks): (SurveyMapJob, SurveyMapJob.Walks)
        do throws(SurveyedPacket.Problem) { (job, walks) = try read.get() } catch {
            return handle(.failed("\(error)"))
        }
        waypoints = Dictionary(
            walks.list.map { ($0.file, $0.recording.waypoints) }, uniquingKeysWith: { first, _ in first })
        let result = await BackgroundThread.run(at: priority) { progress in
            await self.handle(.progressed(done: progress.done, steps: progress.steps))
        } _: {
            [stopping] report -> Result<(learned: SurveyMapJob.Result, hash: String?), SurveyMapJob.Failure> in
            do throws(SurveyMapJob.Failure) {
                let learned = try job.run(walks.list) { done, steps in
                    report(BackgroundThread.Progress(done: done, steps: steps))
                } isStopped: {
                    stopping.isOn
                }
                return .success((learned, SurveyedPacket.hash(of: learned.map)))
            } catch { return .failure(error) }
        }
        // Not by the thread that learned: while it waits for a processor, it would hold the locks of the memory.
        cmemory_trim()
        switch result {
        case .success(let (learned, hash)):
            (map, mapHash) = (learned.map, hash)
            handle(.learned(learned.figures, isInUse: isLatestMapInUse, problem: walks.problem))
        case .failure(let failure):
            handle(.failed([walks.problem, "\(failure)"].compactMap(\.self).joined(separator: " ")))
        }
    }
}
