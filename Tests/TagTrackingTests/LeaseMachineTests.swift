import IndoorVocabulary
import TagTracking
import XCTest

final class LeaseMachineTests: XCTestCase {
    private static let settings = LeaseMachine.Settings(count: 4)

    private func member(_ name: String = "a") -> LeaseMachine { LeaseMachine(name: name, settings: Self.settings) }

    /// A member that owns all leases, written at zero with the revisions from 1.
    private func owner() -> LeaseMachine {
        var machine = member()
        _ = machine.handle(.listed(LeaseList(members: ["a"])), at: .zero)
        for index in 0..<4 {
            _ = machine.handle(.stored(index: index, revision: UInt64(index + 1), sentAt: .zero), at: .zero)
        }
        return machine
    }

    func testTheSharesOfAGroupDifferByAtMostOneAndCoverAllLeases() {
        for count in [1, 16, 64] {
            for size in 1...9 {
                let members = Set((0..<size).map { "member\($0)" })
                let shares = members.map { LeaseMachine.share(of: $0, among: members, count: count) }
                XCTAssertEqual(shares.reduce(0, +), count)
                XCTAssertLessThanOrEqual((shares.max() ?? 0) - (shares.min() ?? 0), 1)
            }
        }
    }

    func testASingleMemberRequestsAllFreeLeasesAndStartsTheirWorkAfterTheAnswer() {
        var machine = member()
        let requests = machine.handle(.listed(LeaseList()), at: .zero)
        XCTAssertEqual(requests, (0..<4).map { .write(index: $0, owner: "a", replacing: nil) })
        XCTAssertEqual(machine.owned, [:])
        let started = machine.handle(.stored(index: 2, revision: 8, sentAt: .zero), at: Instant(seconds: 0.1))
        XCTAssertEqual(started, [.start(index: 2)])
        XCTAssertEqual(machine.owned, [2: Instant(seconds: 2.5)])
    }

    func testALeaseOfAnotherMemberIsNotRequested() {
        var machine = member()
        let list = LeaseList(leases: [0: .init(owner: "b", revision: 1), 1: .init(owner: "", revision: 2)])
        XCTAssertEqual(
            machine.handle(.listed(list), at: .zero),
            [
                .write(index: 1, owner: "a", replacing: 2), .write(index: 2, owner: "a", replacing: nil),
                .write(index: 3, owner: "a", replacing: nil),
            ])
    }

    func testALeaseThatIsNotRenewedStopsBeforeItEndsInTheStore() {
        var machine = owner()
        XCTAssertEqual(machine.handle(.tick, at: Instant(seconds: 2.4)).count, 4)
        let directives = machine.handle(.tick, at: Instant(seconds: 2.5))
        XCTAssertEqual(directives, (0..<4).map { .stop(index: $0, reason: .expired) })
        XCTAssertEqual(machine.owned, [:])
    }

    func testWorkThatEndsBecauseItsLeaseExpiredIsReportedBeforeTheNextTick() {
        var machine = owner()
        XCTAssertEqual(
            machine.handle(.stopped(index: 1), at: Instant(seconds: 2.5)),
            (0..<4).map { .stop(index: $0, reason: .expired) })
        XCTAssertEqual(machine.owned, [:])
        for index in [0, 2, 3] { XCTAssertEqual(machine.handle(.stopped(index: index), at: Instant(seconds: 2.6)), []) }
        XCTAssertTrue(machine.isIdle)
    }

    func testARenewalExtendsTheLeaseFromTheTimeBeforeItWasSent() {
        var machine = owner()
        _ = machine.handle(.stored(index: 0, revision: 9, sentAt: Instant(seconds: 1)), at: Instant(seconds: 2))
        XCTAssertEqual(machine.owned[0], Instant(seconds: 3.5))
        XCTAssertEqual(machine.owned[1], Instant(seconds: 2.5))
    }

