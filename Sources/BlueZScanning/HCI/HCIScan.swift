import BeaconScanning
import Dispatch
import IndoorVocabulary

/// One scan over a raw HCI socket, on behalf of one stream: does what its machine says, and tells it what happens.
///
/// A class because the callbacks of the system and of the stream need one place to come to. What changes is touched on
/// its serial queue only, hence unchecked. Handlers keep it until the scan has ended.
final class HCIScan: @unchecked Sendable {
    typealias Continuation = AsyncThrowingStream<SensorReading, any Error>.Continuation

    private let queue = DispatchQueue(label: "indoor-localization.hci-scan", qos: .userInitiated)
    private let continuation: Continuation
    private let running: RunningScans
    private var hasEnded = false
    private var machine: HCIScanMachine
    private var decoder: AdvertisingEventDecoder
    private var timeline = KernelTimeline()
    private var remark: InitialDetail

    /// Hears what becomes of the adapters.
    private var adapters: HCIChannel?
    /// Hears the adapter that scans.
    private var link: HCIChannel?
    private var switches: RadioSwitches?
    private var switchWatch: ReadinessWatch?
    private var timer: (any DispatchSourceTimer)?
    private var timerDeadline: Instant?
    /// Whether reports came since the last tick.
    private var hasHeard = false

    /// Packets that the kernel threw away on the present socket, as far as they were told.
    private var dropped: UInt32 = 0
    /// Readings that nobody fetched from the stream in time, and that were not told yet.
    private var unfetched = 0
    private var lastCount: Instant

    init(_ source: HCIScanSource, continuation: Continuation) {
        self.continuation = continuation
        running = source.running
        machine = HCIScanMachine(choice: source.adapter, parameters: source.parameters)
        decoder = AdvertisingEventDecoder(content: source.content == .beacons ? .sightings : .everything)
        remark = InitialDetail(source.remark)
        lastCount = timeline.now
    }

    /// Begins to scan. The stream's end ends the scan.
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
            channel.watch(on: queue) { [self] in hearAdapters() }
            adapters = channel
        } catch {
            fail(error)
            return
        }
        watchSwitches()
        run(.begin)
    }

    // MARK: - What happens

    private func run(_ event: HCIScanMachine.Event) {
        let directives = machine.handle(event, at: timeline.now)
        for directive in directives { perform(directive) }
        if machine.state == .finished { end() } else { setTimer() }
    }

    private func hearAdapters() {
        timeline.wake()
        var changes: [HCIScanMachine.Event] = []
        _ = adapters?.drain { packet, _ in
            if case .device(let change, let id) = HCIPacket(packet) { changes.append(.device(change, id: id)) }
        }
        for change in changes { run(change) }
    }

    private func hearLink() {
        timeline.wake()
        guard let channel = link else { return }
        let error = channel.drain { packet, wall in
            // One that came while those before it were taken is not of the past.
            if timeline.isBehind(wall: wall) { timeline.wake() }
            // An answer to a packet may have closed the link; what it brought before is no less heard.
            take(packet, at: timeline.instant(wall: wall))
        }
        if error != nil, channel === link { run(.lost) }
        countLosses()
    }

    private func give(_ reading: SensorReading) {
        if case .dropped = continuation.yield(reading) { unfetched += 1 }
    }

    private func take(_ packet: Span<UInt8>, at instant: Instant) {
        switch HCIPacket(packet) {
        case .meta:
            hasHeard = true
            decoder.decode(packet.extracting(1..<packet.count), at: instant) { advertisement in
                give(.advertisement(advertisement))
            } sighting: { sighting in
                give(.sighting(sighting))
            }
        case .command(let command): run(.link(.command(command)))
        case .answer(let answer): run(.link(.answer(answer)))
        case .device, .other: return
        }
    }

    private func watchSwitches() {
        guard let switches = RadioSwitches() else { return }
        switchWatch = ReadinessWatch(
            switches.descriptor, on: queue, whenReady: { [self] in hearSwitches() },
            whenDone: { [self] in self.switches = nil })
        self.switches = consume switches
        hearSwitches()
    }

    private func hearSwitches() {
        timeline.wake()
        switches?.update()
        if let blocked = switches?.table.blocked { run(.blocked(blocked)) }
    }

    // MARK: - What is to be done

    private func perform(_ directive: HCIScanMachine.Directive) {
        switch directive {
        case .listDevices: listDevices()
        case .powerUp(let id):
            powerUp(id)
        case .powerDown(let id):
            // A socket of its own, as this may come behind the end.
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
                        instant: timeline.present(), status: status, adapter: adapter, detail: remark.added(to: detail))
                ))
        case .fail(let error): fail(error)
        }
    }

    /// Powers an adapter up, elsewhere: that takes seconds, and the scan may be ended meanwhile.
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
            channel.watch(on: queue) { [self] in hearLink() }
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

    /// Bytes for packets that wait: some 4,000 of them, as the kernel counts about a kilobyte for each.
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

    /// Tells once a second what was lost.
    private func countLosses() {
        guard lastCount.duration(to: timeline.now) >= .seconds(1), let link else { return }
        lastCount = timeline.now
        let count = link.socket.dropped()
        let lost = Int(count &- dropped) + unfetched
        // Fragments around a gap do not belong together.
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
