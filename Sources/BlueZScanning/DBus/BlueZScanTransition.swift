import IndoorVocabulary

/// One event's way through the rules: from what was known to what is known, with what is to be done.
struct BlueZScanTransition {
    typealias Machine = BlueZScanMachine

    var memory: BlueZScanMemory
    let now: Instant
    var directives: [Machine.Directive] = []

    init(memory: BlueZScanMemory, now: Instant) {
        self.memory = memory
        self.now = now
    }

    /// The state that follows.
    mutating func state(after state: Machine.State, _ event: Machine.Event) -> Machine.State {
        switch (event, state) {
        // A shell that closes may still hand over what had come before.
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
        return survey()
    }

    private mutating func connectionFailed(_ reason: String, _ isDenied: Bool) -> Machine.State {
        if isDenied { return fail(.busForbidden(reason: reason)) }
        return memory.wasConnected ? busLost() : fail(.busUnavailable(reason: reason))
    }

    private mutating func busLost() -> Machine.State {
        memory.forgetService()
        memory.failures += 1
        tell(.serviceLost, "The message bus is gone.")
        return .apart(until: now.advanced(by: BlueZScanSettings.pause(failures: memory.failures)))
    }

    // MARK: - Time

    private mutating func ticked(_ state: Machine.State) -> Machine.State {
        guard let due = Self.dueTime(of: state), due <= now else { return state }
        switch state {
        case .apart:
            directives.append(.connect)
            return .apart(until: nil)
        case .asking(let pending): return refused(pending.call, "org.freedesktop.DBus.Error.NoReply", "No answer came.")
        case .resting: return memory.owner == nil ? survey() : renew() ?? proceed()
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

    mutating func ask(_ call: BlueZCall, patience: Duration? = nil) -> Machine.Pending {
        memory.lastSerial = memory.lastSerial == .max ? BlueZScanMemory.serialsStart : memory.lastSerial + 1
        directives.append(.send(call.message(serial: memory.lastSerial)))
        return Machine.Pending(
            call: call, serial: memory.lastSerial, deadline: now.advanced(by: patience ?? call.patience))
    }

    /// Asks for the service's objects anew.
    mutating func survey() -> Machine.State { .asking(ask(.listObjects)) }

    /// An answer to the pending call; answers to calls that nobody waits for any more are ignored.
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
            memory.adaptersDue = now.advanced(by: BlueZScanSettings.patienceWithAdapters)
        case .setPower(let adapter, let isOn):
            // The signal of it may come later.
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
            // Discovery does without.
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
            tell(.serviceLost, text)
            // Its name on the bus tells when it is back; a service that has its name but is silent is asked again.
            return BlueZRefusal.isAbsence(errorName) ? .resting(until: nil) : .resting(until: nextTry())
        }
        if case .setPower = call, BlueZRefusal.isBusy(errorName) { return .resting(until: nextTry()) }
        if case .startDiscovery = call { memory.discoveryIsStale = true }
        if case .setPower = call, errorName == BlueZRefusal.blocked {
            tell(.blocked, "\(text): \"rfkill unblock bluetooth\" lifts the block.")
        } else if memory.monitor == .registered {
            tell(.sharing, "Discovery is refused, the advertisement monitor goes on: \(text)")
        } else if memory.adapter?.isDiscovering == true {
            // The service tells everybody of what it hears for somebody.
            tell(.sharing, "Discovery is refused, but one that runs is listened to: \(text)")
        } else {
            tell(.refused, text)
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

    /// Asks what is left to ask at the end, whatever became of the call before.
    private mutating func finish(_ calls: [BlueZCall]) -> Machine.State {
        guard let call = calls.first else { return end() }
        return .stopping(ask(call, patience: BlueZScanSettings.patienceAtEnd), then: Array(calls.dropFirst()))
    }

    mutating func fail(_ error: BluetoothError) -> Machine.State {
        directives.append(.fail(error))
        return end()
    }

    private mutating func end() -> Machine.State {
        directives.append(.close)
        return .ended
    }

    // MARK: - What is told

    /// Tells that readings were lost, beside what the radio does anyway.
    private mutating func overrun(_ readings: Int, _ state: Machine.State) -> Machine.State {
        guard var event = memory.told else { return state }
        event.instant = now
        event.detail = "\(readings) readings were lost, as nobody fetched them in time."
        directives.append(.yield(.radio(event)))
        return state
    }

    /// Tells what the radio does, unless that is what was told last.
    mutating func tell(_ status: RadioEvent.Status, _ detail: String? = nil) {
        let adapter = memory.adapter?.adapter.name
        if let told = memory.told, told.status == status, told.adapter == adapter, told.detail == detail { return }
        let event = RadioEvent(instant: now, status: status, adapter: adapter, detail: detail)
        memory.told = event
        directives.append(.yield(.radio(event)))
    }
}

/// Names of errors that mean something to a scan.
enum BlueZRefusal {
    static let blocked = "org.bluez.Error.Blocked"

    /// Whether the adapter is already being given power, as by a service that starts.
    static func isBusy(_ errorName: String) -> Bool {
        errorName == "org.bluez.Error.Busy" || errorName == "org.bluez.Error.InProgress"
    }

    /// Whether the bus or the service denies us what we ask, and will deny it again.
    static func denies(_ errorName: String) -> Bool {
        [
            "org.freedesktop.DBus.Error.AccessDenied", "org.freedesktop.DBus.Error.AuthFailed",
            "org.bluez.Error.NotAuthorized", "org.bluez.Error.NotPermitted",
        ].contains(errorName)
    }

    /// Whether nobody has the service's name, nor could be started to have it.
    static func isAbsence(_ errorName: String) -> Bool {
        errorName == "org.freedesktop.DBus.Error.ServiceUnknown"
            || errorName == "org.freedesktop.DBus.Error.NameHasNoOwner"
            || errorName.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
            || errorName.hasPrefix("org.freedesktop.systemd1.")
    }
}
