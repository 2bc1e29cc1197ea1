import IndoorVocabulary

/// Finds the adapter that is to scan, follows it through plugging and power, and lets its `HCILinkMachine` scan.
package struct HCIScanMachine: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        case begin
        /// The adapters that are there, by number.
        case devices([HCIDevice])
        /// What became of an attempt to power an adapter up: nil, or the error number. May take seconds.
        case poweredUp(UInt16, Int32?)
        /// What became of an attempt to open a socket to the adapter: nil, or the error number.
        case opened(Int32?)
        /// The socket to the adapter is dead.
        case lost
        /// Something happened to an adapter.
        case device(HCIDeviceChange, id: UInt16)
        /// The adapters that radio switches block.
        case blocked(Set<UInt16>)
        /// Packets of the adapter went by unheard because they were not taken in time.
        case overrun(packets: Int)
        /// Something that concerns the adapter's link.
        case link(HCILinkMachine.Event)
        /// The deadline has passed.
        case tick
        /// The scan is to end.
        case stop
    }

    package enum Directive: Sendable, Equatable {
        /// Answer with `.devices`.
        case listDevices
        /// Answer with `.poweredUp`.
        case powerUp(UInt16)
        case powerDown(UInt16)
        /// Answer with `.devices`, as an adapter tells its address only when it has power, and with `.opened`.
        case open(UInt16)
        case close
        case send(HCICommand)
        case yield(RadioEvent.Status, adapter: String?, detail: String?)
        case fail(BluetoothError)
    }

    package enum State: Sendable, Equatable {
        case idle
        /// No adapter is there that is meant; any change may bring one.
        case searching
        /// An adapter is being powered up, or its socket opened.
        case opening(HCIDevice)
        /// The adapter does not hear since an instant, for the reason that was told; tried again at another.
        case off(HCIDevice, RadioEvent.Status, since: Instant, retry: Instant?)
        /// The adapter's link is open since an instant.
        case linked(HCIDevice, since: Instant)
        case finished
    }

    package let choice: AdapterChoice
    package private(set) var state = State.idle
    package private(set) var link: HCILinkMachine
    private let parameters: HCIScanParameters
    /// Whether an adapter without power is to be powered up: not if somebody switched it off while it scanned.
    private var mayPowerUp = true
    /// The adapter that was powered up, and is to be powered down again unless others scan with it by then.
    private var poweredUp: UInt16?
    private var blocked: Set<UInt16> = []
    /// What was told last; nothing is told twice.
    private var told: Directive?
    private var failures = 0

    /// Begins with nothing.
    package init(choice: AdapterChoice, parameters: HCIScanParameters) {
        self.choice = choice
        self.parameters = parameters
        link = HCILinkMachine(parameters: parameters)
    }

    /// When a `.tick` is wanted; nil if only events go on.
    package var deadline: Instant? {
        switch state {
        case .off(_, _, _, let retry): retry
        case .linked: link.deadline
        case .idle, .searching, .opening, .finished: nil
        }
    }

    /// Takes in what happened, and says what is to be done, in order.
    package mutating func handle(_ event: Event, at now: Instant) -> [Directive] {
        guard state != .finished else { return undo(event) }
        switch event {
        case .begin: return search()
        case .devices(let devices): return choose(from: devices, at: now)
        case .poweredUp(let id, let number): return takePowerUp(id, number, at: now)
        case .opened(let number): return takeOpening(number, at: now)
        case .lost: return lose(at: now)
        case .device(let change, let id): return follow(change, id: id, at: now)
        case .blocked(let ids): return takeSwitches(ids, at: now)
        case .overrun(let packets): return takeOverrun(packets)
        case .link(let event): return hand(event, at: now)
        case .tick: return wake(at: now)
        case .stop: return stop()
        }
    }
}

// MARK: - Times

