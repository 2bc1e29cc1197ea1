import BeaconScanning
import Dispatch
import IndoorVocabulary

/// A scan source that uses the kernel's raw HCI socket. It delivers every report of the adapter with the kernel's time
/// of reception.
///
/// The source needs the capability CAP_NET_RAW and, to power an adapter on, CAP_NET_ADMIN. It needs no Bluetooth
/// service, and works alongside one. While another program scans, the source receives that scan's reports
/// (`RadioEvent.Status.sharing`); when that scan ends, the source starts its own. At the end of the stream, the source
/// stops its own scan.
///
/// The source powers on an adapter that is off when found, unless a radio switch blocks it. It powers the adapter off
/// again at the end, unless another program then scans with it. If somebody switches the adapter off during the scan,
/// it stays off until somebody switches it on.
///
/// Power, plugging and radio switches are events on the stream, after which the scan resumes automatically. The stream
/// throws a `BluetoothError` if the scan can't resume: if the process lacks a capability, or the kernel has no
/// Bluetooth support.
package struct HCIScanSource: ScanSource {
    /// Whether the adapter transmits while it scans.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// The adapter only listens.
        case passive
        /// The adapter requests scan responses, which costs the advertisers power and air time. Beacons have no scan
        /// response.
        case active
    }

    /// The choice of the adapter that scans.
    package let adapter: AdapterChoice
    /// Whether the adapter transmits while it scans.
    package let mode: Mode
    /// The time that the adapter listens on an advertising channel in each interval: 2.5 ms to 10.24 s, and at most
    /// `interval`.
    package internal(set) var window: Duration
    /// The time from the start of one window to the start of the next: 2.5 ms to 10.24 s. If it equals `window`, the
    /// adapter listens continuously.
    package internal(set) var interval: Duration
    /// The readings to deliver. With `.beacons`, this source delivers sightings without their advertisements.
    package let content: ScanContent

    /// A text that the first event of a stream adds to its own detail.
    package var initialDetail: String?

    /// The scans of this source that use the radio.
    let running = RunningScans()

    /// The number of readings that the stream buffers. If the buffer is full, the oldest readings are lost, and a radio
    /// event reports the loss.
    package static let bufferLimit = 65_536

    /// Creates a source. A window or interval out of range is clamped to the range.
    package init(
        adapter: AdapterChoice = .first, mode: Mode = .passive, window: Duration = .milliseconds(60),
        interval: Duration = .milliseconds(60), content: ScanContent = .beacons
    ) {
        self.adapter = adapter
        self.mode = mode
        self.window = window
        self.interval = interval
        self.content = content
    }

    /// Waits until no scan of this source uses the radio.
    ///
    /// When a stream ends, its scan stops and restores the adapter to its former state, which takes a moment. Call this
    /// function before the program exits.
    package func released() async { await running.allEnded() }

    package var pace: ScanPace { .live }

    /// The system's clock: the offset of CLOCK_REALTIME from CLOCK_BOOTTIME, measured at each access.
    package var wallClock: WallClock? { KernelTimeline().wallClock }

    package func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(Self.bufferLimit)) { continuation in
            HCIScan(self, continuation: continuation).begin()
        }
    }

    /// The parameters for the adapter.
    var parameters: HCIScanParameters {
        HCIScanParameters(isActive: mode == .active, window: window, interval: interval)
    }
}

extension HCIScanSource {
    /// Checks whether this process may scan over the raw socket, without using an adapter.
    ///
    /// - Throws: `.notPermitted`, `.noBluetooth`, or `.system` if a system call fails.
    package static func checkPermission() throws(BluetoothError) {
        try HCISocket().listenToAdapters()
    }
}

extension HCIScanSource: TimedScanSource {
    /// Starts to scan with a timing instead of `window` and `interval`.
    package func readings(timing: ScanTiming) -> AsyncThrowingStream<SensorReading, any Error> {
        with(timing).readings()
    }

