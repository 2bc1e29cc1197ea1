import IndoorVocabulary
import LocalizationSession
import MQTTSharing
import VenuePackets

/// An uploader that sends records to your server. It stores each record on disk first, and sends it when possible.
///
///     let queue = try UploadQueue(path: "uploads.db", limit: settings.queueSize)
///     let uploader = RecordUploader(queue, to: .web(server), device: "forklift-7", settings: settings)
///     try await uploader.start()
///     for await beacon in scanner.beacons {
///         try await uploader.add([UploadRecord(.beacon(beacon, count: 1))])
///     }
///
/// Each record arrives at least once. If the confirmation of a batch is lost, the uploader sends the batch again with
/// the same identifier, so that the server can discard the duplicate.
public actor RecordUploader {
    private let queue: UploadQueue
    private let transport: any UploadTransport
    private let device: String
    package var upload: UploadRuntime
    /// The last batch that was sent.
    private var batch: UploadBatch?
    /// Whether it was too large for the server.
    private var isTooLarge = false
    private nonisolated let errorBroadcast = Broadcast<UploadError>(.bufferingNewest(64))
    private nonisolated let batchBroadcast = Broadcast<UploadBatch>(.bufferingNewest(64))

    /// The number of batches confirmed since this uploader was created.
    package private(set) var confirmedBatches = 0
    /// The number of failed attempts to send a batch since this uploader was created.
    package private(set) var failures = 0

    /// Creates an uploader that is not started.
    ///
    /// - Parameters:
    ///   - device: the name of this device; the server receives it with each batch.
    ///   - settings: the settings; if any value is outside its range, the defaults are used instead.
    ///   - clock: the clock that measures the time between batches.
    ///   - seed: the seed of the random part of the pauses after failures.
    public init(
        _ queue: UploadQueue, to destination: UploadDestination, device: String,
        settings: UploadSettings = UploadSettings(), clock: some Clock<Duration> = ContinuousClock(),
        seed: UInt64 = .random(in: 0...UInt64.max)
    ) {
        let transport: any UploadTransport =
            switch destination {
            case .web(let server): WebUpload(server: server)
            case .broker(let broker, let topic): BrokerUpload(broker: broker, topic: topic)
            }
        self.init(queue, over: transport, device: device, settings: settings, clock: clock, seed: seed)
    }

    init(
        _ queue: UploadQueue, over transport: any UploadTransport, device: String, settings: UploadSettings,
        clock: some Clock<Duration>, seed: UInt64
    ) {
        self.queue = queue
        self.transport = transport
        self.device = device
        upload = UploadRuntime(settings.problems.isEmpty ? settings : UploadSettings(), clock: clock, seed: seed)
    }

    deinit { upload.cancel() }

    /// The errors of failed batches from now on; the stream buffers the newest 64.
    public nonisolated var errors: AsyncStream<UploadError> { errorBroadcast.subscribe() }
    /// The confirmed batches from now on; the stream buffers the newest 64.
    package nonisolated var confirmed: AsyncStream<UploadBatch> { batchBroadcast.subscribe() }

    /// The counts of the queue.
    ///
    /// - Throws: `UploadQueueError` if the queue could not be read.
    public var counts: UploadQueue.Counts {
        get async throws(UploadQueueError) { try await queue.counts }
    }

    /// Starts sending, with the records of an earlier run first. Has no effect if the uploader is already started.
    ///
    /// - Throws: `UploadQueueError` if the queue could not be read.
    public func start() async throws(UploadQueueError) {
        let stops = stopCount
        startSending(waiting: try await queue.waiting, unlessStoppedSince: stops)
    }

    /// Stops sending: once this returns, the uploader sends nothing more. Unconfirmed records stay in the queue.
    public func stop() async { await stopSending() }

    /// Adds records to the queue. They are on disk once this returns.
    ///
    /// - Throws: `UploadQueueError` if they could not be written; then none of them is.
    public func add(_ records: [UploadRecord]) async throws(UploadQueueError) {
        guard !records.isEmpty else { return }
        try await queue.append(records)
        run(.queued(waiting: try await queue.waiting))
    }

    /// Applies other settings from the next batch on. If any value is outside its range, nothing changes.
    ///
    /// - Throws: `UploadQueueError` if the queue could not be shortened.
    public func setSettings(_ settings: UploadSettings) async throws(UploadQueueError) {
        guard settings.problems.isEmpty else { return }
        run(.change(settings))
        try await queue.setLimit(settings.queueSize)
    }
}

