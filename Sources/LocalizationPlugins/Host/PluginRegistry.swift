/// The plugins of a host, with their subscriptions and waiting deliveries. It contains all rules, and makes no calls.
///
///     requested ─admit─▶ initializing ─returned true─▶ running ─stop() true─▶ gone
///     initializing ─returned false─▶ refused ─stop() called once─▶ gone        initializing ─threw─▶ gone
///     running ─stop() false or thrown─▶ running        any ─remove─▶ gone
///
/// Each plugin has its own queues, so that no plugin waits for a slow one; see `PluginQueues`.
package struct PluginRegistry: Sendable {
    /// The result of `initialize`.
    package enum Outcome: Sendable {
        case accepted
        case refused
        case failed
    }

    /// The next step of a plugin's host after `initialize`.
    package enum Admission: Hashable, Sendable {
        /// The host keeps the plugin, and may deliver the elements that have arrived meanwhile.
        case kept
        /// The host calls `stop()` once, and removes the plugin regardless of the result.
        case stopOnce
        /// The plugin is removed.
        case dropped
    }

    /// The phase of a plugin.
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
        /// Whether a task delivers the elements of the queues.
        var isBusy = false
    }

    /// The maximum number of elements of a stream that wait for a plugin; nil for no limit.
    private let capacity: Int?
    private var entries: [PluginID: Entry] = [:]
    private var identifiers: [ObjectIdentifier: PluginID] = [:]
    private var latest: UInt64 = 0

    /// Creates a registry without plugins.
    ///
    /// - Parameter capacity: the maximum number of elements of a stream that wait for a plugin, at least 1; nil for no
    ///   limit.
    package init(capacity: Int?) { self.capacity = capacity.map { max(1, $0) } }

    // MARK: - Adding and removing

    /// The plugins in any phase, in the order of addition.
    package var identities: [PluginID] { entries.keys.sorted() }
    package var isEmpty: Bool { entries.isEmpty }

    /// Returns the number of a plugin; nil if it is unknown.
    package func id(of object: ObjectIdentifier) -> PluginID? { identifiers[object] }

    /// Returns the phase of a plugin; nil if it is unknown.
    package func phase(of id: PluginID) -> Phase? { entries[id]?.phase }

    /// Adds a plugin before its initialization; returns nil if it is known already.
    package mutating func admit(_ object: ObjectIdentifier) -> PluginID? {
        guard identifiers[object] == nil else { return nil }
        latest += 1
        let id = PluginID(rawValue: latest)
        identifiers[object] = id
        entries[id] = Entry(object: object, queues: PluginQueues(capacity: capacity))
        return id
    }

    /// Handles the result of a plugin's `initialize`. A plugin that removed itself in the meantime stays removed,
    /// regardless of the result.
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

    /// Begins to stop a plugin; returns false if it is not running, or is stopping already.
    package mutating func beginStopping(_ id: PluginID) -> Bool {
        guard entries[id]?.phase == .running else { return false }
        entries[id]?.phase = .stopping
        return true
    }

    /// Handles the result of a plugin's `stop`: true removes the plugin, with false it continues.
    package mutating func finishStopping(_ id: PluginID, _ agreed: Bool) {
        if agreed { remove(id) } else { entries[id]?.phase = .running }
    }

    /// Removes a plugin with its waiting elements; has no effect on an unknown plugin.
    package mutating func remove(_ id: PluginID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        identifiers[entry.object] = nil
    }

    // MARK: - Streams

    /// Returns the streams that a plugin has subscribed to; none if it is unknown.
    package func streams(of id: PluginID) -> PluginStreams { entries[id]?.streams ?? .nothing }

    /// Adds streams to those of a plugin; ignores undefined ones.
    package mutating func subscribe(_ id: PluginID, to streams: PluginStreams) {
        guard entries[id]?.phase != .refused else { return }
        entries[id]?.streams.formUnion(streams.intersection(.every))
    }

    /// Removes streams from those of a plugin. Their waiting elements are not delivered either, unless the plugin
    /// subscribes again before their turn.
    package mutating func unsubscribe(_ id: PluginID, from streams: PluginStreams) {
        entries[id]?.streams.subtract(streams)
    }

    // MARK: - Deliveries

    /// Returns the number of elements that a plugin has lost because it was too slow; nil if it is unknown.
    package func dropped(of id: PluginID) -> Int? { entries[id]?.queues.dropped }

    /// Appends an element to the queues of all plugins that have subscribed to its stream.
    ///
    /// - Returns: the plugins, in order, for which the caller must start deliveries, with `next(for:)` until it
    ///   returns nil.
    package mutating func enqueue(_ delivery: PluginDelivery) -> [PluginID] {
        identities.filter { enqueue(delivery, for: $0) }
    }

    /// Appends an element to the queue of one plugin, if that has subscribed to its stream.
    ///
    /// - Returns: whether the caller must start deliveries to the plugin.
    package mutating func enqueue(_ delivery: PluginDelivery, for id: PluginID) -> Bool {
        guard entries[id]?.streams.contains(delivery.stream) == true else { return false }
        let sender = delivery.sender.flatMap { entries[$0] == nil ? nil : $0 }
        entries[id]?.queues.append(delivery, from: sender)
        return wake(id)
    }

    /// Returns whether the caller must start deliveries to a plugin: an element waits, the plugin is ready, and no
    /// task delivers.
    package mutating func wake(_ id: PluginID) -> Bool {
        guard let entry = entries[id], entry.isReady, !entry.isBusy, !entry.queues.isEmpty else { return false }
        entries[id]?.isBusy = true
        return true
    }

    /// Returns the next element for a plugin; nil if there is none, and then deliveries end until the next start.
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
