import IndoorVocabulary

/// A state machine that finds the adapter to scan with, follows its plugging and power, and runs its `HCILinkMachine`.
package struct HCIScanMachine: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        case begin
        /// The adapters that are present, in order of their numbers.
        case devices([HCIDevice])
        /// The result of an attempt to power an adapter on, which may take seconds: nil for success, or the error
        /// number.
        case poweredUp(UInt16, Int32?)
        /// The result of an attempt to open a socket to the adapter: nil for success, or the error number.
        case opened(Int32?)
        /// The socket to the adapter failed.
        case lost
        /// An adapter changed.
        case device(HCIDeviceChange, id: UInt16)
        /// The set of adapters that radio switches block changed.
        case blocked(Set<UInt16>)
        /// Packets of the adapter were lost because the scan didn't read them fast enough.
        case overrun(packets: Int)
        /// An event of the adapter's link.
        case link(HCILinkMachine.Event)
        /// The deadline has passed.
        case tick
        /// The client ended the scan.
        case stop
    }

    package enum Directive: Sendable, Equatable {
        /// List the adapters; the answer is `.devices`.
        case listDevices
        /// Power an adapter on; the answer is `.poweredUp`.
        case powerUp(UInt16)
        case powerDown(UInt16)
        /// Open a socket to an adapter. The answers are `.devices`, because an adapter reports its address only when it
        /// is powered on, and `.opened`.
        case open(UInt16)
        case close
        case send(HCICommand)
        case yield(RadioEvent.Status, adapter: String?, detail: String?)
        case fail(BluetoothError)
    }

    package enum State: Sendable, Equatable {
        case idle
        /// No adapter of the choice is present; any change may add one.
        case searching
        /// The shell powers the adapter on, or opens its socket.
        case opening(HCIDevice)
        /// The adapter hasn't received since an instant, for the reported reason. The machine tries again at `retry`.
        case off(HCIDevice, RadioEvent.Status, since: Instant, retry: Instant?)
        /// The adapter's link has been open since an instant.
        case linked(HCIDevice, since: Instant)
        case finished
    }

    package let choice: AdapterChoice
    package private(set) var state = State.idle
    package private(set) var link: HCILinkMachine
    private let parameters: HCIScanParameters
    /// Whether the machine may power an adapter on: not if somebody switched it off while it scanned.
    private var mayPowerUp = true
    /// The adapter that the machine powered on, and powers off again at the end unless another program scans with it.
    private var poweredUp: UInt16?
    private var blocked: Set<UInt16> = []
    /// The last report, so that the machine doesn't repeat it.
    private var lastReport: Directive?
    private var failures = 0

    /// Creates a machine that hasn't started.
    package init(choice: AdapterChoice, parameters: HCIScanParameters) {
        self.choice = choice
        self.parameters = parameters
        link = HCILinkMachine(parameters: parameters)
    }

    /// The instant at which the machine needs a `.tick`; nil if it only waits for events.
    package var deadline: Instant? {
        switch state {
        case .off(_, _, _, let retry): retry
        case .linked: link.deadline
        case .idle, .searching, .opening, .finished: nil
        }
    }

    /// Handles an event and returns the directives to perform, in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        guard state != .finished else { return undo(event) }
        switch event {
        case .begin: return search()
        case .devices(let devices): return choose(from: devices, at: now)
        case .poweredUp(let id, let number): return handlePowerUp(id, number, at: now)
        case .opened(let number): return handleOpening(number, at: now)
        case .lost: return lose(at: now)
        case .device(let change, let id): return follow(change, id: id, at: now)
        case .blocked(let ids): return handleSwitches(ids, at: now)
        case .overrun(let packets): return reportOverrun(packets)
        case .link(let event): return forward(event, at: now)
        case .tick: return wake(at: now)
        case .stop: return stop()
        }
    }
}

// MARK: - Times

extension HCIScanMachine {
    /// The rest after the first failure to open an adapter. It doubles after each further failure.
    package static let firstRest = Duration.seconds(1)
    package static let longestRest = Duration.seconds(30)
    /// The interval between attempts with a blocked adapter, in case the kernel doesn't report its radio switches.
    package static let blockedCheck = Duration.seconds(5)
    /// How long after it was opened an adapter may lose power because another scan ended.
    package static let handoverTime = Duration.seconds(1)
    /// The longest delay between an adapter's loss of power and the report of the switch that caused it.
    package static let switchDelay = Duration.seconds(1)
}

// MARK: - Finding the adapter

extension HCIScanMachine {
    private mutating func search() -> [Directive] {
        state = .searching
        return [.listDevices]
    }