extension RecordUploader: UploadShell {
    package func sendNext(_ size: Int, anew: Bool) async throws -> Int {
        if anew { try await queue.divide(into: size) }
        batch = try await queue.nextBatch(size: size, device: device)
        guard let batch else { return 0 }
        do throws(UploadError) { try await transport.send(batch) } catch {
            isTooLarge = error.kind == .tooLarge
            throw error
        }
        // Even if the uploader was stopped in the meantime, the batch is confirmed.
        try await queue.confirm(batch)
        confirmedBatches += 1
        batchBroadcast.send(batch)
        return try await queue.waiting
    }

    package func rejectLast() async throws -> Int {
        if let batch {
            // A batch of an earlier run, or of other settings, can have more records than one.
            if isTooLarge, batch.count > 1 { try await queue.divide(into: 1) } else { try await queue.reject(batch) }
        }
        return try await queue.waiting
    }

    package func report(_ error: UploadError) {
        failures += 1
        errorBroadcast.send(error)
    }
}

/// A state machine that decides when a batch is sent, and what happens to one that failed.
///
/// A value type with time as an input: the same events at the same instants give the same directives.
package struct UploadMachine: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case stopped
        /// No record waits.
        case idle
        /// The machine waits for more records until that instant.
        case collecting(until: Instant)
        /// A batch is being sent.
        case sending
        /// A batch failed, and will be sent again at that instant.
        case pausing(until: Instant)
    }

    package enum Event: Hashable, Sendable {
        /// Starts sending; the number of records is that of an earlier run.
        case start(waiting: Int)
        case stop
        case tick
        /// Records were added to the queue; the number is that of all records in it.
        case queued(waiting: Int)
        /// The batch was removed from the queue; the number is that of the remaining records.
        case removed(waiting: Int)
        case failed(UploadError)
        /// Applies other settings from the next batch on.
        case change(UploadSettings)
    }

    package enum Directive: Hashable, Sendable {
        /// Send the next batch. The size limits a batch that is new or must be created again.
        case send(size: Int, anew: Bool)
        /// Ignore the answer.
        case cancel
        /// Remove the batch from the queue, because no server will ever accept it.
        case reject
        case report(UploadError)
    }

    package private(set) var state = State.stopped
    private var settings: UploadSettings
    private var backoff: Backoff
    private let seed: UInt64
    private var size: BatchSize
    /// Whether the current batch was too large, and the queue may not have divided it yet.
    private var mustDivide = false

    /// Creates a stopped machine. The settings must have no `problems`.
    ///
    /// - Parameter seed: the seed of the jitter of pauses.
    package init(_ settings: UploadSettings, seed: UInt64) {
        self.seed = seed
        self.settings = settings
        backoff = Backoff(first: settings.retryPause, seed: seed)
        size = BatchSize(atMost: settings.batchSize)
    }

    /// The instant of the next tick; nil if none is needed.
    package var nextWake: Instant? {
        switch state {
        case .collecting(let until), .pausing(let until): until
        case .stopped, .idle, .sending: nil
        }
    }

    /// Handles an event and returns the directives.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        switch (state, event) {
        // The records of an earlier run have waited long enough.
        case (.stopped, .start(let waiting)): return waiting > 0 ? send() : rest()
        case (.collecting(let until), .tick) where until <= now, (.pausing(let until), .tick) where until <= now:
            return send()
        case (.idle, .queued(let waiting)), (.collecting, .queued(let waiting)): return collect(waiting, at: now)
        case (.sending, .removed(let waiting)):
            backoff.reset()
            state = .idle
            mustDivide = false
            size.grow()
            return collect(waiting, at: now)
        case (.sending, .failed(let error)): return fail(error, at: now)
        case (.sending, .stop):
            state = .stopped
            return [.cancel]
        case (.idle, .stop), (.collecting, .stop), (.pausing, .stop):
            state = .stopped
            return []
        case (_, .change(let settings)):
            if settings.retryPause != self.settings.retryPause {
                backoff = Backoff(first: settings.retryPause, seed: seed)
            }
            self.settings = settings
            size = BatchSize(atMost: settings.batchSize)
            return []
        case (_, .start), (.stopped, _), (.idle, .tick), (.collecting, .tick), (.pausing, .tick), (.sending, .tick),
            (.sending, .queued), (.pausing, .queued),  // these records go with a later batch
            (.idle, .removed), (.collecting, .removed), (.pausing, .removed), (.idle, .failed), (.collecting, .failed),
            (.pausing, .failed):  // late answers
            return []
        }
    }

    private mutating func send() -> [Directive] {
        state = .sending
        return [.send(size: size.records, anew: mustDivide)]
    }

    private mutating func rest() -> [Directive] {
        state = .idle
        return []
    }

    /// Sends a full batch, or waits for more records until an interval after the first one.
    private mutating func collect(_ waiting: Int, at now: Instant) -> [Directive] {
        if waiting >= size.records { return send() }
        if waiting == 0 { return rest() }
        if state == .idle { state = .collecting(until: now.advanced(by: settings.interval)) }
        return []
    }

    private mutating func fail(_ error: UploadError, at now: Instant) -> [Directive] {
        // The queue divides the batch before it is sent. After a stop, or an error of the queue, it may not have done so.
        if error.kind != .queue { mustDivide = false }
        switch error.kind {
        case .tooLarge where size.records > 1:
            size.halve()
            mustDivide = true
            return [.report(error)] + send()
        // A single record that is too large can never be sent.
        case .rejected, .tooLarge: return [.report(error), .reject]
        case .unreachable, .queue:
            state = .pausing(until: now.advanced(by: backoff.next()))
            return [.report(error)]
        case .refused:
            // Access will most likely be denied again, so asking before the interval is useless.
            state = .pausing(until: now.advanced(by: max(settings.interval, backoff.next())))
            return [.report(error)]
        }
    }
}

