/// What a scan through the Bluetooth service is to do.
package struct BlueZScanSettings: Hashable, Sendable {
    /// Which adapter scans.
    package var adapter: AdapterChoice
    /// What is delivered.
    package var content: ScanContent
    /// Whether the service is asked to report data that have not changed too.
    package var wantsDuplicates = true
    /// Whether the service is asked to discover, which scans actively, with pauses.
    package var usesDiscovery = true
    /// Whether the service is given an advertisement monitor, which scans passively, where it takes one.
    package var usesMonitor = true

    /// Whether discovery is begun anew every second where the controller filters duplicates.
    package var renewsDiscovery = true
    /// What the first event of a stream says beside its own detail.
    package var remark: String?

    /// How long the service may take to list its objects, which may have to start it, or to power an adapter on.
    package static let longPatience = Duration.seconds(30)
    /// How long the service may take for another answer. Of two programs that start discovery at once, it answers one.
    package static let patience = Duration.seconds(5)
    /// How long the service may take for an answer when the scan ends.
    package static let patienceAtEnd = Duration.seconds(2)
    /// How long a service that has shown its objects may take to add an adapter before it counts as unplugged.
    package static let patienceWithAdapters = Duration.seconds(2)
    /// How long a discovery may hear nothing before it is begun anew, should the controller or the service be stuck.
    package static let longestSilence = Duration.seconds(60)
    /// The first pause before what failed is tried again; each further one is twice as long.
    package static let firstPause = Duration.seconds(1)
    /// No pause is longer.
    package static let longestPause = Duration.seconds(30)

    /// Everything on: what gives the most reports.
    package init(adapter: AdapterChoice, content: ScanContent) {
        self.adapter = adapter
        self.content = content
    }

    /// The pause after so many failures in a row.
    package static func pause(failures: Int) -> Duration {
        min(firstPause * (1 << min(max(failures - 1, 0), 10)), longestPause)
    }
}

extension BlueZCall {
    /// How long its answer may take while the scan goes on.
    var patience: Duration {
        switch self {
        case .listObjects, .setPower: BlueZScanSettings.longPatience
        case .registerMonitor, .unregisterMonitor, .setFilter, .startDiscovery, .stopDiscovery:
            BlueZScanSettings.patience
        }
    }
}
