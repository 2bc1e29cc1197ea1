import IndoorVocabulary

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
        memory.hasSeenPower = true
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

    /// Powers on an adapter that was off when found. Leaves an adapter off that was switched off later.
    private mutating func power(_ adapter: BlueZObjects.Adapter, at path: String) -> Machine.State {
        memory.isDiscovering = false
        memory.isFiltered = false
        memory.discoveryIsStale = false
        if memory.poweredPath == path { memory.poweredPath = nil }
        if adapter.isBlocked {
            report(.blocked, "Unblock it with \"rfkill unblock bluetooth\".")
            return .resting(until: nil)
        }
        if !memory.hasSeenPower { return .asking(ask(.setPower(adapter: path, true))) }
        report(.poweredOff)
        return .resting(until: nil)
    }

    static let detailWithMonitor = "The Bluetooth service scans with discovery and a monitor; it may merge reports."
    static let detailWithoutMonitor = "The Bluetooth service scans with discovery; it may merge reports."
}
