import IndoorVocabulary
import LocalizationSession

/// Uploads records to a server of yours: what is added is on disk at once, and sent when the network is there.
///
///     let queue = try UploadQueue(path: "uploads.db", limit: settings.queueSize)
///     let uploader = RecordUploader(queue, to: .web(server), device: "forklift-7", settings: settings)
///     try await uploader.start()
///     for await beacon in scanner.beacons {
///         try await uploader.add([UploadRecord(.beacon(beacon, count: 1))])
///     }
///
/// Each record arrives at least once. A batch that was confirmed, but whose confirmation was lost, is sent again with the
/// same identifier, so that a server can drop the repetition.
public actor RecordUploader {
    private let queue: UploadQueue
    private let transport: any UploadTransport
    private let device: String
    private let clock: SessionClock
    private var machine: UploadMachine
    private var sending: Task<Void, Never>?
    /// The batch that was sent last.
    private var batch: UploadBatch?
    private var wake: (at: Instant, task: Task<Void, Never>)?
    private nonisolated let errorBroadcast = Broadcast<UploadError>(.bufferingNewest(64))
    private nonisolated let batchBroadcast = Broadcast<UploadBatch>(.bufferingNewest(64))

    /// How many batches were confirmed since this uploader was created.
    public private(set) var confirmedBatches = 0
    /// How often a batch was not taken since this uploader was created.
    public private(set) var failures = 0

    /// Creates an uploader that is not started.
    ///
    /// - Parameters:
    ///   - device: what this device is called; the server gets it with each batch.
    ///   - settings: those out of range are taken as the defaults.
    ///   - clock: passes the time between batches.
    ///   - seed: of what is random in the pauses after failures.
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

    /// Why batches were not taken, from now on; the newest 64 are kept.
    public nonisolated var errors: AsyncStream<UploadError> { errorBroadcast.subscribe() }
    /// Batches that were confirmed, from now on; the newest 64 are kept.
    public nonisolated var confirmed: AsyncStream<UploadBatch> { batchBroadcast.subscribe() }

    /// What the queue has counted.
    ///
    /// - Throws: `UploadQueueError` if it could not be read.
    public var counts: UploadQueue.Counts {
        get async throws(UploadQueueError) { try await queue.counts }
    }

    /// Begins to send; what waits from an earlier run goes first. Does nothing if it was started.
    ///
    /// - Throws: `UploadQueueError` if the queue could not be read.
    public func start() async throws(UploadQueueError) { run(.start(waiting: try await queue.waiting)) }

    /// Ends sending: once this returns, nothing more is sent. What was not confirmed waits in the queue.
    public func stop() async {
        run(.stop)
        await sending?.value
    }

    /// Puts records into the queue; they are on disk once this returns.
    ///
    /// - Throws: `UploadQueueError` if they could not be written: then none of them is.
    public func add(_ records: [UploadRecord]) async throws(UploadQueueError) {
        guard !records.isEmpty else { return }
        try await queue.append(records)
        run(.queued(waiting: try await queue.waiting))
    }

    /// Makes other settings count, from the next batch on; those out of range change nothing.
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
            // Also where nobody waits any more: it is confirmed.
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

    /// Has the machine woken when it wants to be.
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
