import Dispatch
import Glibc
import IndoorVocabulary

/// The shell of a scan through the Bluetooth service, which performs the directives of `BlueZScanMachine`. It has one
/// connection, one queue and one timer.
///
/// A class because a running scan has an identity and an end. `@unchecked Sendable` because mutable state is accessed
/// only on the serial `queue`.
final class BlueZScanShell: @unchecked Sendable {
    typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    private let queue = DispatchQueue(label: "IndoorLocalization.BlueZScanShell")
    private let continuation: Continuation
    private let running: RunningScans
    private var hasEnded = false
    private let address: String?
    private let alarm: any DispatchSourceTimer
    private var machine: BlueZScanMachine
    private var initialDetail: InitialDetail
    private var connection: BusConnection?
    private var arrivals: ReadinessWatch?
    /// The number of readings that the full stream buffer discarded and that the scan hasn't reported yet.
    private var lost = 0
    private var lossReportedAt = Instant.zero

    /// - Parameter address: The address of the message bus; nil for the system bus.
    init(
        _ settings: BlueZScanSettings, address: String?, _ running: RunningScans, _ continuation: Continuation
    ) {
        self.running = running
        self.continuation = continuation
        self.address = address
        machine = BlueZScanMachine(settings)
        initialDetail = InitialDetail(settings.initialDetail)
        alarm = DispatchSource.makeTimerSource(queue: queue)
    }

    func start() {
        running.began()
        alarm.setEventHandler { [self] in handle(.tick) }
        alarm.activate()
        queue.async { [self] in connect() }
    }

    func stop() {
        queue.async { [self] in handle(.stop) }
    }

    // MARK: - On the queue

    private func handle(_ event: BlueZScanMachine.Event) {
        for directive in machine.handle(event, at: Self.now()) { perform(directive) }
        if let dueTime = machine.dueTime {
            let pause = max(.zero, Self.now().duration(to: dueTime))
            alarm.schedule(deadline: .now() + .nanoseconds(Int(pause.nanoseconds)))
        } else {
            alarm.schedule(deadline: .distantFuture)
        }
    }

    private func perform(_ directive: BlueZScanMachine.Directive) {
        switch directive {
        case .connect: queue.async { [self] in connect() }
        case .send(let message): connection?.send(message)
        case .yield(let reading):
            if case .dropped = continuation.yield(withInitialDetail(reading)) { lost += 1 }
        case .fail(let error): continuation.finish(throwing: error)
        case .close:
            disconnect()
            alarm.cancel()
            continuation.finish()
            if !hasEnded { running.ended() }
            hasEnded = true
        }
    }

    private func connect() {
        // The scan may have ended in the meantime.
        guard machine.state != .ended else { return }
        do throws(BusConnection.Failure) {
            let connection = try BusConnection(address: address)
            guard watch(connection) else {
                handle(.connectionFailed(reason: "no file descriptor is free", isDenied: false))
                return
            }
            self.connection = connection
            for rule in BlueZSignals.rules { connection.subscribe(rule) }
            handle(.connected)
            exchange()
        } catch {
            handle(.connectionFailed(reason: error.reason, isDenied: BlueZRefusal.denies(error.name)))
        }
    }

    /// Watches a duplicate of the connection's descriptor, because the connection may close its own at any time.
    private func watch(_ connection: BusConnection) -> Bool {
        let descriptor = fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        arrivals = ReadinessWatch(
            descriptor, on: queue, whenReady: { [self] in exchange() }, whenDone: { Glibc.close(descriptor) })
        return true
    }

    private func disconnect() {
        arrivals?.cancel()
        arrivals = nil
        connection?.close()
        connection = nil
    }

    private func exchange() {
        guard let connection else { return }
        var messages: [BusMessage] = []
        let standing = connection.exchange { messages.append($0) }
        for message in messages { handle(.received(message)) }
        reportLosses()
        switch standing {
        case .idle:
            // The socket is full, which is rare because calls are few and short.
            guard connection.hasUnsent else { return }
            queue.asyncAfter(deadline: .now() + .milliseconds(20)) { [self] in exchange() }
        // Other work on the queue goes first.
        case .waiting: queue.async { [self] in exchange() }
        case .gone:
            guard self.connection === connection else { return }
            disconnect()
            handle(.disconnected)
        }
    }

    private func withInitialDetail(_ reading: SensorReading) -> SensorReading {
        guard case .radio(var event) = reading else { return reading }
        event.detail = initialDetail.added(to: event.detail)
        return .radio(event)
    }

    /// Reports losses, at most once a second.
    private func reportLosses() {
        guard lost > 0, lossReportedAt.duration(to: Self.now()) >= .seconds(1) else { return }
        lossReportedAt = Self.now()
        let readings = lost
        lost = 0
        handle(.overrun(readings: readings))
    }

    /// Returns the time on the clock of all routes. The clock includes sleep, and can't be set.
    private static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