    func testARefusedRenewalStopsTheWork() {
        var machine = owner()
        XCTAssertEqual(machine.handle(.refused(index: 1), at: .zero), [.stop(index: 1, reason: .lost)])
        XCTAssertNil(machine.owned[1])
        // The lease isn't requested before its work has ended.
        let list = LeaseList(leases: [1: .init(owner: "", revision: 30)], members: ["a"])
        XCTAssertEqual(machine.handle(.listed(list), at: .zero), [])
        _ = machine.handle(.stopped(index: 1), at: .zero)
        XCTAssertEqual(
            machine.handle(.listed(list), at: .zero), [.write(index: 1, owner: "a", replacing: 30)])
    }

    func testAMemberHandsOverItsSurplusAndFreesALeaseAfterItsWorkHasEnded() {
        var machine = owner()
        let leases = Dictionary(
            uniqueKeysWithValues: (0..<4).map {
                ($0, LeaseList.Lease(owner: "a", revision: UInt64($0 + 1)))
            })
        let stops = machine.handle(.listed(LeaseList(leases: leases, members: ["a", "b"])), at: .zero)
        XCTAssertEqual(stops, [.stop(index: 2, reason: .handedOver), .stop(index: 3, reason: .handedOver)])
        XCTAssertEqual(
            machine.handle(.stopped(index: 3), at: .zero), [.write(index: 3, owner: "", replacing: 4)])
        // The lease of the work that still runs is renewed.
        XCTAssertTrue(machine.handle(.tick, at: .zero).contains(.write(index: 2, owner: "a", replacing: 3)))
    }

    func testARenewalWhoseAnswerWasLostContinuesWithTheRevisionOfTheStore() {
        var machine = owner()
        _ = machine.handle(.unanswered(index: 0), at: Instant(seconds: 1))
        let list = LeaseList(leases: [0: .init(owner: "a", revision: 12)], members: ["a"])
        _ = machine.handle(.listed(list), at: Instant(seconds: 1))
        XCTAssertTrue(
            machine.handle(.tick, at: Instant(seconds: 1)).contains(.write(index: 0, owner: "a", replacing: 12)))
    }

    func testALeavingMemberHandsOverEverything() {
        var machine = owner()
        XCTAssertEqual(machine.handle(.leave, at: .zero).count, 4)
        for index in 0..<4 {
            _ = machine.handle(.stopped(index: index), at: .zero)
            _ = machine.handle(.stored(index: index, revision: 20, sentAt: .zero), at: .zero)
        }
        XCTAssertTrue(machine.isIdle)
        XCTAssertEqual(machine.handle(.listed(LeaseList()), at: .zero), [])
    }

    func testAMemberThatCannotWorkHandsOverEverythingUntilItCan() {
        var machine = owner()
        XCTAssertEqual(machine.handle(.able(true), at: .zero), [])
        XCTAssertEqual(
            machine.handle(.able(false), at: .zero), (0..<4).map { .stop(index: $0, reason: .handedOver) })
        XCTAssertEqual(machine.handle(.able(false), at: .zero), [])
        for index in 0..<4 {
            _ = machine.handle(.stopped(index: index), at: .zero)
            _ = machine.handle(.stored(index: index, revision: 20, sentAt: .zero), at: .zero)
        }
        XCTAssertTrue(machine.isIdle)
        XCTAssertEqual(machine.handle(.listed(LeaseList()), at: .zero), [])
        XCTAssertEqual(machine.handle(.able(true), at: .zero), [])
        XCTAssertEqual(machine.handle(.listed(LeaseList()), at: .zero).count, 4)
        // The answer to a request arrives when the member can't work any more.
        XCTAssertEqual(machine.handle(.able(false), at: .zero), [])
        XCTAssertEqual(machine.handle(.stored(index: 0, revision: 30, sentAt: .zero), at: .zero), [])
        XCTAssertEqual(machine.owned, [:])
    }

    /// Returns an owner of all leases after lists with the given members in turn.
    private func owner(after lists: [Set<String>]) -> LeaseMachine {
        var machine = owner()
        for members in lists { _ = machine.handle(.listed(LeaseList(members: members)), at: .zero) }
        return machine
    }

