import IndoorLocalization
import MQTTSharing
import NATSLog
import TagHistory
import TagTracking
import indoorloc

/// The service of the command `store`: reports the state of its parts, until a signal, a time limit or an error ends it.
struct StoreRun {
    /// An event of a part of the service.
    enum Event: Sendable {
        case store(HistoryStore.Event)
        /// The source has a connection to this host.
        case connected(to: String)
        /// The source's connection failed or broke. It tries again.
        case disconnected(any Error)
        /// A message under a topic isn't an output.
        case invalid(topic: String, FleetOutputError)
        /// The source failed with an error that a retry can't resolve.
        case failed(any Error)
    }

    /// The time between two lines with counts.
    private static let reportInterval = Duration.seconds(60)
    /// The time to write the waiting outputs at the end.
    private static let closingTime = Duration.seconds(10)

    private let store: HistoryStore
    private let manager = ServiceManager()
    private var isReady = false
    private var invalid = 0
    private var reported = HistoryStore.Counts()
    private var status = ""
    private var nextReport = ContinuousClock.now + reportInterval
    private var failure: (any Error)?

    init(_ store: HistoryStore) { self.store = store }

    /// Runs the service.
    ///
    /// - Parameter receive: receives outputs, adds them to the store, and ends when its task is cancelled.
    /// - Throws: the error that ended the store.
    mutating func run(
        limit: Duration?, _ receive: @escaping @Sendable (_ give: @escaping @Sendable (Event) -> Void) async -> Void
    ) async throws {
        let tick = min(.milliseconds(500), manager.watchdogInterval.map { $0 / 4 } ?? .seconds(1))
        let work = LiveWork<Event>(tick: tick, limit: limit) { [store] give in
            await withTaskGroup { group in
                group.addTask { for await event in store.events { give(.store(event)) } }
                group.addTask { await receive(give) }
            }
        }
        loop: for await occurrence in work.occurrences {
            switch occurrence {
            case .element(let event): handle(event)
            case .tick: pulse()
            case .interrupted, .limitReached, .ended: break loop
            }
            if failure != nil { break }
        }
        manager.notify(.stopping)
        await work.stop()
        await store.stop(within: Self.closingTime)
        report()
        if let failure { throw failure }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .store(let event):
            event.log()
            switch event {
            case .connected, .disconnected: becomeReady()
            case .refused: break
            case .ended(let error): failure = error
            }
        case .connected(let place): StandardError.line("connected to \(place)", .info)
        case .disconnected(let error): StandardError.line("\(error); trying again", .warning)
        case .failed(let error): failure = error
        case .invalid(let topic, let error):
            invalid += 1
            // One line for many messages of the same origin.
            if invalid == 1 { StandardError.line("\(topic): \(error)", .warning) }
        }
    }

    /// Reports to the service manager that the service works, with or without a database: it waits for one.
    private mutating func becomeReady() {
        guard !isReady else { return }
        isReady = true
        manager.notify(.ready)
    }

    private mutating func pulse() {
        manager.notify(.watchdog)
        let text = store.counts.text(invalid: invalid)
        if text != status { manager.notify(.status(text)) }
        status = text
        guard ContinuousClock.now >= nextReport else { return }
        nextReport = .now + Self.reportInterval
        report()
    }

    /// Writes the counts, if they have changed.
    private mutating func report() {
        let counts = store.counts
        guard counts != reported else { return }
        let isLosing = counts.lost > reported.lost
        reported = counts
        StandardError.line(counts.text(invalid: invalid), isLosing ? .warning : .info)
    }
}

/// A source of the outputs of a fleet.
protocol OutputSource: Sendable {
    /// Receives outputs and adds them to a store, until the task is cancelled. Connects again after a failure.
    ///
    /// - Parameter report: receives the changes of the connection.
    func run(into store: HistoryStore, _ report: @escaping @Sendable (StoreRun.Event) -> Void) async
}

