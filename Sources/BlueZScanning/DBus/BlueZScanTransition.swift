import BeaconScanning
import IndoorVocabulary

/// The transition of `BlueZScanMachine` for one event, with the resulting memory and directives.
struct BlueZScanTransition {
    typealias Machine = BlueZScanMachine

    var memory: BlueZScanMemory
    let now: Instant
    var directives: [Machine.Directive] = []

    init(memory: BlueZScanMemory, now: Instant) {
        self.memory = memory
        self.now = now
    }

    /// Returns the next state.
    mutating func state(after state: Machine.State, _ event: Machine.Event) -> Machine.State {
        switch (event, state) {
        // A shell that closes may still pass on earlier events.
        case (_, .ended): .ended
        case (.stop, _): stop(state)
        case (.connected, _):
            connected(state)
        case (.connectionFailed(let reason, let isDenied), _): connectionFailed(reason, isDenied)
        case (.disconnected, .stopping): end()
        case (.disconnected, _): busLost()
        case (.received(let message), _): received(message, state)
        case (.overrun(let readings), _): overrun(readings, state)
        case (.tick, _): ticked(state)
        }
    }

    // MARK: - The bus

    private mutating func connected(_ state: Machine.State) -> Machine.State {
        memory.wasConnected = true
        memory.failures = 0
        return listObjects()
    }

    private mutating func connectionFailed(_ reason: String, _ isDenied: Bool) -> Machine.State {
        if isDenied { return fail(.busForbidden(reason: reason)) }
        return memory.wasConnected ? busLost() : fail(.busUnavailable(reason: reason))
    }

    private mutating func busLost() -> Machine.State {
        memory.forgetService()
        memory.failures += 1
        report(.serviceLost, "The connection to the message bus was lost.")
        return .apart(until: now.advanced(by: BlueZScanSettings.pause(failures: memory.failures)))
    }

    // MARK: - Time

    private mutating func ticked(_ state: Machine.State) -> Machine.State {
        guard let due = Self.dueTime(of: state), due <= now else { return state }
        switch state {
        case .apart:
            directives.append(.connect)
            return .apart(until: nil)
        case .asking(let pending):
            return refused(pending.call, "org.freedesktop.DBus.Error.NoReply", "The service did not answer.")
        case .resting: return memory.owner == nil ? listObjects() : renew() ?? proceed()
        case .stopping(let pending, then: let calls): return finish(calls, undoing: pending.call)
        case .ended: return .ended
        }
    }

    private static func dueTime(of state: Machine.State) -> Instant? {
        switch state {
        case .apart(let instant), .resting(let instant): instant
        case .asking(let pending), .stopping(let pending, then: _): pending.deadline
        case .ended: nil
        }
    }

    // MARK: - Calls and their answers

    mutating func ask(_ call: BlueZCall, timeout: Duration? = nil) -> Machine.Pending {
        memory.lastSerial = memory.lastSerial == .max ? BlueZScanMemory.serialsStart : memory.lastSerial + 1
        directives.append(.send(call.message(serial: memory.lastSerial)))
        let limit = (timeout ?? call.timeout) * memory.settings.patience
        return Machine.Pending(call: call, serial: memory.lastSerial, deadline: now.advanced(by: limit))
    }

    /// Lists the service's objects again.
    mutating func listObjects() -> Machine.State { .asking(ask(.listObjects)) }

    /// Handles the answer to the pending call. Ignores answers to calls that are no longer pending.
    mutating func answered(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        switch state {
        case .asking(let pending) where pending.serial == message.replySerial:
            guard message.kind == .error else { return granted(pending.call, message) }
            return refused(pending.call, message.errorName ?? "", message.errorText)
        case .stopping(let pending, then: let calls) where pending.serial == message.replySerial:
            return finish(calls, undoing: message.kind == .error ? nil : pending.call)
        default: return state
        }
    }