    func testAMemberAloneKeepsItsLeasesWhileItCannotWorkUntilAnotherOneJoins() {
        var machine = owner(after: [["a"], ["a"]])
        XCTAssertEqual(machine.handle(.able(false), at: .zero), [])
        // A member that can't work doesn't announce itself.
        XCTAssertEqual(machine.handle(.listed(LeaseList()), at: .zero), [])
        XCTAssertEqual(
            machine.handle(.tick, at: .zero), (0..<4).map { .write(index: $0, owner: "a", replacing: UInt64($0 + 1)) })
        XCTAssertEqual(machine.handle(.able(true), at: .zero), [])
        XCTAssertEqual(machine.owned.count, 4, "it continues at once")
        XCTAssertEqual(machine.handle(.able(false), at: .zero), [])
        XCTAssertEqual(
            machine.handle(.listed(LeaseList(members: ["b"])), at: .zero),
            (0..<4).map { .stop(index: $0, reason: .handedOver) })
    }

    func testAMemberThatHasSeenAnotherOneRecentlyHandsOverWhenItCannotWork() {
        var machine = owner(after: [["a"]])
        XCTAssertEqual(
            machine.handle(.able(false), at: .zero), (0..<4).map { .stop(index: $0, reason: .handedOver) })
        // The share of the other one is already on its way when that one can't be seen for two rounds.
        machine = owner(after: [["a"], ["a", "b"], ["a"], ["a"]])
        XCTAssertEqual(
            machine.handle(.able(false), at: .zero), (0..<2).map { .stop(index: $0, reason: .handedOver) })
    }

    // MARK: Simulated groups

    func testNoLeaseIsWithoutOwnerForFiveSecondsWhenMembersJoinLeaveOrAreKilled() {
        for seed in 0..<10 as Range<UInt64> {
            var group = LeaseSimulation(count: 64, seed: seed)
            group.join("a")
            group.run(for: .seconds(3))
            XCTAssertEqual(group.shares, [64], "seed \(seed)")
            group.resetGaps()
            group.join("b")
            group.run(for: .seconds(6))
            XCTAssertEqual(group.shares, [32, 32], "seed \(seed)")
            group.join("c")
            group.run(for: .seconds(6))
            XCTAssertEqual(group.shares.sorted(), [21, 21, 22], "seed \(seed)")
            group.leave("a")
            group.run(for: .seconds(6))
            XCTAssertEqual(group.shares, [32, 32], "seed \(seed)")
            XCTAssertLessThan(group.longestGap, .seconds(2), "seed \(seed): handed over")
            group.kill("b")
            group.run(for: .seconds(8))
            XCTAssertEqual(group.shares, [64], "seed \(seed)")
            XCTAssertLessThan(group.longestGap, .seconds(5), "seed \(seed): killed")
            XCTAssertEqual(group.conflicts, [], "seed \(seed)")
        }
    }

    func testNoLeaseHasTwoOwnersUnderStopsDelaysAndLostAnswers() {
        for seed in 0..<20 as Range<UInt64> {
            var chance = SeededGenerator(seed: seed + 1_000)
            var group = LeaseSimulation(count: 16, seed: seed)
            group.faults = .init(lostRequest: 0.05, lostAnswer: 0.05, delay: .milliseconds(1_500))
            for name in ["a", "b", "c"] { group.join(name) }
            for round in 0..<40 {
                let name = group.staying[Int(chance.uniform() * Double(group.staying.count))]
                switch chance.uniform() {
                case ..<0.4: group.pause(name, for: .seconds(6 * chance.uniform()))
                case ..<0.5 where group.staying.count > 1: group.kill(name)
                case ..<0.6 where group.staying.count > 1: group.leave(name)
                case ..<0.7: group.join("member\(round)")
                default: break
                }
                group.run(for: .seconds(1))
            }
            XCTAssertEqual(group.conflicts, [], "seed \(seed)")
            // Without further faults, all leases are owned in even shares.
            group.faults = .init()
            group.run(for: .seconds(20))
            XCTAssertEqual(group.shares.reduce(0, +), 16, "seed \(seed)")
            XCTAssertLessThanOrEqual((group.shares.max() ?? 0) - (group.shares.min() ?? 0), 1, "seed \(seed)")
        }
    }
}

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

    private var names: [String] { members.keys.sorted() }
    /// The members that don't leave.
    var staying: [String] { names.filter { members[$0]?.isLeaving == false } }

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
