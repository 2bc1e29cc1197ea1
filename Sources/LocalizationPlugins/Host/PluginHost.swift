import IndoorVocabulary
import LocalizationSession

/// Holds plugins beside a localizer, and calls them.
///
///     let host = PluginHost(localizer: localizer, sharing: broker)
///     let points = await host.add(NamedPoints(), arguments: ["lift": PluginPlacement(mapID: 1, place: .point(lift))])
///     try await host.startServices()
///     …
///     await host.stopAll()
///
/// A plugin is kept if its `initialize` returns true. If that returns false, its `stop()` is called once and it is
/// dropped; if it throws, it is dropped as it is. Each plugin is called from a task of its own, out of queues of its own,
/// one for each stream: one that throws, talks too much or takes its time harms nobody but itself. `initialize` and `stop`
/// have a time limit, after which the plugin is dropped. What went wrong comes on `failures`.
///
/// Nothing runs because a host is there: `startServices()` starts the session and connects to the other devices, and
/// `stop()` or `stopAll()` ends both. Any number of hosts can stand beside each other. The rules are those of
/// `PluginRegistry`, a value; this is its shell.
public actor PluginHost {
    /// The session whose positions and errors plugins are told of, for all else that a plugin wants from it.
    public nonisolated let localizer: Localizer
    /// What reaches the other devices; nil for none.
    public nonisolated let sharing: (any PositionSharing)?

    private var registry: PluginRegistry
    private var plugins: [PluginID: any LocalizationPlugin] = [:]
    private var changes = SettingsChanges()
    private var feeds: [Task<Void, Never>] = []
    private let timeLimit: TimeLimit
    private var connection: Task<Void, any Error>?
    private var isConnected = false
    /// Connects once more after a pause.
    private var retry: Task<Void, Never>?
    private var backoff: Backoff
    private let clock: SessionClock
    /// How often the services were ended: what belongs to earlier ones does not count any more.
    private var endings = 0
    private nonisolated let failureBroadcast = Broadcast<PluginFailure>(.bufferingNewest(256))

    /// How many elements of a stream wait for a plugin if nothing else is asked for.
    public static let defaultQueueCapacity = 256
    /// How long a plugin may take to begin or to end if nothing else is asked for.
    public static let defaultTimeLimit = Duration.seconds(10)

    /// Creates a host without plugins; nothing is started.
    ///
    /// - Parameters:
    ///   - localizer: the session.
    ///   - sharing: reaches other devices; nil for none.
    ///   - queueCapacity: how many elements of each stream wait for a plugin that is slow, 1 at least, and as many of
    ///     each sender of plugin data; beyond, the oldest are lost and counted. nil keeps them all: for a recording,
    ///     which plays faster than anybody listens.
    ///   - timeLimit: how long `initialize` and `stop` of a plugin may take, above 0; nil for any time.
    ///   - clock: measures the time limit, and the pauses between attempts to connect.
    ///   - seed: of what is random in those pauses.
    public init(
        localizer: Localizer, sharing: (any PositionSharing)? = nil, queueCapacity: Int? = defaultQueueCapacity,
        timeLimit: Duration? = defaultTimeLimit, clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = 0
    ) {
        self.localizer = localizer
        self.sharing = sharing
        self.timeLimit = TimeLimit(timeLimit, clock: clock)
        self.clock = SessionClock(clock)
        backoff = Backoff(first: .seconds(1), seed: seed)
        registry = PluginRegistry(capacity: queueCapacity)
    }

    deinit {
        for feed in feeds { feed.cancel() }
        connection?.cancel()
        retry?.cancel()
    }

    /// What went wrong with plugins, from now on; the newest 256 are kept. Each call gives a stream of its own: take one
    /// before you add the first plugin.
    public nonisolated var failures: AsyncStream<PluginFailure> { failureBroadcast.subscribe() }

    // MARK: - Adding and stopping

    /// How many plugins there are.
    public var count: Int { registry.identities.count }

    /// The plugin's number; nil if it is not here.
    public func id(of plugin: some LocalizationPlugin) -> PluginID? { registry.id(of: ObjectIdentifier(plugin)) }

    /// Initializes a plugin and keeps it if it can work, and says so within the time limit.
    ///
    /// - Returns: the plugin; nil if it was not kept: then `failures` tells why, unless it just refused.
    @discardableResult public func add<Plugin: LocalizationPlugin>(
        _ plugin: Plugin, arguments: Plugin.Arguments
    ) async -> Plugin? {
        guard let id = registry.admit(ObjectIdentifier(plugin)) else {
            fail(plugin, .adding, "it is here already")
            return nil
        }
        plugins[id] = plugin
        beginFeeding()
        let outcome: PluginRegistry.Outcome
        do {
            let accepts = try await timeLimit.run { try await plugin.initialize(host: self, arguments: arguments) }
            outcome = accepts ? .accepted : .refused
        } catch {
            fail(plugin, .initializing, error)
            outcome = .failed
        }
        switch registry.finishInitializing(id, outcome) {
        case .kept:
            if registry.wake(id) { deliver(to: id) }
            return plugin
        case .stopOnce:
            do { _ = try await timeLimit.run { try await plugin.stop() } } catch { fail(plugin, .stopping, error) }
        case .dropped:
            break
        }
        drop(id)
        return nil
    }

    /// Initializes a plugin that takes no arguments, and keeps it if it can work.
    @discardableResult public func add<Plugin: LocalizationPlugin>(_ plugin: Plugin) async -> Plugin?
    where Plugin.Arguments == Void {
        await add(plugin, arguments: ())
    }

    /// Asks a plugin to stop, and drops it if it agrees, or does not answer within the time limit.
    ///
    /// A call that the plugin is in at the time comes to its end; after this, no other begins.
    /// - Returns: whether it is gone now: false if it refused or threw, if it is not here or not initialized yet, and if it
    ///   is being stopped already.
    @discardableResult public func stop(_ plugin: some LocalizationPlugin) async -> Bool {
        guard let id = id(of: plugin), registry.beginStopping(id) else { return false }
        var agreed = false
        do {
            agreed = try await timeLimit.run { try await plugin.stop() }
        } catch {
            fail(plugin, .stopping, error)
            // Else one that hangs would keep the session going for ever.
            agreed = error is TimeLimit.Exceeded
        }
        registry.finishStopping(id, agreed)
        guard registry.phase(of: id) == nil else { return false }
        drop(id)
        return true
    }

    /// Ends what `startServices()` began: the session is stopped, and other devices are left.
    ///
    /// - Returns: false, and nothing ends, while any plugin is here.
    @discardableResult public func stop() async -> Bool {
        guard registry.isEmpty else { return false }
        for feed in feeds { feed.cancel() }
        feeds = []
        connection?.cancel()
        connection = nil
        isConnected = false
        endings += 1
        endRetrying()
        await localizer.stop()
        await sharing?.disconnect()
        return true
    }

    /// Asks each plugin to stop, the one added last first, and then ends the services.
    ///
    /// - Returns: false if a plugin refused: it stays with the services; the others are gone.
    @discardableResult public func stopAll() async -> Bool {
        for id in registry.identities.reversed() {
            if let plugin = plugins[id] { await stop(plugin) }
        }
        return await stop()
    }

    /// Drops a plugin without asking it: what a plugin may do by itself, in `stop()` for example. Without it, nothing
    /// happens.
    public func remove(_ plugin: some LocalizationPlugin) {
        if let id = id(of: plugin) { drop(id) }
    }

    private func drop(_ id: PluginID) {
        registry.remove(id)
        plugins[id] = nil
    }

    // MARK: - Streams

    /// What a plugin has subscribed to.
    public func streams(of plugin: some LocalizationPlugin) -> PluginStreams {
        id(of: plugin).map { registry.streams(of: $0) } ?? .nothing
    }

    /// Tells a plugin of more streams, from now on; those that it has stay.
    ///
    /// If the other devices are connected to, who comes to `networkData` is told `connected` first.
    public func subscribe(_ plugin: some LocalizationPlugin, to streams: PluginStreams) {
        guard let id = id(of: plugin) else { return }
        let isNew = !registry.streams(of: id).contains(.networkData)
        registry.subscribe(id, to: streams)
        if isConnected, isNew, registry.enqueue(.networkData(.connected), for: id) { deliver(to: id) }
    }

    /// Tells a plugin of some streams no more; also what waits for it of them is not told.
    public func unsubscribe(_ plugin: some LocalizationPlugin, from streams: PluginStreams) {
        if let id = id(of: plugin) { registry.unsubscribe(id, from: streams) }
    }

    /// How many elements a plugin has lost because it took them too slowly; nil if it is not here.
    public func droppedElements(of plugin: some LocalizationPlugin) -> Int? {
        id(of: plugin).flatMap { registry.dropped(of: $0) }
    }

    /// Tells all that have subscribed to `pluginData`, the sender among them if it has.
    public func broadcast(_ data: PluginData) { tell(.pluginData(data)) }

    /// Tells all that have subscribed to `pluginData`, the sender among them if it has.
    ///
    /// - Parameters:
    ///   - tag: whose data it is.
    ///   - operation: what is to be done with it, above 0.
    ///   - payload: what is told.
    ///   - sender: the plugin that tells it; nil if it is the program itself.
    public func broadcast(
        _ tag: String, operation: PluginData.Operation = 1, _ payload: (any Sendable)? = nil,
        from sender: (any LocalizationPlugin)? = nil
    ) {
        let number = sender.flatMap { registry.id(of: ObjectIdentifier($0)) }
        broadcast(PluginData(tag: tag, operation: operation, sender: number, payload: payload))
    }

    /// Tells on `failures` what went wrong in a plugin's own work, outside of what the host has called.
    public func report(_ error: any Error, by plugin: some LocalizationPlugin) { fail(plugin, .working, error) }

    // MARK: - Settings

    /// Asks for a setting; of several requests the best counts. Of no effect before `applySettings()`.
    ///
    /// - Throws: `SettingsProblem` if the key or the value is wrong.
    public func request(_ key: String, _ value: JSONValue) throws(SettingsProblem) {
        try changes.add(.request(key, value))
    }

    /// Sets a setting, whatever was requested; nil takes back what was set and requested. Of no effect before
    /// `applySettings()`.
    ///
    /// - Throws: `SettingsProblem` if the key or the value is wrong.
    public func override(_ key: String, _ value: JSONValue?) throws(SettingsProblem) {
        try changes.add(.override(key, value))
    }

    /// Makes all that was requested and overridden since the last time take effect, in that order.
    ///
    /// With settings out of range beside each other, the session tells an error, and nothing is changed.
    public func applySettings() async {
        let made = changes
        changes = SettingsChanges()
        await localizer.apply(made)
    }

    // MARK: - Services

    /// Starts the session if none is on, and connects to the other devices if there is a way and no connection. `stop()`
    /// ends both.
    ///
    /// Plugins are told `connected` on `networkData`. Without a connection, the host goes on trying by itself, with pauses
    /// that double from a second to a minute, until there is one or the services are ended.
    /// - Throws: why there is no connection yet; the session is on nevertheless.
    public func startServices() async throws {
        // Also without plugins: those who come later are told of the connection.
        beginFeeding()
        if await localizer.state.isOver { await localizer.start() }
        if let sharing { try await connect(sharing) }
    }
}

