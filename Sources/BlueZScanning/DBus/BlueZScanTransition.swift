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
        case .stopping(_, then: let calls): return finish(calls)
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
        return Machine.Pending(
            call: call, serial: memory.lastSerial, deadline: now.advanced(by: timeout ?? call.timeout))
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
            return finish(calls)
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
        return finish(calls)
    }

    /// Sends the next of the remaining calls at the end, whether or not the last one succeeded.
    private mutating func finish(_ calls: [BlueZCall]) -> Machine.State {
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
