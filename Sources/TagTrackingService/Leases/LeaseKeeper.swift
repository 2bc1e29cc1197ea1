import IndoorVocabulary
import TagTracking

/// The member of a lease group in this process: it performs the directives of `LeaseMachine`, and runs the work of
/// each lease in a task.
package actor LeaseKeeper {
    /// The work of a lease. It ends soon after the gate no longer wants it.
    package typealias Work = @Sendable (_ index: Int, _ gate: LeaseGate) async -> Void

    private enum Wake: Sendable {
        case period
        case ended(Int)
        case leave
    }

    /// The number of writes that wait for the store at the same time.
    private static let parallelWrites = 8
    /// The number of periods within the time to live.
    private static let periodsPerLease = 4

    private let store: any LeaseStore
    private let group: LeaseGroup
    private let settings: LeaseMachine.Settings
    private let clock: SessionClock
    private let isAble: @Sendable () -> Bool
    private let work: Work
    private let report: @Sendable (String) -> Void
    private var machine: LeaseMachine
    private var gates: [Int: LeaseGate] = [:]
    private var tasks: [Int: Task<Void, Never>] = [:]
    private let wakes: AsyncStream<Wake>
    private let wake: AsyncStream<Wake>.Continuation
    private let ownedCount = Guarded(0)
    /// Whether the latest request of the list failed.
    private var isUnread = false

    /// Creates a keeper without leases.
    ///
    /// - Parameters:
    ///   - name: the name of this process, which no other member may have.
    ///   - isAble: returns whether this process can work. While it can't, the other members, if there are any, share its
    ///     leases.
    ///   - report: receives sentences about changes and failures.
    package init(
        store: any LeaseStore, group: LeaseGroup, name: String, settings: LeaseMachine.Settings,
        clock: SessionClock = SessionClock(ContinuousClock()), isAble: @escaping @Sendable () -> Bool = { true },
        report: @escaping @Sendable (String) -> Void, work: @escaping Work
    ) {
        self.store = store
        self.group = group
        self.settings = settings
        self.clock = clock
        self.isAble = isAble
        self.work = work
        self.report = report
        machine = LeaseMachine(name: name, settings: settings)
        (wakes, wake) = AsyncStream.makeStream(of: Wake.self)
    }

    /// The number of leases whose work runs.
    package nonisolated var owned: Int { ownedCount.withLock(\.self) }

    /// Hands over all leases, after which ``run()`` returns.
    package nonisolated func leave() { wake.yield(.leave) }

    /// Holds leases until ``leave()``.
    ///
    /// - Throws: an error of the store that isn't transient. All work has ended then.
    package func run() async throws(FleetStoreError) {
        let clock = clock
        let (period, wake) = (settings.timeToLive / Self.periodsPerLease, wake)
        let timer = Task {
            var due = clock.elapsed()
            while !Task.isCancelled {
                wake.yield(.period)
                // After a pause, for example of a stopped process, the missed periods are skipped.
                due = max(due + period, clock.elapsed())
                try? await clock.sleep(until: due)
            }
        }
        defer { timer.cancel() }
        var failure: FleetStoreError?
        var isLeaving = false
        for await event in wakes {
            do throws(FleetStoreError) {
                switch event {
                case .period: try await renew(isLeaving: isLeaving)
                case .ended(let index): try await finish(index)
                case .leave:
                    isLeaving = true
                    try await perform(machine.handle(.leave, at: now))
                }
            } catch {
                failure = error
                break
            }
            ownedCount.withLock { $0 = machine.owned.count }
            if isLeaving, machine.isIdle, tasks.isEmpty { break }
            if failure != nil { break }
        }
        for gate in gates.values { gate.close() }
        for task in tasks.values { await task.value }
        if let failure { throw failure }
        try? await store.announce(machine.name, of: group, isPresent: false)
    }

    private var now: Instant { Instant.zero.advanced(by: clock.elapsed()) }

    private func renew(isLeaving: Bool) async throws(FleetStoreError) {
        let isAble = isAble()
        try await perform(machine.handle(.able(isAble), at: now))
        try await perform(machine.handle(.tick, at: now))
        do throws(FleetStoreError) {
            if !isLeaving { try await store.announce(machine.name, of: group, isPresent: isAble) }
            let list = try await store.list(group)
            isUnread = false
            try await perform(machine.handle(.listed(list), at: now))
        } catch {
            guard error.isTransient else { throw error }
            if !isUnread { report("the leases can't be read: \(error)") }
            isUnread = true
        }
    }

    private func finish(_ index: Int) async throws(FleetStoreError) {
        tasks[index] = nil
        gates[index] = nil
        try await perform(machine.handle(.stopped(index: index), at: now))
    }

    /// Performs directives, and those that follow from their outcomes.
    private func perform(_ directives: [LeaseMachine.Directive]) async throws(FleetStoreError) {
        var writes: [LeaseWrite] = []
        for directive in directives {
            switch directive {
            case .write(let index, let owner, let revision):
                writes.append(LeaseWrite(index: index, owner: owner, revision: revision))
            case .start(let index): start(index)
            case .stop(let index, .handedOver): gates[index]?.handOver()
            case .stop(let index, let reason):
                report("lease \(index) of \(group.rawValue) is \(reason.rawValue)")
                gates[index]?.close()
            }
        }
        var rest = writes[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.parallelWrites)
            rest = rest.dropFirst(part.count)
            let outcomes = await store(Array(part))
            var isSilent = false
            for (write, outcome) in zip(part, outcomes) {
                if case .unanswered = outcome.event { isSilent = true }
                if let error = outcome.error { throw error }
                let next = machine.handle(outcome.event, at: now)
                if let until = machine.owned[write.index] { gates[write.index]?.extend(until: until) }
                try await perform(next)
            }
            // Each further write would wait just as long for an answer.
            if isSilent {
                for write in rest { _ = machine.handle(.unanswered(index: write.index), at: now) }
                return
            }
        }
    }

    private struct LeaseWrite: Sendable {
        var index: Int
        var owner: String
        var revision: UInt64?
    }

    private struct Outcome: Sendable {
        var event: LeaseMachine.Event
        var error: FleetStoreError?
    }

    /// Writes leases at the same time; returns the outcomes in the order of the writes.
    private func store(_ writes: [LeaseWrite]) async -> [Outcome] {
        let (store, group, sentAt) = (store, group, now)
        return await withTaskGroup(of: (Int, Outcome).self) { tasks in
            for (place, write) in writes.enumerated() {
                tasks.addTask {
                    do throws(FleetStoreError) {
                        let revision = try await store.write(
                            lease: write.index, of: group, owner: write.owner, replacing: write.revision)
                        return (
                            place,
                            Outcome(
                                event: .stored(index: write.index, revision: revision, sentAt: sentAt))
                        )
                    } catch {
                        switch error {
                        case .conflict: return (place, Outcome(event: .refused(index: write.index)))
                        case .unavailable: return (place, Outcome(event: .unanswered(index: write.index)))
                        default: return (place, Outcome(event: .unanswered(index: write.index), error: error))
                        }
                    }
                }
            }
            var outcomes: [Int: Outcome] = [:]
            for await (place, outcome) in tasks { outcomes[place] = outcome }
            return writes.indices.compactMap { outcomes[$0] }
        }
    }

    private func start(_ index: Int) {
        guard let until = machine.owned[index] else { return }
        let gate = LeaseGate(clock, validUntil: until)
        let (work, wake) = (work, wake)
        gates[index] = gate
        tasks[index] = Task {
            await work(index, gate)
            wake.yield(.ended(index))
        }
    }
}