    private mutating func granted(_ call: BlueZCall, _ answer: BusMessage) -> Machine.State {
        switch call {
        case .listObjects:
            memory.owner = answer.sender
            memory.objects = BlueZObjects(managed: answer.body.first ?? .dictionary([:], of: "oa{sa{sv}}"))
            memory.adaptersDue = now.advanced(by: BlueZScanSettings.adapterTimeout)
        case .setPower(let adapter, let isOn):
            // The signal may arrive later.
            memory.objects.changeAdapter(adapter, ["Powered": .boolean(isOn)])
            memory.poweredPath = isOn ? adapter : nil
        case .registerMonitor: memory.monitor = .registered
        case .unregisterMonitor: memory.monitor = .untried
        case .setFilter: memory.isFiltered = true
        case .startDiscovery:
            memory.isDiscovering = true
            memory.discoveryIsStale = false
            beginTerm()
        case .stopDiscovery:
            memory.isDiscovering = false
            memory.discoveryIsStale = false
        }
        return proceed()
    }

    private mutating func refused(_ call: BlueZCall, _ errorName: String, _ text: String) -> Machine.State {
        switch call {
        case .registerMonitor, .unregisterMonitor:
            // Discovery works without a monitor.
            memory.monitor = .refused
            return proceed()
        case .stopDiscovery:
            memory.isDiscovering = false
            memory.discoveryIsStale = false
            return proceed()
        case .listObjects, .setPower, .setFilter, .startDiscovery: break
        }
        if BlueZRefusal.denies(errorName) { return fail(.busForbidden(reason: text)) }
        if call == .listObjects {
            memory.forgetService()
            report(.serviceLost, text)
            // If the service is absent, a signal reports its return. If it is present but silent, ask again later.
            return BlueZRefusal.isAbsence(errorName) ? .resting(until: nil) : .resting(until: nextTry())
        }
        if case .setPower = call, BlueZRefusal.isBusy(errorName) { return .resting(until: nextTry()) }
        if case .startDiscovery = call { memory.discoveryIsStale = true }
        if case .setPower = call, errorName == BlueZRefusal.blocked {
            report(.blocked, "\(text): unblock the adapter with \"rfkill unblock bluetooth\".")
        } else if memory.monitor == .registered {
            report(.sharing, "The service refuses discovery; the advertisement monitor continues: \(text)")
        } else if memory.adapter?.isDiscovering == true {
            // The service sends the reports of any program's discovery to all programs.
            report(.sharing, "The service refuses discovery; the scan uses another program's discovery: \(text)")
        } else {
            report(.refused, text)
        }
        return .resting(until: nextTry())
    }

    mutating func nextTry() -> Instant {
        memory.failures += 1
        return now.advanced(by: BlueZScanSettings.pause(failures: memory.failures))
    }

    // MARK: - The end

    private mutating func stop(_ state: Machine.State) -> Machine.State {
        if case .stopping = state { return state }
        guard let adapter = memory.adapterPath, memory.owner != nil else { return end() }
        var calls: [BlueZCall] = []
        if memory.isDiscovering { calls.append(.stopDiscovery(adapter: adapter)) }
        if memory.monitor == .registered { calls.append(.unregisterMonitor(adapter: adapter)) }
        if let powered = memory.poweredPath { calls.append(.setPower(adapter: powered, false)) }
        // The service refuses to undo a call before it has answered it.
        if case .asking(var pending) = state, pending.call.opposite != nil {
            let limit = pending.call.timeoutAtEnd * memory.settings.patience
            pending.deadline = min(pending.deadline, now.advanced(by: limit))
            return .stopping(pending, then: calls)
        }
        return finish(calls)
    }

    /// Sends the next of the remaining calls at the end, whether or not the last one succeeded.
    ///
    /// - Parameter done: the call before them, if it succeeded or was not answered: it is undone first.
    private mutating func finish(_ remaining: [BlueZCall], undoing done: BlueZCall? = nil) -> Machine.State {
        let calls = [done?.opposite].compactMap(\.self) + remaining
        guard let call = calls.first else { return end() }
        return .stopping(ask(call, timeout: BlueZScanSettings.timeoutAtEnd), then: Array(calls.dropFirst()))
    }

