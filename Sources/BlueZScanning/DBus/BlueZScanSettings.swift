/// The settings of a scan through the Bluetooth service.
package struct BlueZScanSettings: Hashable, Sendable {
    /// The choice of the adapter that scans.
    package var adapter: AdapterChoice
    /// The readings to deliver.
    package var content: ScanContent
    /// Whether the scan asks the service to report unchanged data too.
    package var wantsDuplicates = true
    /// Whether the scan uses discovery, which scans actively and with pauses.
    package var usesDiscovery = true
    /// Whether the scan registers an advertisement monitor, which scans passively, if the service supports it.
    package var usesMonitor = true

    /// Whether the scan restarts discovery every second if the controller filters duplicates.
    package var renewsDiscovery = true
    /// A text that the first event of a stream adds to its own detail.
    package var initialDetail: String?

    /// The time limit for listing the objects, which may start the service, and for powering an adapter on.
    package static let longTimeout = Duration.seconds(30)
    /// The time limit for other answers. If two programs start discovery at the same time, the service answers only
    /// one.
    package static let timeout = Duration.seconds(5)
    /// The time limit for an answer at the end of the scan.
    package static let timeoutAtEnd = Duration.seconds(2)
    /// How long after listing its objects the service may add an adapter before the scan reports it as unplugged.
    package static let adapterTimeout = Duration.seconds(2)
    /// How long a discovery may deliver no report before the scan restarts it, in case the controller or the service
    /// hangs.
    package static let longestSilence = Duration.seconds(60)
    /// The pause after the first failure. It doubles after each further failure.
    package static let firstPause = Duration.seconds(1)
    /// The longest pause.
    package static let longestPause = Duration.seconds(30)

    /// Creates settings with every option on, which gives the most reports.
    package init(adapter: AdapterChoice, content: ScanContent) {
        self.adapter = adapter
        self.content = content
    }

    /// Returns the pause after a number of consecutive failures.
    package static func pause(failures: Int) -> Duration {
        min(firstPause * (1 << min(max(failures - 1, 0), 10)), longestPause)
    }
}

extension BlueZCall {
    /// The time limit for the answer while the scan runs.
    var timeout: Duration {
        switch self {
        case .listObjects, .setPower: BlueZScanSettings.longTimeout
        case .registerMonitor, .unregisterMonitor, .setFilter, .startDiscovery, .stopDiscovery:
            BlueZScanSettings.timeout
        }
    }
}
