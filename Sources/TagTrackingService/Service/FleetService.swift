import IndoorVocabulary
import MQTTSharing
import TagTracking

/// A fleet that runs until its task is cancelled. It receives messages from a broker and other inputs, writes outputs
/// to the sinks, and stores its state in a folder.
package struct FleetService: Sendable {
    /// An occurrence for the log.
    package enum Report: Sendable {
        /// The broker granted the subscriptions, or refused those of these filters.
        case connected(refused: [String])
        /// The connection to the broker failed or broke.
        case disconnected(MQTTSharingError, pause: Duration)
        /// Messages were lost, because they arrived faster than the service handles them.
        case lost(messages: Int)
        /// The state can't be stored; reported once until it can be stored again.
        case unsaved(StateFolderError)
        /// The state can be stored again.
        case saved
        /// The health of receivers changed.
        case receivers([ReceiverEvent])
        /// Messages of gateways can arrive, or can't any more.
        case listening(Bool)
        /// The clock was set forward by a time.
        case clockSetForward(Duration)
        /// The clock was set back, so that the times of outputs are ahead of it by a time, which decreases.
        case clockSetBack(lead: Duration)
    }

    /// The time between two steps. It delays outputs, and is short compared with the reorder window.
    private static let pause = Duration.milliseconds(50)
    /// The shortest time between two snapshots.
    private static let saveInterval = Duration.seconds(1)

    /// The connection of the input.
    private final class Connection: Sendable {
        private let state = Guarded(false)

        var isOpen: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private let input: FleetInput?
    private let connection = Connection()
    private let queue: MessageQueue
    private let engine: FleetEngine
    private let state: StateFolder?
    private let sinks: [any FleetOutputSink]
    private let places: [FleetOutput]
    private let registered: Set<TagKey>
    private let newRegister: @Sendable () -> TagRegister?
    private let now: @Sendable () -> Instant
    private let clock: @Sendable () -> FleetClock
    private let report: @Sendable (Report) -> Void

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - input: the subscription to a broker; nil for none.
    ///   - queue: the queue of the messages of all inputs.
    ///   - state: the folder for snapshots; nil stores none.
    ///   - sinks: the destinations of the outputs.
    ///   - places: the latest outputs of the tags of earlier starts, which the sinks have already.
    ///   - registered: the keys of the register at the start.
    ///   - newRegister: returns a register once, when it is to replace the present one; otherwise nil.
    ///   - now: returns the time of the fleet, which never goes back; see ``FleetClock``.
    ///   - clock: returns the clock of `now`, which tells when it was set.
    ///   - report: receives occurrences for the log; it must not block.
    package init(
        input: FleetInput?, queue: MessageQueue, engine: FleetEngine, state: StateFolder?,
        sinks: [any FleetOutputSink], places: [FleetOutput] = [], registered: Set<TagKey> = [],
        newRegister: @escaping @Sendable () -> TagRegister? = { nil }, now: @escaping @Sendable () -> Instant,
        clock: @escaping @Sendable () -> FleetClock = { FleetClock() },
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.input = input
        self.queue = queue
        self.engine = engine
        self.state = state
        self.sinks = sinks
        self.places = places
        self.registered = registered
        self.newRegister = newRegister
        self.now = now
        self.clock = clock
        self.report = report
    }

    /// Runs the fleet until the task is cancelled, and then stores its state.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            if let input {
                group.addTask { [queue, connection, report] in
                    await input.run { event in
                        switch event {
                        case .message(let message): queue.append(message)
                        case .connected(let refused):
                            connection.isOpen = true
                            report(.connected(refused: refused))
                        case .disconnected(let error, let pause):
                            connection.isOpen = false
                            report(.disconnected(error, pause: pause))
                        }
                    }
                }
            }
            group.addTask {
                // The last step and the last snapshot run to their end although this task is cancelled then.
                var work = Work(service: self)
                for output in places { work.latest.add(output) }
                while !Task.isCancelled {
                    try? await Task.sleep(for: Self.pause)
                    let current = work
                    work = await Task { await current.stepped() }.value
                }
                let last = work
                _ = await Task { await last.stored() }.value
            }
        }
    }

    /// Whether messages of gateways can arrive. Without a connection to the broker, they can over HTTP: this counts if
    /// gateways use it, and none uses the broker.
    private var isListening: Bool { input == nil || connection.isOpen || queue.hasOnlyOffers }

    /// The state of the loop.
    private struct Work: Sendable {
        let service: FleetService
        /// The latest outputs of all tags, including those that are away for so long that the engine has forgotten
        /// them.
        var latest: LatestOutputs
        var isChanged = false
        /// The keys of a register that isn't stored; nil if the stored one is current.
        var register: Set<TagKey>?
        var isUnsaved = false
        var nextSave = ContinuousClock.now + saveInterval
        /// The steps of the clock that the engine contains, and whether the clock was set back and is still behind.
        var steps = Duration.zero
        var isClockBehind = false
        /// Whether messages of gateways can arrive; nil before the first step.
        var isListening: Bool?

        init(service: FleetService) {
            self.service = service
            latest = LatestOutputs(capacity: LatestOutputs.capacity(with: service.registered.count))
            latest.registered = service.registered
        }

        /// Returns the work after one step.
        func stepped() async -> Work {
            var next = self
            if let register = service.newRegister() { await next.use(register) }
            let (messages, _, lost) = service.queue.drain()
            if lost > 0 { service.report(.lost(messages: lost)) }
            let now = service.now()
            await next.follow(service.clock())
            await next.listen(at: now)
            let step = await service.engine.step(messages, to: now)
            for output in step.outputs { next.latest.add(output) }
            if !step.outputs.isEmpty {
                for sink in service.sinks { await sink.write(step.outputs) }
            }
            if !step.readings.isEmpty {
                for sink in service.sinks { await sink.write(step.readings) }
            }
            if !step.batteries.isEmpty {
                for sink in service.sinks { await sink.write(step.batteries) }
            }
            if !step.receiverEvents.isEmpty {
                for sink in service.sinks { await sink.write(step.receiverEvents) }
                service.report(.receivers(step.receiverEvents))
            }
            if let activity = step.activity {
                for sink in service.sinks { await sink.write(activity) }
            }
            if !messages.isEmpty || !step.outputs.isEmpty { next.isChanged = true }
            guard next.isChanged, ContinuousClock.now >= next.nextSave else { return next }
            return await next.stored()
        }

        /// Follows the changes of the clock. It is read after the time: a step that this contains is never missed.
        private mutating func follow(_ clock: FleetClock) async {
            if clock.steps > steps {
                service.report(.clockSetForward(clock.steps - steps))
                await service.engine.move(by: clock.steps - steps)
                steps = clock.steps
            }
            let isBehind = clock.lead > FleetClock.tolerance
            if isBehind, !isClockBehind { service.report(.clockSetBack(lead: clock.lead)) }
            isClockBehind = isBehind
        }

        private mutating func listen(at now: Instant) async {
            let isListening = service.isListening
            guard isListening != self.isListening else { return }
            self.isListening = isListening
            await service.engine.listen(isListening, at: now)
            service.report(.listening(isListening))
        }

        private mutating func use(_ register: TagRegister) async {
            let removed = await service.engine.use(register: register, for: Array(latest.tags.keys))
            for tag in removed { latest.remove(tag) }
            let keys = Set(register.entries.keys)
            latest.registered = keys
            for sink in service.sinks { await sink.use(register: register, removing: removed) }
            self.register = keys
            isChanged = true
        }

        /// Returns the work after the state was stored.
        func stored() async -> Work {
            guard let state = service.state, isChanged else { return self }
            var next = self
            let start = ContinuousClock.now
            do throws(StateFolderError) {
                if let register { try state.write(register: register) }
                next.register = nil
                try await service.engine.store(in: state)
                // Write these after the snapshots, so that an earlier state stays complete if the disk is full.
                try state.write(places: latest.tags.values.flatMap(\.outputs))
                next.isChanged = false
                if isUnsaved { service.report(.saved) }
                next.isUnsaved = false
            } catch {
                if !isUnsaved { service.report(.unsaved(error)) }
                next.isUnsaved = true
            }
            // Storing takes at most a fifth of the time, even on a slow disk.
            let end = ContinuousClock.now
            next.nextSave = end + max(saveInterval, start.duration(to: end) * 4)
            return next
        }
    }
}