    private mutating func choose(from devices: [HCIDevice], at now: Instant) -> [Directive] {
        if case .opening(let device) = state {
            // Before its setup, an adapter has few known properties.
            if let known = devices.first(where: { $0.id == device.id }) { state = .opening(known) }
            return []
        }
        guard state == .searching else { return [] }
        guard let device = devices.first(where: { choice.includes($0.adapter) }) else {
            return reportMissing()
        }
        if device.isPowered {
            state = .opening(device)
            return [.open(device.id)]
        }
        if mayPowerUp {
            state = .opening(device)
            return [.powerUp(device.id)]
        }
        return turnOff(device, blocked.contains(device.id) ? .blocked : .poweredOff, at: now)
    }

    /// Reports that no adapter of the choice is present, unless the last report was the loss of one.
    private mutating func reportMissing() -> [Directive] {
        if case .yield(.unplugged, _, _) = lastReport { return [] }
        switch choice {
        case .first: return report(.unplugged, nil)
        case .named(let name): return report(.unplugged, name)
        case .address(let address): return report(.unplugged, nil, detail: "no adapter has the address \(address)")
        }
    }

    private mutating func handlePowerUp(_ id: UInt16, _ number: Int32?, at now: Instant) -> [Directive] {
        guard case .opening(let device) = state, device.id == id else { return [] }
        switch number {
        // The adapter was already on, but the kernel was about to power it off because no program used it.
        case nil, HCIErrorNumber.already:
            poweredUp = device.id
            return [.open(device.id)]
        case HCIErrorNumber.blockedBySwitch:
            return turnOff(device, .blocked, at: now, retry: now.advanced(by: Self.blockedCheck))
        case HCIErrorNumber.notPermitted:
            let grant = BluetoothError.grant(to: RunningProgram.path)
            return turnOff(
                device, .poweredOff, at: now, detail: "to let this program power the adapter on, run: \(grant)")
        case .some(let number): return refuse(device, "powering on the adapter failed", number, at: now)
        }
    }

    private mutating func handleOpening(_ number: Int32?, at now: Instant) -> [Directive] {
        guard case .opening(let device) = state else { return [] }
        if let number {
            guard number != HCIErrorNumber.notPermitted else {
                return stop() + [.fail(BluetoothError(call: "bind", number: number))]
            }
            return refuse(device, "opening the adapter failed", number, at: now)
        }
        var parameters = parameters
        parameters.usesRandomAddress = device.address == nil
        link = HCILinkMachine(parameters: parameters)
        state = .linked(device, since: now)
        failures = 0
        return forward(.opened, at: now)
    }

    private mutating func refuse(
        _ device: HCIDevice, _ what: String, _ number: Int32, at now: Instant
    ) -> [Directive] {
        failures += 1
        let rest = min(Self.firstRest * (1 << min(failures - 1, 10)), Self.longestRest)
        return turnOff(
            device, .refused, at: now, retry: now.advanced(by: rest),
            detail: "\(what): \(BluetoothError.text(ofSystemError: number))")
    }

    private mutating func turnOff(
        _ device: HCIDevice, _ status: RadioEvent.Status, at now: Instant, retry: Instant? = nil, detail: String? = nil
    ) -> [Directive] {
        state = .off(device, status, since: now, retry: retry)
        return report(status, device.name, detail: detail)
    }
}

// MARK: - Following the adapter

extension HCIScanMachine {
    /// The adapter in use, in any state.
    private var device: HCIDevice? {
        switch state {
        case .opening(let device), .off(let device, _, _, _), .linked(let device, _): device
        case .idle, .searching, .finished: nil
        }
    }

    private mutating func follow(_ change: HCIDeviceChange, id: UInt16, at now: Instant) -> [Directive] {
        // An adapter's name is known only after its setup, which powers it on and off.
        if state == .searching { return [.listDevices] }
        guard let device, device.id == id else { return [] }
        switch change {
        case .registered: return []
        case .unregistered:
            mayPowerUp = true
            poweredUp = nil
            return drop() + report(.unplugged, device.name) + search()
        case .up:
            if case .off = state { return search() }
            return []
        case .down:
            guard case .linked(_, let since) = state else { return [] }
            poweredUp = nil
            // Another scan, which had powered the adapter on, ended without detecting this one. A person can't switch
            // the adapter off so soon.
            guard since.duration(to: now) > Self.handoverTime else { return drop() + search() }
            let isBlocked = blocked.contains(id)
            mayPowerUp = isBlocked
            return drop() + turnOff(device, isBlocked ? .blocked : .poweredOff, at: now)
        }
    }