// The connection to the other devices.
extension PluginHost {
    private func connect(_ sharing: any PositionSharing) async throws {
        let ending = endings
        let connecting = connection ?? Task { try await sharing.connect() }
        connection = connecting
        do {
            try await connecting.value
        } catch {
            if connection == connecting { connection = nil }
            if ending == endings { retryLater(sharing) }
            throw error
        }
        // The connection may have been there before the host, and nobody would tell.
        if connection == connecting { tell(.networkData(.connected)) }
    }

    private func retryLater(_ sharing: any PositionSharing) {
        guard retry == nil else { return }
        let deadline = clock.elapsed() + backoff.next()
        retry = Task { [weak self, clock] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            await self?.connectAgain(sharing)
        }
    }

    private func connectAgain(_ sharing: any PositionSharing) async {
        guard !Task.isCancelled else { return }
        retry = nil
        // What failed is tried again.
        try? await connect(sharing)
    }

    private func endRetrying() {
        retry?.cancel()
        retry = nil
        backoff.reset()
    }

    /// Notes what has become of the connection; returns whether that is new.
    private func note(_ event: SharingEvent) -> Bool {
        switch event {
        case .connected:
            defer { isConnected = true }
            endRetrying()
            return !isConnected
        case .disconnected:
            isConnected = false
            connection = nil
            return true
        case .joined, .left, .position, .message, .occupancy, .roomFull, .serverFull, .failed: return true
        }
    }
}