/// The subscription to the outputs of a fleet on a broker. It reconnects with growing pauses.
///
/// The broker keeps the latest position and presence of each tag, which a new connection receives first. Positions and
/// events between two connections aren't repeated.
struct OutputSubscription: OutputSource {
    /// The largest packet, in bytes: many times that of an output.
    private static let largestPacket = 1 << 16

    private let broker: MQTTBroker
    private let link: ReconnectingLink

    /// Creates a subscription.
    ///
    /// - Parameter prefix: the prefix of the fleet's topics.
    init(_ broker: MQTTBroker, prefix: String) {
        self.broker = broker
        var link = ReconnectingLink(broker, clientIDPrefix: "store", largestPacket: Self.largestPacket)
        let filters = ["position", "presence", "events"].map { "\(prefix)/tags/+/\($0)" }
        link.subscription = .init(filters, .atLeastOnce, needsAllFilters: true)
        self.link = link
    }

    func run(into store: HistoryStore, _ report: @escaping @Sendable (StoreRun.Event) -> Void) async {
        await link.run { event in
            switch event {
            case .connected: report(.connected(to: broker.host))
            case .disconnected(let error, _): report(.disconnected(error))
            case .link(.received(let message)): receive(message, report) { store.add([$0]) }
            case .opening, .link: break
            }
        }
    }

    private func receive(
        _ message: MQTTMessage, _ report: (StoreRun.Event) -> Void, _ give: (FleetOutput) -> Void
    ) {
        // A retained message without content removes the message of a tag.
        guard !message.payload.isEmpty else { return }
        do throws(FleetOutputError) {
            give(try FleetOutput(json: message.payload))
        } catch {
            report(.invalid(topic: message.topic, error))
        }
    }
}

/// The outputs that the workers of a fleet publish on a NATS server.
///
/// The source acknowledges outputs after the database has committed them. The server redelivers the others, even to a
/// later process.
struct NATSOutputSource: OutputSource {
    /// The largest number of outputs of a batch. It is smaller than the queue of a store, so that no output is lost.
    private static let batchSize = 1_000
    /// The time to wait for an output before checking whether the task is cancelled.
    private static let patience = Duration.milliseconds(500)
    /// The pause after a failure.
    private static let pause = Duration.milliseconds(500)

    let servers: NATSServerOptions

    func run(into store: HistoryStore, _ report: @escaping @Sendable (StoreRun.Event) -> Void) async {
        do {
            try await servers.withConnection(name: "indoorloc-fleet store", isPatient: true) { connection in
                let reader = NATSOutputReader(connection, consumer: FleetNames.databaseConsumer)
                defer { reader.close() }
                try await follow(reader, store, report)
            }
        } catch {
            if !Task.isCancelled { report(.failed(error)) }
        }
    }

    private func follow(
        _ reader: NATSOutputReader, _ store: HistoryStore, _ report: (StoreRun.Event) -> Void
    ) async throws {
        var isConnected = false
        while !Task.isCancelled {
            do throws(FleetStoreError) {
                let batch = try await reader.next(atMost: Self.batchSize, within: Self.patience)
                if !isConnected { report(.connected(to: "NATS")) }
                isConnected = true
                guard !batch.payloads.isEmpty else { continue }
                store.add(outputs(of: batch, report))
                if await store.waitUntilStored() { await reader.acknowledge(batch) }
            } catch {
                guard error.isTransient else { throw error }
                if isConnected { report(.disconnected(error)) }
                isConnected = false
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Returns the valid outputs of a batch. The invalid ones are dropped, because a retry can't make them valid.
    private func outputs(of batch: NATSOutputReader.Batch, _ report: (StoreRun.Event) -> Void) -> [FleetOutput] {
        batch.payloads.compactMap { payload in
            do throws(FleetOutputError) { return try FleetOutput(json: payload) } catch {
                report(.invalid(topic: FleetNames.outputStream, error))
                return nil
            }
        }
    }
}
