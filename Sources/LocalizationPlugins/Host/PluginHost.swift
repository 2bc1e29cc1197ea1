import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A host that owns the plugins of a localizer, and calls them.
///
///     let host = PluginHost(localizer: localizer, sharing: broker)
///     let points = await host.add(NamedPoints(), arguments: ["lift": PluginPlacement(mapID: 1, place: .point(lift))])
///     try await host.startServices()
///     …
///     await host.stopAll()
///
/// The host keeps a plugin if its `initialize` returns true. If it returns false, the host calls `stop()` once and
/// drops the plugin; if it throws, the host drops the plugin without this call. The host calls each plugin from a task
/// of its own, with a queue for each stream, so that an error, a flood of data or a delay affects only its own plugin.
/// `initialize` and `stop` have a time limit, after which the host drops the plugin. `failures` emits all failures.
///
/// A new host starts nothing: `startServices()` starts the session and connects to the other devices, and `stop()` or
/// `stopAll()` ends both. A program can have any number of hosts. `PluginRegistry`, a value type, contains the rules of
/// the host; this actor carries them out.
public actor PluginHost {
    /// The session that delivers positions, motion and errors to the plugins.
    public nonisolated let localizer: Localizer
    /// The position sharing with other devices; nil for none.
    public nonisolated let sharing: (any PositionSharing)?

    private var registry: PluginRegistry
    private var plugins: [PluginID: any LocalizationPlugin] = [:]
    private var changes = SettingsChanges()
    private var feeds: [Task<Void, Never>] = []
    private let timeLimit: TimeLimit
    private var connection: Task<Void, any Error>?
    private var isConnected = false
    /// The task that connects again after a pause.
    private var retry: Task<Void, Never>?
    private var backoff: Backoff
    private let clock: SessionClock
    /// The number of times that the services have ended. It shows whether a result is from before the latest end.
    private var endings = 0
    /// `endings` at the latest start of the session; nil before the first one.
    private var latestStart: Int?
    /// The end of the services that is in progress; nil without one.
    private var ending: Task<Void, Never>?
    private nonisolated let failureBroadcast = Broadcast<PluginFailure>(.bufferingNewest(256))

    /// Creates a host without plugins; it starts nothing.
    ///
    /// - Parameters:
    ///   - localizer: the session.
    ///   - sharing: the position sharing with other devices; nil for none.
    ///   - queueCapacity: the number of elements of each stream that the host stores for a slow plugin, at least 1;
    ///     for plugin data, the number for each sender. Beyond it, the oldest elements are lost and counted. Nil
    ///     stores all, for a recording, which plays faster than plugins receive.
    ///   - timeLimit: the time limit of a plugin's `initialize` and `stop`, above 0; nil for none.
    ///   - clock: the clock of the time limit, and of the pauses between attempts to connect.
    ///   - seed: the seed of the random part of these pauses.
    public init(
        localizer: Localizer, sharing: (any PositionSharing)? = nil, queueCapacity: Int? = 256,
        timeLimit: Duration? = .seconds(10), clock: some Clock<Duration> = ContinuousClock(), seed: UInt64 = 0
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

    /// The failures of plugins from now on. The stream stores the newest 256. Each access returns a separate stream;
    /// subscribe before you add the first plugin.
    public nonisolated var failures: AsyncStream<PluginFailure> { failureBroadcast.subscribe() }

    // MARK: - Adding and stopping

    /// The number of plugins.
    package var count: Int { registry.identities.count }

    /// Returns the plugin's number; nil if the host doesn't have the plugin.
    public func id(of plugin: some LocalizationPlugin) -> PluginID? { registry.id(of: ObjectIdentifier(plugin)) }

    /// Initializes a plugin, and keeps it if its `initialize` returns true within the time limit.
    ///
    /// - Returns: the plugin; nil if the host did not keep it. Then `failures` emits the reason, unless the plugin
    ///   returned false.
    @discardableResult public func add<Plugin: LocalizationPlugin>(
        _ plugin: Plugin, arguments: Plugin.Arguments
    ) async -> Plugin? {
        guard let id = registry.admit(ObjectIdentifier(plugin)) else {
            fail(plugin, .adding, "the host has it already")
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

    /// Initializes a plugin without arguments, and keeps it if its `initialize` returns true.
    @discardableResult public func add<Plugin: LocalizationPlugin>(_ plugin: Plugin) async -> Plugin?
    where Plugin.Arguments == Void {
        await add(plugin, arguments: ())
    }

    /// Asks a plugin to stop, and drops it if it agrees, or doesn't answer within the time limit.
    ///
    /// A delivery in progress ends normally, and no other begins after it.
    /// - Returns: whether the host has dropped the plugin; false if the plugin refused or threw, if it is unknown or
    ///   not initialized yet, or if it is stopping already.
    @discardableResult public func stop(_ plugin: some LocalizationPlugin) async -> Bool {
        guard let id = id(of: plugin), registry.beginStopping(id) else { return false }
        var agreed = false
        do {
            agreed = try await timeLimit.run { try await plugin.stop() }
        } catch {
            fail(plugin, .stopping, error)
            // Otherwise a plugin that hangs would keep the session running forever.
            agreed = error is TimeLimit.Exceeded
        }
        registry.finishStopping(id, agreed)
        guard registry.phase(of: id) == nil else { return false }
        drop(id)
        return true
    }

    /// Stops the services: the session, and the connection to other devices.
    ///
    /// - Returns: whether the services stopped; false while the host has a plugin, and then nothing stops.
    @discardableResult public func stop() async -> Bool {
        guard registry.isEmpty else { return false }
        for feed in feeds { feed.cancel() }
        feeds = []
        connection?.cancel()
        connection = nil
        isConnected = false
        endings += 1
        endRetrying()
        await endServices()
        return true
    }

    /// Ends the session and the connection, after an end that is in progress.
    private func endServices() async {
        let (localizer, sharing, earlier) = (localizer, sharing, ending)
        ending = Task {
            await earlier?.value
            await localizer.stop()
            await sharing?.disconnect()
        }
        await waitForEnding()
    }

    /// Waits until no end of the services is in progress.
    private func waitForEnding() async {
        while let ending {
            await ending.value
            if self.ending == ending { self.ending = nil }
        }
    }

    /// Asks all plugins to stop, the one added last first, and then stops the services.
    ///
    /// - Returns: false if a plugin refused: then it and the services continue, without the other plugins.
    @discardableResult public func stopAll() async -> Bool {
        for id in registry.identities.reversed() {
            if let plugin = plugins[id] { await stop(plugin) }
        }
        return await stop()
    }

    /// Drops a plugin without asking it; a plugin may do this itself, for example in `stop()`. Has no effect on an
    /// unknown plugin.
    public func remove(_ plugin: some LocalizationPlugin) {
        if let id = id(of: plugin) { drop(id) }
    }

    private func drop(_ id: PluginID) {
        registry.remove(id)
        plugins[id] = nil
    }

    // MARK: - Streams

    /// Returns the streams that a plugin has subscribed to.
    public func streams(of plugin: some LocalizationPlugin) -> PluginStreams {
        id(of: plugin).map { registry.streams(of: $0) } ?? .nothing
    }

    /// Subscribes a plugin to streams from now on, in addition to its current ones.
    ///
    /// If the other devices are connected, a new subscriber to `networkData` receives `connected` first.
    public func subscribe(_ plugin: some LocalizationPlugin, to streams: PluginStreams) {
        guard let id = id(of: plugin) else { return }
        let isNew = !registry.streams(of: id).contains(.networkData)
        registry.subscribe(id, to: streams)
        if isConnected, isNew, registry.enqueue(.networkData(.connected), for: id) { deliver(to: id) }
    }

    /// Ends a plugin's subscription to streams; the host drops their waiting elements, too.
    public func unsubscribe(_ plugin: some LocalizationPlugin, from streams: PluginStreams) {
        if let id = id(of: plugin) { registry.unsubscribe(id, from: streams) }
    }

    /// Returns the number of elements that a plugin has lost because it was too slow; nil if the host doesn't have the
    /// plugin.
    public func droppedElements(of plugin: some LocalizationPlugin) -> Int? {
        id(of: plugin).flatMap { registry.dropped(of: $0) }
    }

    /// Delivers data to all subscribers of `pluginData`, including a subscribed sender.
    public func broadcast(_ data: PluginData) { tell(.pluginData(data)) }

    /// Delivers data to all subscribers of `pluginData`, including a subscribed sender.
    ///
    /// - Parameters:
    ///   - tag: the tag of the data.
    ///   - operation: the operation on the data, above 0.
    ///   - payload: the content.
    ///   - sender: the plugin that sends the data; nil for the program itself.
    public func broadcast(
        _ tag: String, operation: PluginData.Operation = 1, _ payload: (any Sendable)? = nil,
        from sender: (any LocalizationPlugin)? = nil
    ) {
        let number = sender.flatMap { registry.id(of: ObjectIdentifier($0)) }
        broadcast(PluginData(tag: tag, operation: operation, sender: number, payload: payload))
    }

    /// Emits on `failures` an error of a plugin's own work, outside of calls by the host.
    public func report(_ error: any Error, by plugin: some LocalizationPlugin) { fail(plugin, .working, error) }

    // MARK: - Settings

    /// Requests a setting; the best of several requests is used. It takes effect with `applySettings()`.
    ///
    /// - Throws: `SettingsProblem` if the key or the value is invalid.
    public func request(_ key: String, _ value: JSONValue) throws(SettingsProblem) {
        try changes.add(.request(key, value))
    }

    /// Overrides a setting and all requests; nil removes the override and the requests. It takes effect with
    /// `applySettings()`.
    ///
    /// - Throws: `SettingsProblem` if the key or the value is invalid.
    public func override(_ key: String, _ value: JSONValue?) throws(SettingsProblem) {
        try changes.add(.override(key, value))
    }

    /// Applies all requests and overrides since the last call, in their order.
    ///
    /// If the combination of settings is out of range, the session emits an error, and nothing changes.
    public func applySettings() async {
        let made = changes
        changes = SettingsChanges()
        await localizer.apply(made)
    }

    // MARK: - Services

    /// Starts the session if it is not running, and connects to the other devices if the host has a sharing service
    /// and no connection. `stop()` ends both.
    ///
    /// Plugins receive `connected` on `networkData`. Without a connection, the host tries again, with pauses that
    /// double from a second to a minute, until there is one or the services end.
    /// While an earlier `stop()` is in progress, the call waits for its end.
    /// - Throws: the reason why there is no connection yet; the session runs nevertheless. `CancellationError` if `stop()`
    ///   is called before this call returns, or if the task is cancelled before the session starts.
    public func startServices() async throws {
        let known = endings
        // It would end what is started now.
        await waitForEnding()
        try checkStart(since: known)
        latestStart = known
        // Also without plugins, because later ones need the state of the connection.
        beginFeeding()
        let isOver = await localizer.state.isOver
        try checkStart(since: known)
        if isOver {
            await localizer.start()
            if known != endings { await endAgain() }
        }
        // A cancelled caller has a session now, and the connection belongs to it.
        guard known == endings else { throw CancellationError() }
        if let sharing { try await connect(sharing, since: known) }
    }

    /// Ends what a start has begun, which the session or the sharing may have handled only after a later stop, unless a
    /// later start uses it.
    private func endAgain() async {
        guard latestStart != endings else { return }
        await endServices()
    }

    /// Throws if the services have been stopped since a start, or if the task is cancelled.
    private func checkStart(since known: Int) throws(CancellationError) {
        guard known == endings, !Task.isCancelled else { throw CancellationError() }
    }
}

// The connection to the other devices.
extension PluginHost {
    /// Connects, unless the services end first.
    ///
    /// - Parameter known: `endings` when the services were started.
    private func connect(_ sharing: any PositionSharing, since known: Int) async throws {
        guard known == endings else { throw CancellationError() }
        let connecting = connection ?? Task { try await sharing.connect() }
        connection = connecting
        do {
            try await connecting.value
        } catch {
            if connection == connecting { connection = nil }
            guard known == endings else { throw CancellationError() }
            retryLater(sharing)
            throw error
        }
        guard known == endings else {
            await endAgain()
            throw CancellationError()
        }
        // If the connection is older than the host, no event announces it.
        if connection == connecting { tell(.networkData(.connected)) }
    }

    private func retryLater(_ sharing: any PositionSharing) {
        guard retry == nil else { return }
        let deadline = clock.elapsed() + backoff.next()
        retry = Task { [weak self, clock, endings] in
            guard (try? await clock.sleep(until: deadline)) != nil else { return }
            await self?.connectAgain(sharing, since: endings)
        }
    }

    private func connectAgain(_ sharing: any PositionSharing, since known: Int) async {
        guard known == endings, !Task.isCancelled else { return }
        retry = nil
        // If the attempt fails, `connect` schedules the next one.
        try? await connect(sharing, since: known)
    }

    private func endRetrying() {
        retry?.cancel()
        retry = nil
        backoff.reset()
    }

    /// Records the state of the connection; returns whether it has changed.
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

// The tasks of a host: those that receive events, and those that deliver them to the plugins.
extension PluginHost {
    private func beginFeeding() {
        guard feeds.isEmpty else { return }
        feedPositions()
        feed(localizer.motion) { .motion($0) }
        feed(localizer.errors) { .error($0) }
        if let sharing { feed(sharing.events) { PluginDelivery($0) } }
    }

    private func feed<Element: Sendable>(
        _ stream: AsyncStream<Element>, _ delivery: @escaping @Sendable (Element) -> PluginDelivery
    ) {
        feeds.append(
            Task { [weak self, endings] in
                for await element in stream {
                    guard let self, !Task.isCancelled else { return }
                    await self.tell(delivery(element), since: endings)
                }
            })
    }

    /// Feeds the positions, each with its venue.
    private func feedPositions() {
        // The outputs are in the order of the session. The first state is the one before them.
        let outputs = localizer.outputs
        let present = Task { [states = localizer.states] in await states.first { _ in true }?.venue }
        feeds.append(
            Task { [weak self, endings] in
                var venue = await present.value
                for await output in outputs {
                    guard let self, !Task.isCancelled else { return }
                    switch output.content {
                    case .state(let state):
                        if let entered = state.venue { venue = entered }
                    case .position(let position):
                        let isInside = venue?.id == position.venueID
                        await self.tell(.position(position, in: isInside ? venue : nil), since: endings)
                    default: break
                    }
                }
            })
    }

    /// Tells an element that was received since an end of the services, unless they have ended again.
    private func tell(_ delivery: PluginDelivery, since known: Int) {
        if known == endings { tell(delivery) }
    }

    private func tell(_ delivery: PluginDelivery) {
        if case .networkData(let event) = delivery, !note(event) { return }
        for id in registry.enqueue(delivery) { deliver(to: id) }
    }

    /// Delivers the contents of a plugin's queues in a task of its own.
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
        case .position(let position, let venue):
            if let receiver = self as? any VenuePositionReceiver {
                try await receiver.receive(position: position, in: venue)
            } else {
                try await receive(position: position)
            }
        case .motion(let estimate): try await receive(motion: estimate)
        case .networkPosition(let position): try await receive(networkPosition: position)
        case .networkData(let event): try await receive(networkData: event)
        case .pluginData(let data): try await receive(pluginData: data)
        case .error(let error): try await receive(error: error)
        }
    }
}

// Methods for plugins and their host.
extension Localizer {
    /// Submits the place of a placement as `submit(_:)` does, and sets its heading as `setHeading(_:)` does.
    ///
    /// - Returns: the session's response; nil if the placement has no place.
    /// - Throws: `PluginPlacementError` if the place has no position on a map.
    @discardableResult public func place(at placement: PluginPlacement) async throws(PluginPlacementError)
        -> FixOutcome?
    {
        let fix = try placement.fix(in: state)
        if let heading = placement.heading { await setHeading(heading) }
        guard let fix else { return nil }
        return await submit(fix)
    }

    /// Does the same as `place(at:)`, once the session has handled the readings up to an instant of its source.
    ///
    /// - Returns: the session's response; nil if the placement has no place, or if the task was cancelled.
    func place(
        at placement: PluginPlacement, after instant: Instant
    ) async throws(PluginPlacementError) -> FixOutcome? {
        await waitForReadings(upTo: instant)
        return Task.isCancelled ? nil : try await place(at: placement)
    }

    /// Applies changes on top of the current settings.
    func apply(_ changes: SettingsChanges) async {
        var settings = settings
        changes.make(in: &settings)
        await setSettings(settings)
    }
}

/// A time limit for operations that may never end.
package struct TimeLimit: Sendable {
    /// The error of an operation that exceeds the limit.
    package struct Exceeded: Error, Hashable, CustomStringConvertible {
        /// The limit.
        package let limit: Duration

        package var description: String { "it took longer than \(limit)" }
    }

    /// The limit; nil for none.
    package let limit: Duration?
    private let clock: SessionClock

    /// Creates a limit that a clock measures.
    package init(_ limit: Duration?, clock: some Clock<Duration>) {
        self.limit = limit
        self.clock = SessionClock(clock)
    }

    /// Runs `body`, and returns at its end or at the limit; in the latter case, cancels `body` and ignores its result.
    ///
    /// - Throws: `Exceeded`, or the error of `body`.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let race = Race<Value>()
        // Not a task group: that would wait for all tasks, and a task that hangs doesn't end when it is cancelled.
        let work = Task {
            do { race.end(.success(try await body())) } catch { race.end(.failure(error)) }
        }
        let alarm = limit.map { limit in
            let deadline = clock.elapsed() + limit
            return Task { [clock] in
                guard (try? await clock.sleep(until: deadline)) != nil else { return }
                if race.end(.failure(Exceeded(limit: limit))) { work.cancel() }
            }
        }
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            try await race.outcome()
        } onCancel: {
            work.cancel()
        }
    }
}

/// A race that returns the first of several results to one waiter.
private final class Race<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var outcome: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Guarded(State())

    /// Ends the race with a result; returns whether it is the first one.
    @discardableResult func end(_ outcome: Result<Value, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard state.outcome == nil else { return (false, nil) }
            state.outcome = outcome
            return (true, state.waiter)
        }
        waiter?.resume(with: outcome)
        return isFirst
    }

    func outcome() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }
}
