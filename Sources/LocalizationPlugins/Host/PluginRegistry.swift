/// Which plugins there are, who is told what, and what still waits to be told: all rules of a host, and none of its calls.
///
///     requested ─admit─▶ initializing ─returned true─▶ running ─stop() true─▶ gone
///     initializing ─returned false─▶ refused ─stop() called once─▶ gone        initializing ─threw─▶ gone
///     running ─stop() false or thrown─▶ running        any ─remove─▶ gone
///
/// Each plugin has queues of its own, so that nobody waits for a slow one: see `PluginQueues`.
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
        var queues: PluginQueues
        /// Whether somebody is delivering what the queues hold.
        var isBusy = false
    }

    /// How many elements of a stream wait for a plugin at most; nil for any number.
    private let capacity: Int?
    private var entries: [PluginID: Entry] = [:]
    private var identifiers: [ObjectIdentifier: PluginID] = [:]
    private var latest: UInt64 = 0

    /// Creates a registry without plugins.
    ///
    /// - Parameter capacity: how many elements of a stream wait for a plugin at most, 1 at least; nil for any number.
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
        entries[id] = Entry(object: object, queues: PluginQueues(capacity: capacity))
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
        entries[id]?.streams.formUnion(streams.intersection(.every))
    }

    /// Takes streams from those of a plugin. What waits of them is not delivered either, unless it is subscribed to
    /// again before its turn.
    package mutating func unsubscribe(_ id: PluginID, from streams: PluginStreams) {
        entries[id]?.streams.subtract(streams)
    }

    // MARK: - Deliveries

    /// How many elements a plugin has lost because it took them too slowly; nil if it is not there.
    package func dropped(of id: PluginID) -> Int? { entries[id]?.queues.dropped }

    /// Puts an element into the queues of all that have subscribed to its stream.
    ///
    /// - Returns: the plugins to which somebody must begin to deliver, by `next(for:)` until it gives nil; in order.
    package mutating func enqueue(_ delivery: PluginDelivery) -> [PluginID] {
        identities.filter { enqueue(delivery, for: $0) }
    }

    /// Puts an element into the queue of one plugin, if that has subscribed to its stream.
    ///
    /// - Returns: whether somebody must begin to deliver to it.
    package mutating func enqueue(_ delivery: PluginDelivery, for id: PluginID) -> Bool {
        guard entries[id]?.streams.contains(delivery.stream) == true else { return false }
        let sender = delivery.sender.flatMap { entries[$0] == nil ? nil : $0 }
        entries[id]?.queues.append(delivery, from: sender)
        return wake(id)
    }

    /// Whether somebody must begin to deliver to a plugin: something waits for it, it is ready, and nobody does.
    package mutating func wake(_ id: PluginID) -> Bool {
        guard let entry = entries[id], entry.isReady, !entry.isBusy, !entry.queues.isEmpty else { return false }
        entries[id]?.isBusy = true
        return true
    }

    /// The next element for a plugin; nil if there is none, and then nobody delivers to it until it is woken.
    package mutating func next(for id: PluginID) -> PluginDelivery? {
        while entries[id]?.isReady == true, let delivery = entries[id]?.queues.popOldest() {
            if entries[id]?.streams.contains(delivery.stream) == true { return delivery }
        }
        entries[id]?.isBusy = false
        return nil
    }
}

extension PluginRegistry.Entry {
    fileprivate var isReady: Bool { phase == .running || phase == .stopping }
}
