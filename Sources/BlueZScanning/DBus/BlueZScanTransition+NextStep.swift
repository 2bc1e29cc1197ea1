import IndoorVocabulary

extension BlueZScanTransition {
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
        return .resting(until: memory.renewalDue)
    }

    // MARK: - Beginning anew

    /// Whether the controller may filter duplicates: a monitor would have it not do so.
    private var maySeeFiltering: Bool { memory.monitor != .registered && memory.duplicates.verdict != .repeats }

    /// A discovery of ours has begun, or goes on, for as long as it is worth while.
    mutating func beginTerm() {
        memory.duplicates.begin()
        memory.heardAt = now
        let term = maySeeFiltering ? memory.duplicates.term : nil
        memory.renewalDue = now.advanced(by: term ?? BlueZScanSettings.longestSilence)
    }

    /// Begins discovery anew where the controller filters duplicates, or was silent for long; nil if nothing is due.
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