/// The maximum number of records in a batch: less than in the settings for a while after a batch was too large.
private struct BatchSize: Hashable, Sendable {
    /// The first and the longest `patience`.
    private static let patienceLimits = (first: 16, longest: 1_024)

    private(set) var records: Int
    private let limit: Int
    /// The number of batches removed from the queue since the size last changed.
    private var batches = 0
    /// The number of batches after which the size doubles again. It doubles with each larger size that fails, so that a
    /// server with a small limit seldom has to refuse a batch.
    private var patience = Self.patienceLimits.first
    /// Whether the size was doubled last.
    private var hasGrown = false

    init(atMost limit: Int) { (records, self.limit) = (limit, limit) }

    /// Counts a batch as removed, and doubles the size up to the limit after enough of them.
    mutating func grow() {
        batches += 1
        guard batches >= patience else { return }
        batches = 0
        hasGrown = records < limit
        if hasGrown { records = min(2 * records, limit) } else { patience = Self.patienceLimits.first }
    }

    /// Halves the size, because a batch was too large.
    mutating func halve() {
        records /= 2
        if hasGrown { patience = min(2 * patience, Self.patienceLimits.longest) }
        (batches, hasGrown) = (0, false)
    }
}

/// The destination of uploaded records.
public enum UploadDestination: Hashable, Sendable {
    /// A web server that receives each batch as a POST request; any status from 200 to 299 confirms it.
    case web(VenueServer)
    /// An MQTT broker to which each batch is published under a topic.
    ///
    /// The quality of service is 1, so the broker confirms each batch.
    case broker(MQTTBroker, topic: String)
}