// The tasks of a host: those that hear what happens, and those that tell it to the plugins.
extension PluginHost {
    private func beginFeeding() {
        guard feeds.isEmpty else { return }
        feed(localizer.positions) { .position($0) }
        feed(localizer.motion) { .motion($0) }
        feed(localizer.errors) { .error($0) }
        if let sharing { feed(sharing.events) { PluginDelivery($0) } }
    }

    private func feed<Element: Sendable>(
        _ stream: AsyncStream<Element>, _ delivery: @escaping @Sendable (Element) -> PluginDelivery
    ) {
        feeds.append(
            Task { [weak self] in
                for await element in stream {
                    guard let self, !Task.isCancelled else { return }
                    await self.tell(delivery(element))
                }
            })
    }

    private func tell(_ delivery: PluginDelivery) {
        if case .networkData(let event) = delivery, !note(event) { return }
        for id in registry.enqueue(delivery) { deliver(to: id) }
    }

    /// Empties a plugin's queues in a task of its own.
    private func deliver(to id: PluginID) {
        guard let plugin = plugins[id] else { return }
        Task { [weak self] in
            while let delivery = await self?.next(for: id) {
                do {
                    try await plugin.receive(delivery)
                } catch {
                    await self?.fail(plugin, .receiving(delivery.stream), error)
                }
            }
        }
    }

    private func next(for id: PluginID) -> PluginDelivery? { registry.next(for: id) }

    private func fail(_ plugin: some LocalizationPlugin, _ occasion: PluginFailure.Occasion, _ cause: Any) {
        failureBroadcast.send(
            PluginFailure(
                plugin: id(of: plugin), name: "\(type(of: plugin))", occasion: occasion, cause: "\(cause)"))
    }
}

extension LocalizationPlugin {
    fileprivate func receive(_ delivery: PluginDelivery) async throws {
        switch delivery {
        case .position(let position): try await receive(position: position)
        case .motion(let estimate): try await receive(motion: estimate)
        case .networkPosition(let position): try await receive(networkPosition: position)
        case .networkData(let event): try await receive(networkData: event)
        case .pluginData(let data): try await receive(pluginData: data)
        case .error(let error): try await receive(error: error)
        }
    }
}
