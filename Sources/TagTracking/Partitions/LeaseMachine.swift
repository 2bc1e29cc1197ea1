import IndoorVocabulary

/// The rules of a process that shares leases with the other members of its group.
///
/// Each member computes the same even shares from the list of members. It acquires free leases up to its share, renews
/// the leases that it holds, and hands leases over that exceed its share. A lease is written by compare-and-set, and
/// expires in the store after the time to live. A member stops its work `Settings.margin` earlier, counted from the
/// moment before it sent the latest successful renewal, by its own monotonic clock. A lease therefore never has two
/// owners, as long as the clocks of store and member run equally fast.
package struct LeaseMachine: Hashable, Sendable {
    /// The settings of a group; equal in all members.
    package struct Settings: Hashable, Sendable {
        /// The number of leases.
        package var count: Int
        /// The time after which the store discards a lease that isn't renewed.
        package var timeToLive: Duration
        /// The time before the end of a lease at which its owner stops.
        package var margin: Duration

        /// Creates the settings.
        package init(count: Int, timeToLive: Duration = .seconds(3), margin: Duration = .milliseconds(500)) {
            self.count = count
            self.timeToLive = timeToLive
            self.margin = margin
        }
    }

    /// An event that the caller reports.
    package enum Event: Hashable, Sendable {
        /// The store returned its list.
        case listed(LeaseList)
        /// It is time to renew the leases.
        case tick
        /// A write was stored. `sentAt` is the time before it was sent.
        case stored(index: Int, revision: UInt64, sentAt: Instant)
        /// The store refused a write, because the revision has changed.
        case refused(index: Int)
        /// The store gave no answer to a write.
        case unanswered(index: Int)
        /// The work of a lease has ended.
        case stopped(index: Int)
        /// Whether the process can work. While it can't, no lease is acquired, and all are handed over to the other members.
        /// A member that is alone keeps its leases, so that it continues at once when it can work again.
        case able(Bool)
        /// The process ends: all leases are handed over.
        case leave
    }

    /// A task for the caller.
    package enum Directive: Hashable, Sendable {
        /// Write the owner, which is empty for a free lease, if the revision hasn't changed.
        case write(index: Int, owner: String, replacing: UInt64?)
        /// Begin the work of a lease.
        case start(index: Int)
        /// End the work of a lease, and report `.stopped`.
        case stop(index: Int, reason: StopReason)
    }

    /// The reason to end the work of a lease.
    package enum StopReason: String, Hashable, Sendable {
        /// The lease goes to another member. Its state is stored before that.
        case handedOver
        /// Another member has the lease.
        case lost
        /// The lease was not renewed in time.
        case expired
    }

    private enum Work: Hashable, Sendable {
        /// The lease is requested, but no work has begun.
        case acquiring
        case running
        /// The work ends; the lease is kept until then.
        case handingOver
        /// The lease is lost or has expired; the work ends.
        case ending
        /// The write that frees the lease is on its way.
        case freeing
    }

    private struct Holding: Hashable, Sendable {
        var work: Work
        var revision: UInt64?
        /// The end of the lease for its owner.
        var validUntil: Instant
    }

    /// The number of lists without another member after which this one is alone. Another one may be between two rounds.
    private static let listsAlone = 3

    /// The name of this member, which no other process may have.
    package let name: String
    private let settings: Settings
    private var holdings: [Int: Holding] = [:]
    private var isLeaving = false
    private var isAble = true
    /// The number of latest lists without another member.
    private var lonelyLists = 0

    /// Creates a member without leases.
    package init(name: String, settings: Settings) {
        self.name = name
        self.settings = settings
    }

    /// The leases whose work runs, with the time at which the work must stop unless they are renewed.
    package var owned: [Int: Instant] {
        holdings.compactMapValues { [.running, .handingOver].contains($0.work) ? $0.validUntil : nil }
    }

    /// Whether the member holds no lease, so that nothing is left to hand over.
    package var isIdle: Bool { holdings.isEmpty }

    /// Returns the number of leases of a member if the group has the given members.
    package static func share(of name: String, among members: Set<String>, count: Int) -> Int {
        let rank = members.count { $0 < name }
        return count / members.count + (rank < count % members.count ? 1 : 0)
    }

    /// Handles an event, and returns the tasks in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        switch event {
        case .listed(let list): return expire(at: now) + balance(list, at: now)
        case .tick: return expire(at: now) + renew()
        case .stored(let index, let revision, let sentAt): return recordStored(index, revision, sentAt, at: now)
        case .refused(let index): return recordRefusal(index)
        case .unanswered(let index):
            // An acquisition is attempted again with the next list; a renewal is repeated until the lease ends.
            if let work = holdings[index]?.work, [.acquiring, .freeing].contains(work) { holdings[index] = nil }
            return []
        // The work may notice the end of its lease before the next tick, such as after a pause of the process.
        case .stopped(let index): return expire(at: now) + recordEnd(index)
        case .able(let isAble):
            self.isAble = isAble
            return isAble || isAlone ? [] : handOver(running)
        case .leave:
            isLeaving = true
            return handOver(running)
        }
    }

    private var isAlone: Bool { lonelyLists >= Self.listsAlone }

    private var running: [Int] { holdings.keys.filter { holdings[$0]?.work == .running }.sorted() }

    // MARK: Time

    private mutating func expire(at now: Instant) -> [Directive] {
        var directives: [Directive] = []
        for (index, holding) in holdings.sorted(by: { $0.key < $1.key }) where holding.validUntil <= now {
            switch holding.work {
            case .running:
                holdings[index]?.work = .ending
                directives.append(.stop(index: index, reason: .expired))
            case .handingOver: holdings[index]?.work = .ending
            case .acquiring, .freeing, .ending: break
            }
        }
        return directives
    }

    private mutating func renew() -> [Directive] {
        holdings.sorted { $0.key < $1.key }.compactMap { index, holding in
            guard [.running, .handingOver].contains(holding.work) else { return nil }
            return .write(index: index, owner: name, replacing: holding.revision)
        }
    }

    // MARK: Shares

    private mutating func balance(_ list: LeaseList, at now: Instant) -> [Directive] {
        // The answer to a renewal was lost if the store has this name with another revision.
        for (index, lease) in list.leases where lease.owner == name {
            if let revision = holdings[index]?.revision, revision < lease.revision {
                holdings[index]?.revision = lease.revision
            }
        }
        let members = list.members.union([name])
        lonelyLists = members.count > 1 ? 0 : lonelyLists + 1
        guard !isLeaving else { return [] }
        guard isAble else { return isAlone ? [] : handOver(self.running) }
        let share = Self.share(of: name, among: members, count: settings.count)
        let running = holdings.filter { [.running, .acquiring].contains($0.value.work) }.keys.sorted()
        if running.count > share {
            return handOver(running.suffix(running.count - share).filter { holdings[$0]?.work == .running })
        }
        // Members begin at different leases, so that they rarely request the same one.
        let rank = members.count { $0 < name }
        let first = rank * settings.count / members.count
        let order = (0..<settings.count).map { (first + $0) % settings.count }
        let free = order.filter { holdings[$0] == nil && isFree(list.leases[$0]) }
        return free.prefix(share - running.count).map { index in
            let revision = list.leases[index]?.revision
            holdings[index] = Holding(work: .acquiring, revision: revision, validUntil: now)
            return .write(index: index, owner: name, replacing: revision)
        }
    }

    private func isFree(_ lease: LeaseList.Lease?) -> Bool {
        guard let lease else { return true }
        // A lease with this name and without work remains from a write whose answer was lost.
        return lease.owner.isEmpty || lease.owner == name
    }

    private mutating func handOver(_ indexes: [Int]) -> [Directive] {
        indexes.map { index in
            holdings[index]?.work = .handingOver
            return .stop(index: index, reason: .handedOver)
        }
    }

    // MARK: Outcomes

    private mutating func recordStored(
        _ index: Int, _ revision: UInt64, _ sentAt: Instant, at now: Instant
    ) -> [Directive] {
        guard var holding = holdings[index] else { return [] }
        let validUntil = sentAt.advanced(by: settings.timeToLive - settings.margin)
        holding.revision = revision
        switch holding.work {
        case .freeing:
            holdings[index] = nil
            return []
        case .ending: return []
        case .acquiring where isLeaving || !isAble || validUntil <= now:
            // The answer came too late for work. The lease expires, or is freed by the next write.
            holdings[index] = nil
            return []
        case .acquiring:
            holdings[index] = Holding(work: .running, revision: revision, validUntil: validUntil)
            return [.start(index: index)]
        case .running, .handingOver:
            holding.validUntil = max(holding.validUntil, validUntil)
            holdings[index] = holding
            return []
        }
    }

    private mutating func recordRefusal(_ index: Int) -> [Directive] {
        switch holdings[index]?.work {
        case .acquiring, .freeing:
            holdings[index] = nil
            return []
        case .running:
            holdings[index]?.work = .ending
            return [.stop(index: index, reason: .lost)]
        case .handingOver:
            holdings[index]?.work = .ending
            return []
        case .ending, nil: return []
        }
    }

    private mutating func recordEnd(_ index: Int) -> [Directive] {
        guard let holding = holdings[index] else { return [] }
        switch holding.work {
        case .running, .handingOver:
            // The work has ended as requested, or for another reason such as fencing: another member may have the
            // lease.
            holdings[index]?.work = .freeing
            return [.write(index: index, owner: "", replacing: holding.revision)]
        case .ending:
            holdings[index] = nil
            return []
        case .acquiring, .freeing: return []
        }
    }
}