    mutating func fail(_ error: BluetoothError) -> Machine.State {
        directives.append(.fail(error))
        return end()
    }

    private mutating func end() -> Machine.State {
        directives.append(.close)
        return .ended
    }

    // MARK: - Reports

    /// Reports that readings were lost, with the current status of the radio.
    private mutating func overrun(_ readings: Int, _ state: Machine.State) -> Machine.State {
        guard var event = memory.lastEvent else { return state }
        event.instant = now
        event.detail = "\(readings) readings were lost because the program did not read them fast enough."
        directives.append(.yield(.radio(event)))
        return state
    }

    /// Reports the status of the radio, unless it equals the last report.
    mutating func report(_ status: RadioEvent.Status, _ detail: String? = nil) {
        let adapter = memory.adapter?.adapter.name
        if let last = memory.lastEvent, last.status == status, last.adapter == adapter, last.detail == detail { return }
        let event = RadioEvent(instant: now, status: status, adapter: adapter, detail: detail)
        memory.lastEvent = event
        directives.append(.yield(.radio(event)))
    }
}

/// D-Bus error names that a scan distinguishes.
enum BlueZRefusal {
    static let blocked = "org.bluez.Error.Blocked"

    /// Returns whether the service is already powering the adapter on, as it does when it starts.
    static func isBusy(_ errorName: String) -> Bool {
        errorName == "org.bluez.Error.Busy" || errorName == "org.bluez.Error.InProgress"
    }

    /// Returns whether the bus or the service denies a call permanently.
    static func denies(_ errorName: String) -> Bool {
        [
            "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed",
            "org.bluez.Error.NotAuthorized", "org.bluez.Error.NotPermitted",
        ].contains(errorName)
    }

    /// Returns whether no service owns the name, and the bus can't start one.
    static func isAbsence(_ errorName: String) -> Bool {
        errorName == "org.freedesktop.DBus.Error.ServiceUnknown"
            || errorName == "org.freedesktop.DBus.Error.NameHasNoOwner"
            || errorName.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
            || errorName.hasPrefix("org.freedesktop.systemd1.")
    }
}

