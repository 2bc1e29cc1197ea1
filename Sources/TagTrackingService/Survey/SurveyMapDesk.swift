import CMemory
import Dispatch
import Foundation
import IndoorVocabulary
import TagTracking
import VenueModel
import VenuePackets

/// Learns radio maps from the recordings of a survey's folder, and lets the fleet use them.
///
/// A thread of the lowest priority learns, so that the fleet goes on locating tags. Adopting a map writes the next edition of
/// the packet, and gives the fleet that edition.
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

    private let engine: FleetEngine
    private let folder: String
    private let packet: SurveyedPacket?
    private let place: Place
    private let register: TagRegister
    private let limits: SurveyMapJob.Limits
    private var machine = SurveyMapMachine()
    /// The edition that the fleet uses.
    private var edition: SurveyedPacket.Edition
    private var map: RadioMap?
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
    ///   - place: where the editions of the packet are written, from which the engine's venue was read.
    ///   - register: the tags with their classes and powers.
    package init(
        _ engine: FleetEngine, folder: String, place: Place, register: TagRegister = TagRegister(),
        limits: SurveyMapJob.Limits = SurveyMapJob.Limits()
    ) {
        (self.engine, self.folder, self.place) = (engine, folder, place)
        (self.register, self.limits) = (register, limits)
        edition = SurveyedPacket.Edition(venue: engine.model.venue, previous: nil)
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
        if !recordings.isEmpty { learn() }
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

    /// Lets the fleet use the latest map, in a new edition of the packet.
    ///
    /// The packet is written when this function returns; the fleet uses it soon.
    package func adopt() throws(Refusal) {
        try change(.adopt) { packet, used, map throws(SurveyedPacket.Problem) in
            guard let map else { throw .hasNoEarlierEdition }
            return try packet.adopt(map, after: used)
        }
    }

    /// Lets the fleet use the edition of the packet before the current one.
    package func takeBack() throws(Refusal) {
        try change(.takeBack) { packet, _, _ throws(SurveyedPacket.Problem) in try packet.takeBack() }
    }

    private func change(
        _ event: SurveyMapMachine.Event,
        _ write: (SurveyedPacket, Venue, RadioMap?) throws(SurveyedPacket.Problem) -> SurveyedPacket.Edition
    ) throws(Refusal) {
        guard let packet else {
            if case .none(let reason) = place { throw .place(reason) }
            return
        }
        let directive: SurveyMapMachine.Directive?
        do throws(SurveyMapMachine.Refusal) { directive = try machine.handle(event) } catch { throw .request(error) }
        do throws(SurveyedPacket.Problem) {
            edition = try write(packet, edition.venue, map)
            handle(.written(isAdopted: directive == .adopt))
        } catch {
            handle(.refused("\(error)"))
            throw .packet(error)
        }
        let (venue, settings) = (edition.venue, engine.model.settings)
        Task {
            let model = await LowPriorityThread.run { _ in FleetModel(venue: venue, settings: settings) }
            do throws(FleetSnapshotError) {
                try await engine.use(model)
                handle(.used)
            } catch {
                handle(
                    .refused("The packet was written, but the tags don't use it yet: \(error) Start the process again.")
                )
            }
        }
    }

    /// Handles an event that no person has caused, and begins the learning that follows.
    private func handle(_ event: SurveyMapMachine.Event) {
        guard case .learn? = try? machine.handle(event) else { return }
        Task { await run() }
    }

    private var recordings: [String] {
        DiskFolder.names(in: folder).filter { $0.hasSuffix(".jsonl") || $0.hasSuffix(".jsonl.gz") }
    }

    private func run() async {
        let base: Venue
        do throws(SurveyedPacket.Problem) {
            base = try packet?.unsurveyed ?? engine.model.venue
        } catch { return handle(.failed("\(error)")) }
        let job = SurveyMapJob(base: base, settings: engine.model.settings, register: register, limits: limits)
        let (folder, names) = (folder, recordings)
        let read = await LowPriorityThread.run { _ -> Result<[SurveyMapJob.Walk], SurveyMapJob.Failure> in
            do throws(SurveyMapJob.Failure) { return .success(try job.walks(in: folder, names)) } catch {
                return .failure(error)
            }
        }
        guard case .success(let walks) = read else {
            if case .failure(let failure) = read { handle(.failed("\(failure)")) }
            return
        }
        waypoints = Dictionary(
            walks.map { ($0.file, $0.recording.waypoints) }, uniquingKeysWith: { first, _ in first })
        let result = await LowPriorityThread.run { progress in
            Task { await self.handle(.progressed(done: progress.done, steps: progress.steps)) }
        } _: { [stopping] report -> Result<SurveyMapJob.Result, SurveyMapJob.Failure> in
            defer { cmemory_trim() }
            do throws(SurveyMapJob.Failure) {
                return .success(
                    try job.run(walks) { done, steps in
                        report(SurveyMapMachine.Progress(done: done, steps: steps))
                    } isStopped: {
                        stopping.isOn
                    })
            } catch { return .failure(error) }
        }
        switch result {
        case .success(let learned):
            map = learned.map
            handle(.learned(learned.figures))
        case .failure(let failure): handle(.failed("\(failure)"))
        }
    }
}

/// Threads that use only processor time that nothing else needs.
///
/// A thread inherits the priority of the one that creates it. The system may create a thread for tasks when one continues, so
/// that a second thread, of the usual priority, passes on what the first one reports.
enum LowPriorityThread {
    /// The lowest priority of Linux (man 2 setpriority). There, it belongs to the thread that calls the function.
    private static let lowest: Int32 = 19

    /// What the thread has to pass on.
    private final class Mailbox<Value: Sendable>: Sendable {
        let news = DispatchSemaphore(value: 0)
        private let content = Guarded<(reports: [SurveyMapMachine.Progress], value: Value?)>(([], nil))

        func put(_ report: SurveyMapMachine.Progress) {
            content.withLock { $0.reports.append(report) }
            news.signal()
        }

        func put(_ value: Value) {
            content.withLock { $0.value = value }
            news.signal()
        }

        func take() -> (reports: [SurveyMapMachine.Progress], value: Value?) {
            content.withLock { content in
                defer { content.reports = [] }
                return content
            }
        }
    }

    /// Runs work on a thread of its own, and returns its value.
    ///
    /// - Parameters:
    ///   - reported: receives the progress that the work reports.
    ///   - work: the work, which gets a function that reports its progress.
    static func run<Value: Sendable>(
        reported: @escaping @Sendable (SurveyMapMachine.Progress) -> Void = { _ in },
        _ work: @escaping @Sendable (_ report: (SurveyMapMachine.Progress) -> Void) -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let mailbox = Mailbox<Value>()
                let thread = Thread {
                    setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, lowest)
                    mailbox.put(work { mailbox.put($0) })
                }
                thread.stackSize = 8 << 20
                thread.start()
                while true {
                    mailbox.news.wait()
                    let (reports, value) = mailbox.take()
                    reports.forEach(reported)
                    if let value { return continuation.resume(returning: value) }
                }
            }
        }
    }
}