    private mutating func handleSwitches(_ ids: Set<UInt16>, at now: Instant) -> [Directive] {
        let before = blocked
        blocked = ids
        guard case .off(let device, let status, let since, _) = state else { return [] }
        if ids.contains(device.id) {
            guard status != .blocked else { return [] }
            // The switch removed the power, not a person.
            if since.duration(to: now) <= Self.switchDelay { mayPowerUp = true }
            return turnOff(device, .blocked, at: now)
        }
        guard before.contains(device.id) || status == .blocked else { return [] }
        return search()
    }

    private mutating func lose(at now: Instant) -> [Directive] {
        guard case .linked(let device, _) = state else { return [] }
        failures += 1
        let rest = min(Self.firstRest * (1 << min(failures - 1, 10)), Self.longestRest)
        let close = drop()
        state = .off(device, .refused, since: now, retry: now.advanced(by: rest))
        return close
    }

    private mutating func wake(at now: Instant) -> [Directive] {
        switch state {
        case .off(_, let status, _, let retry):
            guard let retry, now >= retry else { return [] }
            if status == .blocked { mayPowerUp = true }
            return search()
        case .linked: return forward(.tick, at: now)
        case .idle, .searching, .opening, .finished: return []
        }
    }

    private mutating func stop() -> [Directive] {
        var directives: [Directive] = []
        if case .linked = state {
            directives = link.close().map(Directive.send) + [.close]
        }
        if let id = poweredUp, !link.hasSeenOtherScanners { directives.append(.powerDown(id)) }
        state = .finished
        return directives
    }

    /// Reverses an event that came after the end of the scan.
    private func undo(_ event: Event) -> [Directive] {
        if case .poweredUp(let id, nil) = event { return [.powerDown(id)] }
        return []
    }

    /// Closes the link to an adapter that no longer accepts commands.
    private mutating func drop() -> [Directive] {
        guard case .linked = state else { return [] }
        _ = link.close()
        return [.close]
    }
}

// MARK: - The link

extension HCIScanMachine {
    private mutating func forward(_ event: HCILinkMachine.Event, at now: Instant) -> [Directive] {
        guard case .linked(let device, _) = state else { return [] }
        var directives: [Directive] = []
        for directive in link.handle(event, at: now) {
            switch directive {
            case .send(let command): directives.append(.send(command))
            case .report(let status, let detail): directives += report(status, device.name, detail: detail)
            }
        }
        return directives
    }

    private mutating func reportOverrun(_ packets: Int) -> [Directive] {
        guard case .linked(let device, _) = state, link.phase == .scanning || link.phase == .sharing else { return [] }
        let status = link.phase == .scanning ? RadioEvent.Status.scanning : .sharing
        let detail = "\(packets) packets were lost because they were not read fast enough"
        return report(status, device.name, detail: detail)
    }

    /// Reports the new status of the radio, unless it equals the last report.
    private mutating func report(
        _ status: RadioEvent.Status, _ adapter: String?, detail: String? = nil
    ) -> [Directive] {
        let directive = Directive.yield(status, adapter: adapter, detail: detail)
        guard directive != lastReport else { return [] }
        lastReport = directive
        return [directive]
    }
}

/// The adapters that the kernel's radio switches (rfkill) block.
///
/// Source: Linux, include/uapi/linux/rfkill.h, struct rfkill_event.
package struct RadioSwitchTable: Sendable, Equatable {
    /// The length of an event in bytes.
    package static let eventLength = 8

    private struct Switch: Equatable {
        var adapter: UInt16
        var isBlocked: Bool
    }

    private enum Layout {
        static let bluetooth: UInt8 = 2
        static let added: UInt8 = 0
        static let removed: UInt8 = 1
        static let changed: UInt8 = 2
    }

    private var switches: [UInt32: Switch] = [:]

    /// Creates a table without switches.
    package init() {}

    /// The numbers of the blocked adapters.
    package var blocked: Set<UInt16> { Set(switches.values.lazy.filter(\.isBlocked).map(\.adapter)) }

    /// Applies an event.
    ///
    /// - Parameter adapterOf: Returns the number of the adapter that a switch belongs to; nil if it belongs to none.
    package mutating func apply(_ event: Span<UInt8>, adapterOf: (UInt32) -> UInt16?) {
        guard event.count >= Self.eventLength, event[4] == Layout.bluetooth else { return }
        let index = (0..<4).reduce(UInt32(0)) { $0 | UInt32(event[$1]) << UInt32(8 * $1) }
        switch event[5] {
        case Layout.added, Layout.changed:
            guard let adapter = switches[index]?.adapter ?? adapterOf(index) else { return }
            switches[index] = Switch(adapter: adapter, isBlocked: event[6] != 0 || event[7] != 0)
        case Layout.removed: switches[index] = nil
        default: return
        }
    }
}