extension HCIScanMachine {
    /// The rest after an adapter could not be opened; doubled after each further failure.
    package static let firstRest = Duration.seconds(1)
    package static let longestRest = Duration.seconds(30)
    /// How often a blocked adapter is tried, should the kernel not tell what its radio switches do.
    package static let blockedCheck = Duration.seconds(5)
    /// How soon after it was opened an adapter may lose its power to a scan that ended.
    package static let handoverTime = Duration.seconds(1)
    /// How far an adapter's loss of power may lie before the news that a switch blocks it, to be caused by it.
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
            // What is known of an adapter before it was set up is little.
            if let known = devices.first(where: { $0.id == device.id }) { state = .opening(known) }
            return []
        }
        guard state == .searching else { return [] }
        guard let device = devices.first(where: { choice.includes($0.adapter) }) else {
            return tellMissing()
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

    /// Tells that no adapter is there that is meant, unless the loss of one was told last.
    private mutating func tellMissing() -> [Directive] {
        if case .yield(.unplugged, _, _) = told { return [] }
        switch choice {
        case .first: return tell(.unplugged, nil)
        case .named(let name): return tell(.unplugged, name)
        case .address(let address): return tell(.unplugged, nil, detail: "no adapter has the address \(address)")
        }
    }

    private mutating func takePowerUp(_ id: UInt16, _ number: Int32?, at now: Instant) -> [Directive] {
        guard case .opening(let device) = state, device.id == id else { return [] }
        switch number {
        // It ran already, but the kernel was about to power it down for want of users.
        case nil, HCIErrorNumber.already:
            poweredUp = device.id
            return [.open(device.id)]
        case HCIErrorNumber.blockedBySwitch:
            return turnOff(device, .blocked, at: now, retry: now.advanced(by: Self.blockedCheck))
        case HCIErrorNumber.notPermitted:
            let grant = BluetoothError.grant(to: RunningProgram.path)
            return turnOff(device, .poweredOff, at: now, detail: "to have it powered on by itself: \(grant)")
        case .some(let number): return refuse(device, "it cannot be powered on", number, at: now)
        }
    }

    private mutating func takeOpening(_ number: Int32?, at now: Instant) -> [Directive] {
        guard case .opening(let device) = state else { return [] }
        if let number {
            guard number != HCIErrorNumber.notPermitted else {
                return stop() + [.fail(BluetoothError(call: "bind", number: number))]
            }
            return refuse(device, "it cannot be opened", number, at: now)
        }
        var parameters = parameters
        parameters.usesRandomAddress = device.address == nil
        link = HCILinkMachine(parameters: parameters)
        state = .linked(device, since: now)
        failures = 0
        return hand(.opened, at: now)
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
        return tell(status, device.name, detail: detail)
    }
}

// MARK: - Following the adapter

extension HCIScanMachine {
    /// The adapter that is in use, whatever its state.
    private var device: HCIDevice? {
        switch state {
        case .opening(let device), .off(let device, _, _, _), .linked(let device, _): device
        case .idle, .searching, .finished: nil
        }
    }

    private mutating func follow(_ change: HCIDeviceChange, id: UInt16, at now: Instant) -> [Directive] {
        // What an adapter is called is known only once it was set up, which powers it up and down.
        if state == .searching { return [.listDevices] }
        guard let device, device.id == id else { return [] }
        switch change {
        case .registered: return []
        case .unregistered:
            mayPowerUp = true
            poweredUp = nil
            return drop() + tell(.unplugged, device.name) + search()
        case .up:
            if case .off = state { return search() }
            return []
        case .down:
            guard case .linked(_, let since) = state else { return [] }
            poweredUp = nil
            // Another scan that had powered it up has ended, and has not seen this one begin: no person is so quick.
            guard since.duration(to: now) > Self.handoverTime else { return drop() + search() }
            let isBlocked = blocked.contains(id)
            mayPowerUp = isBlocked
            return drop() + turnOff(device, isBlocked ? .blocked : .poweredOff, at: now)
        }
    }

    private mutating func takeSwitches(_ ids: Set<UInt16>, at now: Instant) -> [Directive] {
        let before = blocked
        blocked = ids
        guard case .off(let device, let status, let since, _) = state else { return [] }
        if ids.contains(device.id) {
            guard status != .blocked else { return [] }
            // The switch took its power, not a person's wish.
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
        case .linked: return hand(.tick, at: now)
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

    /// What came too late for the scan, and is not to stay.
    private func undo(_ event: Event) -> [Directive] {
        if case .poweredUp(let id, nil) = event { return [.powerDown(id)] }
        return []
    }

    /// Closes the link to an adapter that takes no commands any more.
    private mutating func drop() -> [Directive] {
        guard case .linked = state else { return [] }
        _ = link.close()
        return [.close]
    }
}

// MARK: - The link

extension HCIScanMachine {
    private mutating func hand(_ event: HCILinkMachine.Event, at now: Instant) -> [Directive] {
        guard case .linked(let device, _) = state else { return [] }
        var directives: [Directive] = []
        for directive in link.handle(event, at: now) {
            switch directive {
            case .send(let command): directives.append(.send(command))
            case .report(let status, let detail): directives += tell(status, device.name, detail: detail)
            }
        }
        return directives
    }

    private mutating func takeOverrun(_ packets: Int) -> [Directive] {
        guard case .linked(let device, _) = state, link.phase == .scanning || link.phase == .sharing else { return [] }
        let status = link.phase == .scanning ? RadioEvent.Status.scanning : .sharing
        return tell(status, device.name, detail: "\(packets) packets were lost, as they were not taken in time")
    }

    /// Tells what the radio does from now on, unless it was told last.
    private mutating func tell(_ status: RadioEvent.Status, _ adapter: String?, detail: String? = nil) -> [Directive] {
        let directive = Directive.yield(status, adapter: adapter, detail: detail)
        guard directive != told else { return [] }
        told = directive
        return [directive]
    }
}
