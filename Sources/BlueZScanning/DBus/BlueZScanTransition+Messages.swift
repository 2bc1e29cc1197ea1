import BeaconScanning
import IndoorVocabulary

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
            BlueZObjects.isDevice(path, of: adapter)
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
            guard case .setPower = pending.call else {
                return memory.adapter?.adapter.isPowered == true ? state : proceed()
            }
            return memory.adapter?.adapter.isPowered == true ? proceed() : state
        case .apart, .stopping, .ended: return state
        }
    }
}