    /// Returns this source with another timing.
    package func with(_ timing: ScanTiming) -> HCIScanSource {
        var source = self
        source.window = timing.window
        source.interval = timing.interval
        return source
    }
}

/// One scan over a raw HCI socket, for one stream. It performs the directives of its state machine, and passes events
/// to the machine.
///
/// A class because the callbacks of the system and of the stream share its state. `@unchecked Sendable` because mutable
/// state is accessed only on its serial queue. Its handlers retain it until the scan has ended.
final class HCIScan: @unchecked Sendable {
    typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    private let queue = DispatchQueue(label: "indoor-localization.hci-scan", qos: .userInitiated)
    private let continuation: Continuation
    private let running: RunningScans
    private var hasEnded = false
    private var machine: HCIScanMachine
    private var decoder: AdvertisingEventDecoder
    private var timeline = KernelTimeline()
    private var initialDetail: InitialDetail

    /// The channel that receives changes of the adapters.
    private var adapters: HCIChannel?
    /// The channel to the adapter that scans.
    private var link: HCIChannel?
    private var switches: RadioSwitches?
    private var switchWatch: ReadinessWatch?
    private var timer: (any DispatchSourceTimer)?
    private var timerDeadline: Instant?
    /// Whether reports have arrived since the last tick.
    private var hasHeard = false

    /// The number of packets that the kernel has discarded on the current socket and that the scan has reported.
    private var dropped: UInt32 = 0
    /// The number of readings that the full stream buffer discarded and that the scan hasn't reported yet.
    private var unfetched = 0
    private var lastCount: Instant

    init(_ source: HCIScanSource, continuation: Continuation) {
        self.continuation = continuation
        running = source.running
        machine = HCIScanMachine(choice: source.adapter, parameters: source.parameters)
        decoder = AdvertisingEventDecoder(content: source.content == .beacons ? .sightings : .everything)
        initialDetail = InitialDetail(source.initialDetail)
        lastCount = timeline.now
    }

    /// Starts to scan. The end of the stream ends the scan.
    func begin() {
        running.began()
        continuation.onTermination = { [self] _ in
            queue.async { self.run(.stop) }
        }
        queue.async { self.start() }
    }

    private func start() {
        do throws(BluetoothError) {
            let socket = try HCISocket()
            try socket.listenToAdapters()
            let channel = HCIChannel(socket)
            channel.watch(on: queue) { [self] in readAdapterChanges() }
            adapters = channel
        } catch {
            fail(error)
            return
        }
        watchSwitches()
        run(.begin)
    }

    // MARK: - Events

    private func run(_ event: HCIScanMachine.Event) {
        let directives = machine.handle(event, at: timeline.now)
        for directive in directives { perform(directive) }
        if machine.state == .finished { end() } else { setTimer() }
    }

    private func readAdapterChanges() {
        timeline.wake()
        var changes: [HCIScanMachine.Event] = []
        _ = adapters?.drain { packet, _ in
            if case .device(let change, let id) = HCIPacket(packet) { changes.append(.device(change, id: id)) }
        }
        for change in changes { run(change) }
    }

    private func readLink() {
        timeline.wake()
        guard let channel = link else { return }
        let error = channel.drain { packet, wall in
            // A packet may arrive while earlier packets are read: update the clocks first.
            if timeline.isBehind(wall: wall) { timeline.wake() }
            // An earlier packet may have closed the link; the remaining packets are still valid.
            receive(packet, at: timeline.instant(wall: wall))
        }
        if error != nil, channel === link { run(.lost) }
        reportLosses()
    }

    private func deliver(_ reading: SensorReading) {
        if case .dropped = continuation.yield(reading) { unfetched += 1 }
    }

    private func receive(_ packet: Span<UInt8>, at instant: Instant) {
        switch HCIPacket(packet) {
        case .meta:
            hasHeard = true
            decoder.decode(packet.extracting(1..<packet.count), at: instant) { advertisement in
                deliver(.advertisement(advertisement))
            } sighting: { sighting in
                deliver(.sighting(sighting))
            }
        case .command(let command): run(.link(.command(command)))
        case .answer(let answer): run(.link(.answer(answer)))
        case .device, .other: return
        }
    }

