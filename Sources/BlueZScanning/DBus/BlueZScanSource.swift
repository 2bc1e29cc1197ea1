import Dispatch
import Glibc
import IndoorVocabulary

/// A scan source that uses the Bluetooth service (bluetoothd) through its D-Bus API.
///
/// The source needs no capability, only permission to call `org.bluez` on the message bus. Debian grants it to every
/// user; other systems grant it to the group "bluetooth", or to the user at the console. Compared with the raw route,
/// the service has these limits:
///
/// - The service merges reports that arrive close together, and pauses during discovery. The article "The radio" lists
///   measured losses.
/// - The service parses advertisements. This source rebuilds an `Advertisement` from manufacturer data, service data,
///   service UUIDs and transmit power; all other bytes are lost.
/// - A report without an RSSI has the latest reported RSSI, which may be off by less than 8 dB. The source doesn't
///   report devices that the service only has in its cache.
/// - An instant is the time at which the source read the service's message, some milliseconds after reception. It
///   counts from boot and includes sleep (CLOCK_BOOTTIME), as on the raw route.
///
/// The source powers on an adapter that is off when found, unless a radio switch blocks it, and powers it off again at
/// the end of the scan. If somebody switches the adapter off during the scan, the scan waits until it is on again.
/// If an earlier scan powers it off at its own end, the scan powers it on again.
package struct BlueZScanSource: ScanSource {
    private let settings: BlueZScanSettings
    private let address: String?
    private let running = RunningScans()

    /// The number of readings that the stream buffers. If the buffer is full, the oldest readings are lost, and a radio
    /// event reports the loss.
    package static let bufferLimit = 65_536

    package var pace: ScanPace { .live }

    /// The system's clock: the offset of CLOCK_REALTIME from CLOCK_BOOTTIME, measured at each access.
    package var wallClock: WallClock? { KernelTimeline().wallClock }

    /// Creates a source. The source opens nothing until `readings()` is called.
    package init(adapter: AdapterChoice = .first, content: ScanContent = .beacons) {
        self.init(BlueZScanSettings(adapter: adapter, content: content))
    }

    /// - Parameter address: The address of the message bus, such as "unix:path=…"; nil for the system bus.
    package init(_ settings: BlueZScanSettings, address: String? = nil) {
        self.settings = settings
        self.address = address
    }

    /// Checks whether this process may use the message bus, by connecting to it briefly.
    ///
    /// The check doesn't show whether the service accepts calls; a scan finds that out with its first call.
    /// - Throws: `.busUnavailable` or `.busForbidden`.
    package static func checkPermission() throws(BluetoothError) { try checkPermission(address: nil) }

    package static func checkPermission(address: String?) throws(BluetoothError) {
        do throws(BusConnection.Failure) {
            try BusConnection(address: address).close()
        } catch {
            throw BlueZRefusal.denies(error.name)
                ? .busForbidden(reason: error.reason) : .busUnavailable(reason: error.reason)
        }
    }

    /// Waits until no scan of this source uses the radio.
    ///
    /// When a stream ends, its scan stops and restores the adapter to its former state, which takes a moment. Call this
    /// function before the program exits.
    package func released() async { await running.allEnded() }

    /// Starts to scan.
    ///
    /// The stream throws `BluetoothError.busUnavailable` if the message bus isn't reachable at the start, and
    /// `.busForbidden` if the bus or the service denies a call that the scan needs. The stream delivers all other
    /// problems as `RadioEvent`s.
    package func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            let shell = BlueZScanShell(settings, address: address, running, continuation)
            continuation.onTermination = { _ in shell.stop() }
            shell.start()
        }
    }
}

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
