import IndoorLocalization
import MQTTSharing
import TagTracking
import TagTrackingService

/// A fleet on one machine whose outputs are printed, until a signal or a time limit ends it.
struct TrackRun: Sendable {
    /// An update for the loop that prints.
    enum Update: Sendable {
        case outputs([FleetOutput])
        case report(FleetService.Report)
        case state(TrackLog.State)
        case nameTaken(ProcessNameTaken)
    }

    /// Passes the outputs to the loop that prints.
    private struct Printing: FleetOutputSink {
        let give: @Sendable (Update) -> Void

        func write(_ outputs: [FleetOutput]) async { give(.outputs(outputs)) }
    }

    /// The clock of the fleet, for several tasks.
    private final class SharedClock: Sendable {
        private let clock = Guarded(FleetClock())

        func now() -> Instant { clock.withLock { $0.now() } }
    }

    /// The time between two readings of the counters for the log.
    private static let logInterval = Duration.seconds(5)

    let engine: FleetEngine
    /// The options with the register, which is read again on SIGHUP and when the file changes.
    let fleet: FleetOptions
    /// The latest outputs of earlier starts.
    let places: [FleetOutput]
    /// The keys of the register at the start.
    let registered: Set<TagKey>
    let state: StateFolder?
    let sinks: [any FleetOutputSink]
    /// The sink that publishes over the broker, which is also one of the sinks; nil for none.
    let published: MQTTOutputSink?
    let broker: MQTTBroker
    let filters: [String]
    /// The page of the tags; nil for none.
    let page: TrackPage?

    /// Runs the fleet and prints its outputs.
    ///
    /// - Throws: `CommandError` if another process publishes under the same name, or the error of standard output,
    ///   except that of a reader that has closed the pipe.
    func follow(limit: Duration?) async throws {
        let clock = SharedClock()
        let queue = MessageQueue()
        let server = try page?.start(engine, queue, published: published) { clock.now() }
        defer { server?.stop() }
        let register = RegisterFile(fleet)
        let reloading = ReloadSignal { register.reload() }
        defer { withExtendedLifetime(reloading) {} }
        let input = FleetInput(broker, filters: filters) { _ in clock.now() }
        let work = LiveWork<Update>(tick: .milliseconds(200), limit: limit) { [self] give in
            let service = FleetService(
                input: input, queue: queue, engine: engine, state: state,
                sinks: [Printing(give: give)] + sinks, places: places, registered: registered,
                newRegister: { register.take() },
                now: { clock.now() }
            ) { give(.report($0)) }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await service.run() }
                group.addTask { await register.watch() }
                group.addTask { [published] in
                    if let error = await published?.nameTaken() { give(.nameTaken(error)) }
                }
                group.addTask {
                    while (try? await Task.sleep(for: Self.logInterval)) != nil {
                        give(.state(await TrackLog.State(engine)))
                    }
                }
            }
        }
        var lines = LiveOutput()
        var log = TrackLog(broker: broker, filters: filters)
        var failure: (any Error)?
        var hasEnded = false
        func handle(_ occurrence: LiveOccurrence<Update>) throws {
            switch occurrence {
            case .element(.outputs(let outputs)): for output in outputs { try lines.line(output.json) }
            case .element(.report(let report)): log.write(report)
            case .element(.state(let state)): log.write(state)
            case .element(.nameTaken(let error)): throw CommandError(description: "\(error)")
            case .ended: hasEnded = true
            case .tick, .limitReached, .interrupted: break
            }
            try lines.write()
        }
        do {
            try await work.follow { occurrence in
                try handle(occurrence)
                return lines.isWritten
            }
        } catch { failure = error }
        await work.stop()
        // The final state contains the outputs of the last step, which are printed as well.
        if failure == nil, !hasEnded {
            for await occurrence in work.occurrences {
                do { try handle(occurrence) } catch { failure = failure ?? error }
                if hasEnded || failure != nil { break }
            }
        }
        do { try lines.end() } catch { failure = failure ?? error }
        if let failure, (failure as? OutputError)?.isBrokenPipe != true { throw failure }
    }
}
