import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

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

/// An element of one of the streams to plugins.
package enum PluginDelivery: Sendable {
    /// A position, and the venue that it is in, if known. Indirect, because these values are large.
    indirect case position(Position, in: Venue?)
    /// Indirect, because an estimate is large.
    indirect case motion(MotionEstimate)
    case networkPosition(SharedPosition)
    case networkData(SharingEvent)
    case pluginData(PluginData)
    case error(LocalizationError)

    /// Creates the delivery of a sharing event, for one of its two streams.
    package init(_ event: SharingEvent) {
        if case .position(let position) = event {
            self = .networkPosition(position)
        } else {
            self = .networkData(event)
        }
    }

    /// The stream of the delivery.
    package var stream: PluginStreams {
        switch self {
        case .position: .positions
        case .motion: .motion
        case .networkPosition: .networkPositions
        case .networkData: .networkData
        case .pluginData: .pluginData
        case .error: .errors
        }
    }

    /// The plugin that sent the delivery; nil if no plugin did.
    package var sender: PluginID? {
        if case .pluginData(let data) = self { data.sender } else { nil }
    }
}

/// The waiting deliveries of one plugin: a queue for each stream, and for plugin data one for each sender.
///
/// Many elements of one stream therefore displace no elements of other streams, and a plugin that sends a lot of data
/// displaces no data of other plugins. A new element in a full queue replaces the oldest one, which is counted as lost.
/// The queues deliver elements in the order of their arrival, whatever queue they are in.
package struct PluginQueues: Sendable {
    fileprivate struct Source: Hashable, Sendable {
        let stream: PluginStreams
        let sender: PluginID?
    }

    fileprivate struct Queue: Sendable {
        var elements: [(number: UInt64, delivery: PluginDelivery)] = []
        /// The index of the queue's first element; the elements before it were removed.
        var head = 0
    }

    private let capacity: Int?
    private var queues: [Source: Queue] = [:]
    private var latest: UInt64 = 0
    /// The number of elements that were lost because the plugin was too slow.
    package private(set) var dropped = 0

    /// Creates empty queues.
    ///
    /// - Parameter capacity: the maximum number of elements in a queue, at least 1; nil for no limit.
    package init(capacity: Int?) { self.capacity = capacity.map { max(1, $0) } }

    package var isEmpty: Bool { queues.isEmpty }

    /// Appends an element.
    ///
    /// - Parameter sender: the plugin that sent the element; nil if the registry doesn't have it, because the number of
    ///   unknown senders has no limit.
    package mutating func append(_ delivery: PluginDelivery, from sender: PluginID?) {
        latest += 1
        if queues[Source(stream: delivery.stream, sender: sender), default: Queue()].append(
            delivery, number: latest, capacity)
        {
            dropped += 1
        }
    }

    /// Removes and returns the oldest element; nil if there is none.
    package mutating func popOldest() -> PluginDelivery? {
        // A linear search is fast enough, because there are about as many queues as streams.
        guard let oldest = queues.min(by: { $0.value.firstNumber < $1.value.firstNumber })?.key else { return nil }
        let delivery = queues[oldest]?.popFirst()
        if queues[oldest]?.isEmpty == true { queues[oldest] = nil }
        return delivery
    }
}

extension PluginQueues.Queue {
    fileprivate var waiting: Int { elements.count - head }
    fileprivate var isEmpty: Bool { waiting == 0 }
    fileprivate var firstNumber: UInt64 { isEmpty ? .max : elements[head].number }

    /// Appends an element; returns whether another one was lost.
    fileprivate mutating func append(_ delivery: PluginDelivery, number: UInt64, _ capacity: Int?) -> Bool {
        let isFull = capacity.map { waiting >= $0 } ?? false
        if isFull { head += 1 }
        // Moves the waiting elements to the front before the queue grows: on average, each element is moved once.
        if head > 0, head >= waiting {
            elements.removeFirst(head)
            head = 0
        }
        elements.append((number, delivery))
        return isFull
    }

    fileprivate mutating func popFirst() -> PluginDelivery? {
        guard !isEmpty else { return nil }
        defer { head += 1 }
        return elements[head].delivery
    }
}

/// The changes of settings that plugins have requested, until the host applies them.
package struct SettingsChanges: Sendable {
    /// One change.
    package enum Change: Sendable {
        case request(String, JSONValue)
        case override(String, JSONValue?)
    }

    private var changes: [Change] = []

    package init() {}

    /// Adds a change if its key and value are valid.
    ///
    /// - Throws: `SettingsProblem` if they are not; then nothing changes.
    package mutating func add(_ change: Change) throws(SettingsProblem) {
        var trial = SettingsStack()
        try Self.make(change, in: &trial)
        changes.append(change)
    }

    /// Makes all changes in settings, in their order.
    package func make(in settings: inout SettingsStack) {
        for change in changes {
            // Each change was validated when it was added, and its validity doesn't depend on the others.
            try? Self.make(change, in: &settings)
        }
        settings.apply()
    }

    private static func make(_ change: Change, in settings: inout SettingsStack) throws(SettingsProblem) {
        switch change {
        case .request(let key, let value): try settings.request(key, value)
        case .override(let key, let value): try settings.override(key, value, place: "a plugin")
        }
    }
}