extension BlueZScanTransition {
    /// Handles a message and returns the next state.
    mutating func received(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        switch message.kind {
        case .methodReturn, .error: return answered(message, state)
        case .methodCall: return called(message, state)
        case .signal:
            if message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged" {
                return ownerChanged(message, state)
            }
            // Ignore signals from any sender except the service.
            guard let owner = memory.owner, message.sender == owner else { return state }
            return signaled(message, state)
        }
    }

    // MARK: - The service

    /// Handles a call from the service, which reads our monitor or releases it.
    private mutating func called(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        guard message.sender == memory.owner else {
            if message.expectsReply {
                let text = "Only the Bluetooth service may call this object."
                directives.append(.send(message.refusal("org.freedesktop.DBus.Error.AccessDenied", text)))
            }
            return state
        }
        if let answer = AdvertisementMonitor.answer(message) { directives.append(.send(answer)) }
        guard message.interface == AdvertisementMonitor.interface, message.member == "Release" else { return state }
        memory.monitor = .refused
        return reconsider(state)
    }

    private mutating func ownerChanged(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        guard message.body.count == 3, message.body[0].text == BlueZCall.service else { return state }
        let owner = message.body[2].text ?? ""
        if case .stopping = state { return state }
        // The service that has already answered, or has a pending call.
        if owner == memory.owner { return state }
        if memory.owner != nil || owner.isEmpty {
            memory.forgetService()
            report(.serviceLost)
        }
        if owner.isEmpty { return .resting(until: nil) }
        memory.failures = 0
        return listObjects()
    }

    // MARK: - Signals of the service

    private mutating func signaled(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        let body = message.body
        switch (message.member, body.count) {
        case ("PropertiesChanged", 3):
            guard let path = message.path else { return state }
            let changes = body[1].properties
            if body[0].text == BlueZObjects.Interface.adapter { return adapterChanged(path, changes, state) }
            receiveDevice(path, changes, invalidated: body[2].texts)
            return state
        case ("InterfacesAdded", 2):
            guard let path = body[0].text else { return state }
            let device = body[1].properties[BlueZObjects.Interface.device]?.properties
            return changeObjects(state) { transition in
                transition.memory.objects.add(path, body[1])
                if let device { transition.receiveDevice(path, device, invalidated: []) }
            }
        case ("InterfacesRemoved", 2):
            guard let path = body[0].text else { return state }
            return changeObjects(state) { $0.memory.objects.remove(path, body[1].texts) }
        default: return state
        }
    }

    /// Changes the known objects, and determines the next step if the standing of the adapter changes.
    ///
    /// Other changes must not cut a pause short: a call that fails causes signals of its own.
    private mutating func changeObjects(
        _ state: Machine.State, _ change: (inout BlueZScanTransition) -> Void
    ) -> Machine.State {
        let former = memory.standing
        change(&self)
        return memory.standing == former ? state : reconsider(state)
    }

    /// Handles changed properties of an adapter.
    private mutating func adapterChanged(
        _ path: String, _ changes: BusProperties, _ state: Machine.State
    ) -> Machine.State {
        let next = changeObjects(state) { $0.memory.objects.changeAdapter(path, changes) }
        guard next == state, path == memory.adapterPath, changes["Discovering"]?.flag == false,
            memory.isDiscovering || memory.lastEvent?.status == .sharing
        else { return next }
        // The service has stopped all discovery. A signal about the adapter's power may follow, so wait with the
        // report.
        memory.isDiscovering = false
        guard case .resting = state else { return state }
        return .resting(until: now.advanced(by: BlueZScanSettings.firstPause))
    }

    /// Handles changed properties of a device, and delivers the advertisement if the adapter of this scan received it.
    private mutating func receiveDevice(_ path: String, _ changes: BusProperties, invalidated: [String]) {
        let heard = memory.objects.changeDevice(path, changes, invalidated: invalidated, at: now)
        guard let heard, memory.lastEvent?.status.isHearing == true, let adapter = memory.adapterPath,
            memory.adapter?.adapter.isPowered == true, BlueZObjects.isDevice(path, of: adapter)
        else { return }
        memory.duplicates.record(path)
        memory.heardAt = now
        // Ignore malformed frames: the bytes are rebuilt from the service's properties.
        let sighting = try? heard.sighting()
        if memory.settings.content == .everything { directives.append(.yield(.advertisement(heard))) }
        if let sighting { directives.append(.yield(.sighting(sighting))) }
    }

    /// Determines the next step after a change of the adapter.
    private mutating func reconsider(_ state: Machine.State) -> Machine.State {
        guard memory.owner != nil else { return state }
        let path = memory.objects.path(of: memory.settings.adapter, preferring: memory.adapterPath)
        switch state {
        case .resting: return proceed()
        // If the adapter of the pending call is gone or off, ignore the answer.
        case .asking(let pending):
            if path != memory.adapterPath { return proceed() }
            let isPowered = memory.adapter?.adapter.isPowered == true
            guard case .setPower = pending.call else { return isPowered ? state : proceed() }
            guard isPowered else { return state }
            // A service that powers the adapter on by itself has refused the call by now.
            memory.poweredPath = path
            return proceed()
        case .apart, .stopping, .ended: return state
        }
    }
}

