/// Which plugins there are, who is told what, and what still waits to be told: all rules of a host, and none of its calls.
///
///     requested ─admit─▶ initializing ─returned true─▶ running ─stop() true─▶ gone
///     initializing ─returned false─▶ refused ─stop() called once─▶ gone        initializing ─threw─▶ gone
///     running ─stop() false or thrown─▶ running        any ─remove─▶ gone
///
/// Each plugin has a queue of its own, so that nobody waits for a slow one: what comes to a full queue takes the place of
/// the oldest element, and is counted.
package struct PluginRegistry: Sendable {
    /// How `initialize` ended.
    package enum Outcome: Sendable {
        case accepted
        case refused
        case failed
    }

    /// What a plugin's host does next.
    package enum Admission: Hashable, Sendable {
        /// The plugin stays; what has come for it meanwhile may be delivered.
        case kept
        /// `stop()` is called once, and the plugin removed, whatever that returns.
        case stopOnce
        /// The plugin is gone.
        case dropped
    }

    /// How far a plugin is.
    package enum Phase: Hashable, Sendable {
        case initializing
        case refused
        case running
        case stopping
    }

    fileprivate struct Entry: Sendable {
        let object: ObjectIdentifier
        var phase = Phase.initializing
        var streams = PluginStreams.nothing
        var queue: [PluginDelivery] = []
        /// Where the queue begins: what lies before was delivered.
        var head = 0
        var dropped = 0
        /// Whether somebody is delivering what the queue holds.
        var isBusy = false
    }

    /// How many elements wait for a plugin at most; nil for any number.
    private let capacity: Int?
    private var entries: [PluginID: Entry] = [:]
    private var identifiers: [ObjectIdentifier: PluginID] = [:]
    private var latest: UInt64 = 0

    /// Creates a registry without plugins.
    ///
    /// - Parameter capacity: how many elements wait for a plugin at most, 1 at least; nil for any number.
    package init(capacity: Int?) { self.capacity = capacity.map { max(1, $0) } }

    // MARK: - Coming and going

    /// The plugins that are there in any phase, in the order of being added.
    package var identities: [PluginID] { entries.keys.sorted() }
    package var isEmpty: Bool { entries.isEmpty }

    /// The number of a plugin; nil if it is not there.
    package func id(of object: ObjectIdentifier) -> PluginID? { identifiers[object] }

    /// How far a plugin is; nil if it is not there.
    package func phase(of id: PluginID) -> Phase? { entries[id]?.phase }

    /// A plugin is about to be initialized; nil if it is there already.
    package mutating func admit(_ object: ObjectIdentifier) -> PluginID? {
        guard identifiers[object] == nil else { return nil }
        latest += 1
        let id = PluginID(rawValue: latest)
        identifiers[object] = id
        entries[id] = Entry(object: object)
        return id
    }

    /// A plugin's `initialize` has ended. A plugin that removed itself meanwhile stays away, whatever it returned.
    package mutating func finishInitializing(_ id: PluginID, _ outcome: Outcome) -> Admission {
        switch outcome {
        case .accepted:
            guard entries[id] != nil else { return .dropped }
            entries[id]?.phase = .running
            return .kept
        case .refused:
            entries[id]?.phase = .refused
            entries[id]?.streams = .nothing
            return .stopOnce
        case .failed:
            remove(id)
            return .dropped
        }
    }

    /// Somebody wants a plugin to stop; false if it is not running, or being stopped already.
    package mutating func beginStopping(_ id: PluginID) -> Bool {
        guard entries[id]?.phase == .running else { return false }
        entries[id]?.phase = .stopping
        return true
    }

    /// A plugin's `stop` has ended: with true it is gone, otherwise it goes on.
    package mutating func finishStopping(_ id: PluginID, _ agreed: Bool) {
        if agreed { remove(id) } else { entries[id]?.phase = .running }
    }

    /// Drops a plugin with all that waits for it; without it, nothing happens.
    package mutating func remove(_ id: PluginID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        identifiers[entry.object] = nil
    }

    // MARK: - Streams

    /// What a plugin has subscribed to; nothing if it is not there.
    package func streams(of id: PluginID) -> PluginStreams { entries[id]?.streams ?? .nothing }

    /// Adds streams to those of a plugin; ones that there are not are left out.
    package mutating func subscribe(_ id: PluginID, to streams: PluginStreams) {
        guard entries[id]?.phase != .refused else { return }
        entries[id]?.streams.formUnion(streams.intersection(.all))
    }

    /// Takes streams from those of a plugin. What waits of them is not delivered either, unless it is subscribed to
    /// again before its turn.
    package mutating func unsubscribe(_ id: PluginID, from streams: PluginStreams) {
        entries[id]?.streams.subtract(streams)
    }

    // MARK: - Deliveries

    /// How many elements a plugin has lost because it took them too slowly; nil if it is not there.
    package func dropped(of id: PluginID) -> Int? { entries[id]?.dropped }

    /// Puts an element into the queues of all that have subscribed to its stream.
    ///
    /// - Returns: the plugins to which somebody must begin to deliver, by `next(for:)` until it gives nil; in order.
    package mutating func enqueue(_ delivery: PluginDelivery) -> [PluginID] {
        identities.filter { id in
            guard entries[id]?.streams.contains(delivery.stream) == true else { return false }
            entries[id]?.append(delivery, capacity)
            return wake(id)
        }
    }

    /// Whether somebody must begin to deliver to a plugin: something waits for it, it is ready, and nobody does.
    package mutating func wake(_ id: PluginID) -> Bool {
        guard let entry = entries[id], entry.isReady, !entry.isBusy, entry.waiting > 0 else { return false }
        entries[id]?.isBusy = true
        return true
    }

    /// The next element for a plugin; nil if there is none, and then nobody delivers to it until it is woken.
    package mutating func next(for id: PluginID) -> PluginDelivery? {
        while entries[id]?.isReady == true, let delivery = entries[id]?.take() {
            if entries[id]?.streams.contains(delivery.stream) == true { return delivery }
        }
        entries[id]?.isBusy = false
        return nil
    }
}

extension PluginRegistry.Entry {
    fileprivate var isReady: Bool { phase == .running || phase == .stopping }
    fileprivate var waiting: Int { queue.count - head }

    fileprivate mutating func append(_ delivery: PluginDelivery, _ capacity: Int?) {
        if let capacity, waiting >= capacity {
            head += 1
            dropped += 1
        }
        // Moves what waits to the front before the queue grows: each element is moved once on average.
        if head > 0, head >= waiting {
            queue.removeFirst(head)
            head = 0
        }
        queue.append(delivery)
    }

    fileprivate mutating func take() -> PluginDelivery? {
        guard head < queue.count else {
            queue.removeAll(keepingCapacity: true)
            head = 0
            return nil
        }
        defer { head += 1 }
        return queue[head]
    }
}
