import BeaconScanning
import Dispatch
import IndoorVocabulary

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
        timer.schedule(deadline: .now() + max(0, timeline.now.duration(to: deadline).seconds))
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