extension BlueZScanTransition {
    /// Performs the next step that is missing before the adapter scans.
    mutating func proceed() -> Machine.State {
        let path = memory.objects.path(of: memory.settings.adapter, preferring: memory.adapterPath)
        guard let path, let adapter = memory.objects.adapters[path] else {
            memory.forgetAdapter()
            // A service that starts adds its adapters one after the other.
            if let due = memory.adaptersDue, due > now { return .resting(until: due) }
            report(.unplugged, "No adapter matches \"\(memory.settings.adapter)\".")
            return .resting(until: nil)
        }
        if path != memory.adapterPath {
            memory.forgetAdapter()
            memory.adapterPath = path
        }
        guard adapter.adapter.isPowered else { return power(adapter, at: path) }
        if !memory.hasSeenPower {
            memory.hasSeenPower = true
            memory.foundPoweredAt = memory.poweredPath == path ? nil : now
        }
        if memory.settings.usesMonitor, adapter.supportsMonitors, memory.monitor == .untried {
            return .asking(ask(.registerMonitor(adapter: path)))
        }
        if memory.settings.usesDiscovery, !memory.isDiscovering {
            if memory.discoveryIsStale { return .asking(ask(.stopDiscovery(adapter: path))) }
            if !memory.isFiltered {
                return .asking(ask(.setFilter(adapter: path, duplicates: memory.settings.wantsDuplicates)))
            }
            return .asking(ask(.startDiscovery(adapter: path)))
        }
        memory.failures = 0
        return reportScanning()
    }

    private mutating func reportScanning() -> Machine.State {
        guard memory.isDiscovering || memory.monitor == .registered else {
            report(.refused, "The Bluetooth service accepts no advertisement monitor.")
            return .resting(until: nil)
        }
        report(.scanning, memory.monitor == .registered ? Self.detailWithMonitor : Self.detailWithoutMonitor)
        return .resting(until: memory.renewalDue)
    }

    // MARK: - Restarting discovery

    /// Whether the controller may filter duplicates. With a monitor it doesn't.
    private var maySeeFiltering: Bool { memory.monitor != .registered && memory.duplicates.verdict != .repeats }

    /// Starts the next period of our discovery, after which the machine decides whether to restart it.
    mutating func beginTerm() {
        memory.duplicates.begin()
        memory.heardAt = now
        let term = maySeeFiltering ? memory.duplicates.term : nil
        memory.renewalDue = now.advanced(by: term ?? BlueZScanSettings.longestSilence)
    }

    /// Restarts discovery if the controller filters duplicates or was silent for a long time; returns nil if no restart
    /// is due.
    mutating func renew() -> Machine.State? {
        guard memory.isDiscovering, let path = memory.adapterPath, let due = memory.renewalDue, due <= now else {
            return nil
        }
        if maySeeFiltering {
            memory.duplicates.end()
            guard memory.duplicates.verdict == .filters, memory.settings.renewsDiscovery else {
                beginTerm()
                return nil
            }
        } else {
            let silence = memory.heardAt.advanced(by: BlueZScanSettings.longestSilence)
            guard silence <= now else {
                memory.renewalDue = silence
                return nil
            }
        }
        return .asking(ask(.stopDiscovery(adapter: path)))
    }

    // MARK: - Power

    /// Powers on an adapter that was off when found, or that the end of an earlier scan has powered off. Leaves an
    /// adapter off that was switched off later.
    private mutating func power(_ adapter: BlueZObjects.Adapter, at path: String) -> Machine.State {
        memory.isDiscovering = false
        memory.isFiltered = false
        memory.discoveryIsStale = false
        if memory.poweredPath == path { memory.poweredPath = nil }
        if adapter.isBlocked {
            report(.blocked, "Unblock it with \"rfkill unblock bluetooth\".")
            return .resting(until: nil)
        }
        if let found = memory.foundPoweredAt, found.duration(to: now) <= BlueZScanSettings.handoverTime {
            memory.hasSeenPower = false
        }
        memory.foundPoweredAt = nil
        if !memory.hasSeenPower { return .asking(ask(.setPower(adapter: path, true))) }
        report(.poweredOff)
        return .resting(until: nil)
    }

    static let detailWithMonitor = "The Bluetooth service scans with discovery and a monitor; it may merge reports."
    static let detailWithoutMonitor = "The Bluetooth service scans with discovery; it may merge reports."
}
