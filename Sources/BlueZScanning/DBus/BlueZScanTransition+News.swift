import BeaconScanning
import IndoorVocabulary

extension BlueZScanTransition {
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
        let body = message.body
        switch (message.member, body.count) {
        case ("PropertiesChanged", 3):
            guard let path = message.path else { return state }
            let changes = body[1].properties
            if body[0].text == BlueZObjects.Interface.adapter { return adapterChanged(path, changes, state) }
            hear(path, changes, invalidated: body[2].texts)
            return state
        case ("InterfacesAdded", 2):
            guard let path = body[0].text else { return state }
            let device = body[1].properties[BlueZObjects.Interface.device]?.properties
            return changeObjects(state) { turn in
                turn.memory.objects.add(path, body[1])
                if let device { turn.hear(path, device, invalidated: []) }
            }
        case ("InterfacesRemoved", 2):
            guard let path = body[0].text else { return state }
            return changeObjects(state) { $0.memory.objects.remove(path, body[1].texts) }
        default: return state
        }
    }

    /// Changes what is known, and looks at the next step if that changes how the adapter stands.
    ///
    /// Whatever else changes must not cut a pause short: a call that fails brings signals of its own.
    private mutating func changeObjects(
        _ state: Machine.State, _ change: (inout BlueZScanTransition) -> Void
    ) -> Machine.State {
        let former = memory.standing
        change(&self)
        return memory.standing == former ? state : reconsider(state)
    }

    /// An adapter's properties were told.
    private mutating func adapterChanged(
        _ path: String, _ changes: BusProperties, _ state: Machine.State
    ) -> Machine.State {
        let next = changeObjects(state) { $0.memory.objects.changeAdapter(path, changes) }
        guard next == state, path == memory.adapterPath, changes["Discovering"]?.flag == false,
            memory.isDiscovering || memory.told?.status == .sharing
        else { return next }
        // The service has ended all discovery. Its word on the adapter's power may follow, so this is not told at once.
        memory.isDiscovering = false
        guard case .resting = state else { return state }
        return .resting(until: now.advanced(by: BlueZScanSettings.firstPause))
    }

    /// A device's properties were told; only what the adapter heard that scans for us is delivered.
    private mutating func hear(_ path: String, _ changes: BusProperties, invalidated: [String]) {
        let heard = memory.objects.changeDevice(path, changes, invalidated: invalidated, at: now)
        guard let heard, memory.told?.status.isHearing == true, let adapter = memory.adapterPath,
            BlueZObjects.isDevice(path, of: adapter)
        else { return }
        memory.duplicates.hear(path)
        memory.heardAt = now
        // Malformed frames are no beacons here: the bytes are the service's, there is nobody to tell.
        let sighting = try? heard.sighting()
        if memory.settings.content == .everything { directives.append(.yield(.advertisement(heard))) }
        if let sighting { directives.append(.yield(.sighting(sighting))) }
    }

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
}