    private func watchSwitches() {
        guard let switches = RadioSwitches() else { return }
        switchWatch = ReadinessWatch(
            switches.descriptor, on: queue, whenReady: { [self] in readSwitches() },
            whenDone: { [self] in self.switches = nil })
        self.switches = consume switches
        readSwitches()
    }

    private func readSwitches() {
        timeline.wake()
        switches?.update()
        if let blocked = switches?.table.blocked { run(.blocked(blocked)) }
    }

    // MARK: - Directives

    private func perform(_ directive: HCIScanMachine.Directive) {
        switch directive {
        case .listDevices: listDevices()
        case .powerUp(let id):
            powerUp(id)
        case .powerDown(let id):
            // A new socket, because this directive may follow the end of the scan.
            _ = try? HCISocket().powerDown(id)
        case .open(let id): open(id)
        case .close:
            link?.cancel()
            link = nil
            decoder.reset()
        case .send(let command):
            if let number = link?.socket.send(command.packet) { run(.link(.notSent(number))) }
        case .yield(let status, let adapter, let detail):
            continuation.yield(
                .radio(
                    RadioEvent(
                        instant: timeline.present(), status: status, adapter: adapter,
                        detail: initialDetail.added(to: detail))
                ))
        case .fail(let error): fail(error)
        }
    }

    /// Powers an adapter on, on another queue: the call takes seconds, and the scan may end in the meantime.
    private func powerUp(_ id: UInt16) {
        guard let adapters else { return }
        running.began()
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let result = adapters.socket.powerUp(id)
            queue.async {
                self.timeline.wake()
                self.run(.poweredUp(id, result))
                self.running.ended()
            }
        }
    }

    private func listDevices() {
        do throws(BluetoothError) {
            guard let adapters else { return }
            run(.devices(try adapters.socket.devices()))
        } catch {
            fail(error)
        }
    }

    private func open(_ id: UInt16) {
        do throws(BluetoothError) {
            let socket = try HCISocket()
            try socket.listen(to: id, room: Self.receiveBuffer)
            let channel = HCIChannel(socket)
            channel.watch(on: queue) { [self] in readLink() }
            link = channel
            dropped = 0
            listDevices()
            run(.opened(nil))
        } catch .system(_, let number) {
            run(.opened(number))
        } catch {
            fail(error)
        }
    }

    /// The size of the kernel's receive buffer in bytes: about 4,000 packets, as the kernel charges about a kilobyte
    /// for each.
    private static let receiveBuffer: Int32 = 4 << 20

    // MARK: - Time and losses

    private func setTimer() {
        let deadline = machine.deadline
        guard deadline != timerDeadline else { return }
        timerDeadline = deadline
        timer?.cancel()
        timer = nil
        guard let deadline else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [self] in
            timeline.wake()
            timerDeadline = nil
            if hasHeard { run(.link(.heard)) }
            hasHeard = false
            run(.tick)
        }
        timer.schedule(deadline: .now() + max(0, timeline.now.seconds(to: deadline)))
        timer.activate()
        self.timer = timer
    }

    /// Reports losses, at most once a second.
    private func reportLosses() {
        guard lastCount.duration(to: timeline.now) >= .seconds(1), let link else { return }
        lastCount = timeline.now
        let count = link.socket.dropped()
        let lost = Int(count &- dropped) + unfetched
        // Fragments before and after a gap don't belong together.
        if count != dropped { decoder.reset() }
        dropped = count
        unfetched = 0
        if lost > 0 { run(.overrun(packets: lost)) }
    }

    // MARK: - The end

    private func fail(_ error: BluetoothError) {
        continuation.finish(throwing: error)
        run(.stop)
    }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        timer?.cancel()
        timer = nil
        link?.cancel()
        link = nil
        adapters?.cancel()
        adapters = nil
        switchWatch?.cancel()
        switchWatch = nil
        continuation.finish()
        running.ended()
    }
}
