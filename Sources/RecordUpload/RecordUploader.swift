import IndoorVocabulary
import LocalizationSession

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
    private let clock: SessionClock
    private var machine: UploadMachine
    private var sending: Task<Void, Never>?
    /// The last batch that was sent.
    private var batch: UploadBatch?
    private var wake: (at: Instant, task: Task<Void, Never>)?
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
        self.clock = SessionClock(clock)
        machine = UploadMachine(settings.problems.isEmpty ? settings : UploadSettings(), seed: seed)
    }

    deinit {
        sending?.cancel()
        wake?.task.cancel()
    }

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
    public func start() async throws(UploadQueueError) { run(.start(waiting: try await queue.waiting)) }

    /// Stops sending: once this returns, the uploader sends nothing more. Unconfirmed records stay in the queue.
    public func stop() async {
        run(.stop)
        await sending?.value
    }

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

extension RecordUploader {
    private func run(_ event: UploadMachine.Event) {
        for directive in machine.handle(event, at: Instant.zero.advanced(by: clock.elapsed())) {
            switch directive {
            case .send(let size, let anew): sending = Task { await send(size, anew: anew) }
            case .cancel: sending?.cancel()
            case .reject: sending = Task { await reject() }
            case .report(let error):
                failures += 1
                errorBroadcast.send(error)
            }
        }
        setAlarm()
    }

    private func send(_ size: Int, anew: Bool) async {
        do {
            if anew { try await queue.divide() }
            batch = try await queue.nextBatch(size: size, device: device)
            guard let batch else { return run(.removed(waiting: 0)) }
            try await transport.send(batch)
            // Even if the uploader was stopped in the meantime, the batch is confirmed.
            try await queue.confirm(batch)
            confirmedBatches += 1
            batchBroadcast.send(batch)
            run(.removed(waiting: try await queue.waiting))
        } catch { run(.failed(error as? UploadError ?? UploadError(.queue, "\(error)"))) }
    }

    private func reject() async {
        do {
            if let batch { try await queue.reject(batch) }
            run(.removed(waiting: try await queue.waiting))
        } catch { run(.failed(UploadError(.queue, "\(error)"))) }
    }

    /// Sets an alarm for the next wake-up time of the state machine.
    private func setAlarm() {
        let next = machine.nextWake
        guard next != wake?.at else { return }
        wake?.task.cancel()
        wake = next.map { next in
            let clock = clock
            return (
                next,
                Task { [weak self] in
                    do { try await clock.sleep(until: Instant.zero.duration(to: next)) } catch { return }
                    await self?.wakeUp()
                }
            )
        }
    }

    private func wakeUp() {
        wake = nil
        run(.tick)
    }
}
