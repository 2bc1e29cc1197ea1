import IndoorLocalization

extension BlueZScanTurn {
    /// The state after a message.
    mutating func received(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        switch message.kind {
        case .methodReturn, .error: return answered(message, state)
        case .methodCall: return called(message, state)
        case .signal:
            if message.sender == "org.freedesktop.DBus", message.member == "NameOwnerChanged" {
                return ownerChanged(message, state)
            }
            // Whoever else sends signals is not the service.
            guard let owner = memory.owner, message.sender == owner else { return state }
            return signaled(message, state)
        }
    }

    // MARK: - The service

    /// The service asks for our monitor, or gives it up.
    private mutating func called(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        guard message.sender == memory.owner else {
            if message.expectsReply {
                let text = "Only the Bluetooth service is answered here."
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
        // The service that has answered already, or is being asked.
        if owner == memory.owner { return state }
        if memory.owner != nil || owner.isEmpty {
            memory.forgetService()
            tell(.serviceLost)
        }
        if owner.isEmpty { return .resting(until: nil) }
        memory.failures = 0
        return survey()
    }

    // MARK: - Signals of the service

    private mutating func signaled(_ message: BusMessage, _ state: Machine.State) -> Machine.State {
        switch message.member {
        case "InterfacesAdded":
            guard message.body.count == 2, let path = message.body[0].text else { return state }
            memory.objects.add(path, message.body[1])
            let properties = message.body[1].properties
            if let device = properties[BlueZObjects.Interface.device]?.properties {
                hear(path, device, invalidated: [])
                return state
            }
        case "InterfacesRemoved":
            guard message.body.count == 2, let path = message.body[0].text else { return state }
            let interfaces = message.body[1].texts
            memory.objects.remove(path, interfaces)
            if interfaces == [BlueZObjects.Interface.device] { return state }
        case "PropertiesChanged":
            guard message.body.count == 3, let path = message.path else { return state }
            let changes = message.body[1].properties
            guard message.body[0].text == BlueZObjects.Interface.adapter else {
                hear(path, changes, invalidated: message.body[2].texts)
                return state
            }
            memory.objects.changeAdapter(path, changes)
            if path == memory.adapterPath, changes["Discovering"]?.flag == false { return discoveryEnded(state) }
        default: return state
        }
        return reconsider(state)
    }

    /// A device's properties were told; only what the adapter heard that scans for us is delivered.
    private mutating func hear(_ path: String, _ changes: BusProperties, invalidated: [String]) {
        let heard = memory.objects.changeDevice(path, changes, invalidated: invalidated, at: now)
        guard let heard, memory.told?.status.isHearing == true, let adapter = memory.adapterPath,
            BlueZObjects.isDevice(path, of: adapter)
        else { return }
        // Malformed frames are no beacons here: the bytes are the service's, there is nobody to tell.
        let sighting = try? heard.sighting()
        if memory.settings.content == .everything { directives.append(.yield(.advertisement(heard))) }
        if let sighting { directives.append(.yield(.sighting(sighting))) }
    }

    /// The service has ended all discovery. Its word on the adapter's power may follow, so this is not told at once.
    private mutating func discoveryEnded(_ state: Machine.State) -> Machine.State {
        guard memory.isDiscovering, memory.adapter?.adapter.isPowered == true else { return reconsider(state) }
        memory.isDiscovering = false
        if case .resting = state { return .resting(until: now.advanced(by: BlueZScanSettings.firstPause)) }
        return state
    }

    // MARK: - The next step

    /// Looks whether news of the adapter change what is to be done next.
    private mutating func reconsider(_ state: Machine.State) -> Machine.State {
        guard memory.owner != nil else { return state }
        let path = memory.objects.path(of: memory.settings.adapter, preferring: memory.adapterPath)
        switch state {
        case .resting: return proceed()
        // The pending call is for an adapter that is gone or has no power any more: its answer does not matter.
        case .asking(let pending):
            if path != memory.adapterPath { return proceed() }
            guard case .setPower = pending.call else {
                return memory.adapter?.adapter.isPowered == true ? state : proceed()
            }
            return memory.adapter?.adapter.isPowered == true ? proceed() : state
        case .apart, .stopping, .ended: return state
        }
    }

    /// Takes the next step that is missing before the adapter hears.
    mutating func proceed() -> Machine.State {
        let path = memory.objects.path(of: memory.settings.adapter, preferring: memory.adapterPath)
        guard let path, let adapter = memory.objects.adapters[path] else {
            memory.forgetAdapter()
            // A service that starts shows its adapters one after the other.
            if let due = memory.adaptersDue, due > now { return .resting(until: due) }
            tell(.unplugged, "No adapter fits \"\(memory.settings.adapter)\".")
            return .resting(until: nil)
        }
        if path != memory.adapterPath {
            memory.forgetAdapter()
            memory.adapterPath = path
        }
        guard adapter.adapter.isPowered else { return power(adapter, at: path) }
        memory.hasSeenPower = true
        if memory.settings.usesMonitor, adapter.takesMonitors, memory.monitor == .untried {
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
        return hearing()
    }

    private mutating func hearing() -> Machine.State {
        guard memory.isDiscovering || memory.monitor == .registered else {
            tell(.refused, "The Bluetooth service takes no advertisement monitor.")
            return .resting(until: nil)
        }
        tell(.scanning, memory.monitor == .registered ? Self.detailWithMonitor : Self.detailWithoutMonitor)
        return .resting(until: nil)
    }

    /// An adapter that was met without power is given some; one that lost it later is left so.
    private mutating func power(_ adapter: BlueZObjects.Adapter, at path: String) -> Machine.State {
        memory.isDiscovering = false
        memory.isFiltered = false
        memory.discoveryIsStale = false
        if memory.poweredPath == path { memory.poweredPath = nil }
        if adapter.isBlocked {
            tell(.blocked, "\"rfkill unblock bluetooth\" lifts the block.")
            return .resting(until: nil)
        }
        if !memory.hasSeenPower { return .asking(ask(.setPower(adapter: path, true))) }
        tell(.poweredOff)
        return .resting(until: nil)
    }

    static let detailWithMonitor = "The Bluetooth service discovers and monitors; it may merge reports."
    static let detailWithoutMonitor = "The Bluetooth service discovers; it may merge reports."
}
