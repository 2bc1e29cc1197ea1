import IndoorVocabulary
import TagTracking
import XCTest

/// Members of a lease group with a store, in steps of 50 ms of simulated time.
struct LeaseSimulation {
    /// The probabilities of faults.
    struct Faults {
        /// A write takes no effect, and has no answer.
        var lostRequest = 0.0
        /// A write takes effect, but has no answer.
        var lostAnswer = 0.0
        /// The longest delay of a request or an answer.
        var delay = Duration.milliseconds(50)
    }

    private struct StoredLease {
        var lease: LeaseList.Lease
        var writtenAt: Instant
    }

    private enum Action {
        case write(member: String, index: Int, owner: String, replacing: UInt64?, sentAt: Instant, answer: Duration?)
        case deliver(member: String, event: LeaseMachine.Event)
    }

    private struct Member {
        var machine: LeaseMachine
        var nextRound: Instant
        var pausedUntil = Instant.zero
        var inbox: [LeaseMachine.Event] = []
        var isLeaving = false
    }

    static let step = Duration.milliseconds(50)
    private static let timeToLive = Duration.seconds(3)
    private static let period = Duration.milliseconds(750)
    private static let requestTime = Duration.seconds(1)

    let count: Int
    var faults = Faults()
    private(set) var now = Instant.zero
    private var generator: SeededGenerator
    private var leases: [Int: StoredLease] = [:]
    private var announced: [String: Instant] = [:]
    private var revision: UInt64 = 0
    private var members: [String: Member] = [:]
    private var actions: [(due: Instant, action: Action)] = []
    /// The time since which each lease has no owner.
    private var orphanedSince: [Int: Instant] = [:]
    /// The longest time without an owner since the last reset.
    private(set) var longestGap = Duration.zero
    /// The leases that had two owners at once.
    private(set) var conflicts: [String] = []

    init(count: Int, seed: UInt64) {
        self.count = count
        generator = SeededGenerator(seed: seed)
    }

    mutating func join(_ name: String) {
        let settings = LeaseMachine.Settings(count: count, timeToLive: Self.timeToLive)
        members[name] = Member(machine: LeaseMachine(name: name, settings: settings), nextRound: now)
    }

    mutating func kill(_ name: String) { members[name] = nil }

    mutating func pause(_ name: String, for duration: Duration) {
        members[name]?.pausedUntil = now.advanced(by: duration)
    }

    mutating func leave(_ name: String) {
        members[name]?.isLeaving = true
        handle(.leave, name)
    }

    mutating func resetGaps() {
        orphanedSince = [:]
        longestGap = .zero
    }

    var names: [String] { members.keys.sorted() }

    /// The number of leases that each member works on.
    var shares: [Int] { names.map { owned(by: $0).count } }

    private func owned(by name: String) -> [Int] {
        guard let member = members[name], member.pausedUntil <= now else { return [] }
        return member.machine.owned.filter { $0.value > now }.map(\.key)
    }

    mutating func run(for duration: Duration) {
        let end = now.advanced(by: duration)
        while now < end {
            now = now.advanced(by: Self.step)
            perform()
            for name in names { round(name) }
            observe()
        }
    }

    private mutating func perform() {
        let due = actions.filter { $0.due <= now }
        actions.removeAll { $0.due <= now }
        for (_, action) in due {
            switch action {
            case .deliver(let name, let event): deliver(event, to: name)
            case .write(let name, let index, let owner, let replaced, let sentAt, let answer):
                let current = current(index)
                var event = LeaseMachine.Event.refused(index: index)
                if current?.revision == replaced {
                    revision += 1
                    leases[index] = StoredLease(
                        lease: LeaseList.Lease(owner: owner, revision: revision), writtenAt: now)
                    event = .stored(index: index, revision: revision, sentAt: sentAt)
                }
                if let answer { schedule(.deliver(member: name, event: event), after: answer) }
            }
        }
    }

    private func current(_ index: Int) -> LeaseList.Lease? {
        leases[index].flatMap { $0.writtenAt.advanced(by: Self.timeToLive) > now ? $0.lease : nil }
    }

    private mutating func schedule(_ action: Action, after delay: Duration) {
        actions.append((now.advanced(by: delay), action))
    }

    private mutating func deliver(_ event: LeaseMachine.Event, to name: String) {
        guard let member = members[name] else { return }
        if member.pausedUntil > now { members[name]?.inbox.append(event) } else { handle(event, name) }
    }

    private mutating func round(_ name: String) {
        guard let member = members[name], member.pausedUntil <= now else { return }
        members[name]?.inbox = []
        for event in member.inbox { handle(event, name) }
        guard member.nextRound <= now else { return }
        members[name]?.nextRound = now.advanced(by: Self.period)
        if !member.isLeaving { announced[name] = now }
        handle(.tick, name)
        let list = LeaseList(
            leases: Dictionary(uniqueKeysWithValues: (0..<count).compactMap { i in current(i).map { (i, $0) } }),
            members: Set(announced.filter { $0.value.advanced(by: Self.timeToLive) > now }.keys))
        handle(.listed(list), name)
        if member.isLeaving, members[name]?.machine.isIdle == true {
            members[name] = nil
            announced[name] = nil
        }
    }

    private mutating func handle(_ event: LeaseMachine.Event, _ name: String) {
        for directive in members[name]?.machine.handle(event, at: now) ?? [] {
            switch directive {
            case .start: break
            case .stop(let index, _):
                // The work stores its state before it ends.
                schedule(.deliver(member: name, event: .stopped(index: index)), after: .milliseconds(200))
            case .write(let index, let owner, let revision):
                let luck = generator.uniform()
                let isAnswered = luck >= faults.lostRequest + faults.lostAnswer
                if luck >= faults.lostRequest {
                    let answer = isAnswered ? faults.delay * generator.uniform() : nil
                    schedule(
                        .write(
                            member: name, index: index, owner: owner, replacing: revision, sentAt: now, answer: answer),
                        after: faults.delay * generator.uniform())
                }
                if !isAnswered {
                    schedule(.deliver(member: name, event: .unanswered(index: index)), after: Self.requestTime)
                }
            }
        }
    }

    private mutating func observe() {
        var owners: [Int: [String]] = [:]
        for name in names { for index in owned(by: name) { owners[index, default: []].append(name) } }
        for index in 0..<count {
            let names = owners[index] ?? []
            if names.count > 1 { conflicts.append("\(index) at \(now.seconds): \(names)") }
            if names.isEmpty {
                orphanedSince[index] = orphanedSince[index] ?? now
            } else if let since = orphanedSince.removeValue(forKey: index) {
                longestGap = max(longestGap, since.duration(to: now))
            }
        }
        for since in orphanedSince.values { longestGap = max(longestGap, since.duration(to: now)) }
    }
}