/// The transport of a batch to a server: libcurl, libmosquitto, or a script in a test.
protocol UploadTransport: Sendable {
    /// Sends a batch once, and returns when it is confirmed.
    func send(_ batch: UploadBatch) async throws(UploadError)
}

/// A transport that posts batches to a web server.
struct WebUpload: UploadTransport {
    let server: VenueServer

    func send(_ batch: UploadBatch) async throws(UploadError) {
        do throws(VenueRepositoryError) {
            // Servers detect duplicates by this key (draft-ietf-httpapi-idempotency-key-header).
            try await server.post(
                batch.body, type: "application/json", headers: ["Idempotency-Key: \"\(batch.id)\""])
        } catch { throw UploadError(error, of: .records) }
    }
}

/// A transport that publishes each batch to a broker over a separate connection.
struct BrokerUpload: UploadTransport {
    let broker: MQTTBroker
    let topic: String
    /// The time limit for the broker to accept the connection and to confirm the batch.
    var patience = Duration.seconds(20)

    func send(_ batch: UploadBatch) async throws(UploadError) {
        do throws(MQTTSharingError) {
            try await MQTTDelivery.deliver(
                MQTTMessage(topic: topic, payload: batch.body, quality: .atLeastOnce), to: broker, patience: patience)
        } catch { throw UploadError(error) }
    }
}

extension UploadError {
    /// Creates the upload error for a failed delivery.
    init(_ error: MQTTSharingError) {
        let kind: Kind =
            switch error {
            case .refusedMessage(_, reason: .quotaExceeded): .unreachable
            case .refusedCredentials, .missingPassword, .plainPassword, .forbidden, .badFile, .insecure,
                .refusedMessage:
                .refused
            default: .unreachable
            }
        self.init(kind, "\(error)")
    }
}

/// The reason a batch was not confirmed.
public struct UploadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure, which determines what happens to the batch.
    public enum Kind: Hashable, Sendable {
        /// The server was unreachable, did not answer, or was temporarily unable to accept the batch.
        ///
        /// The uploader tries again, with growing pauses.
        case unreachable
        /// The server denied access to this device, or has no resource at that address.
        ///
        /// The uploader tries again after the interval of its settings.
        case refused
        /// The batch is too large for the server; the uploader sends it in halves, and larger ones again later.
        case tooLarge
        /// The server will never accept the batch; the uploader discards and counts it.
        case rejected
        /// The queue cannot be read or written; the uploader tries again, with growing pauses.
        case queue
    }

    /// The kind of failure.
    public var kind: Kind
    /// The server's HTTP status; nil if there was none.
    public var status: Int?
    /// The problem, its place and the remedy.
    public var description: String

    /// Creates an error.
    package init(_ kind: Kind, status: Int? = nil, _ description: String) {
        self.kind = kind
        self.status = status
        self.description = description
    }
}

extension UploadError {
    /// Creates the upload error for a failed request to a server of that use.
    package init(_ error: VenueRepositoryError, of use: ServerUse) {
        let kind: Kind =
            switch error {
            case .failed(413, _): .tooLarge
            case .failed(let status, _) where [400, 415, 422].contains(status): .rejected
            // Request time-out, too many requests, and errors of the server itself.
            case .failed(let status, _) where [408, 425, 429].contains(status) || status >= 500: .unreachable
            case .failed, .refused, .badServer, .untrusted: .refused
            default: .unreachable
            }
        self.init(kind, status: error.statusCode, PrintableText.line(error.title(of: use)))
    }
}