/// The permission to work on a leased part, which expires unless the lease is renewed.
package final class LeaseGate: Sendable {
    private struct State: Sendable {
        var validUntil: Instant
        var isHandedOver = false
    }

    private let clock: SessionClock
    private let state: Guarded<State>

    /// Creates a gate that is open until an instant of the clock.
    package init(_ clock: SessionClock, validUntil: Instant) {
        self.clock = clock
        state = Guarded(State(validUntil: validUntil))
    }

    /// The time of the clock by which the gate closes.
    package var now: Instant { Instant.zero.advanced(by: clock.elapsed()) }

    /// Whether outputs may be emitted now.
    package var isOpen: Bool {
        let now = now
        return state.withLock { $0.validUntil > now }
    }

    /// Whether the work should continue: the gate is open, and the lease isn't handed over.
    package var isWanted: Bool {
        let now = now
        return state.withLock { $0.validUntil > now && !$0.isHandedOver }
    }

    func extend(until instant: Instant) { state.withLock { $0.validUntil = max($0.validUntil, instant) } }

    /// Requests the end of the work. The work may store its state first.
    package func handOver() { state.withLock { $0.isHandedOver = true } }

    /// Closes the gate permanently.
    func close() {
        state.withLock { state in
            state.validUntil = Instant(nanoseconds: .min)
            state.isHandedOver = true
        }
    }
}
