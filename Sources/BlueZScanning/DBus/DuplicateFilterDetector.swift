/// A detector of whether a controller reports a device repeatedly, or only once in each scan.
///
/// During discovery by bluetoothd, the kernel enables the controller's duplicate filter. A controller that filters
/// reports a device once, and again only in the next scan, which the kernel starts every 10.24 s. In this case,
/// restarting discovery more often gives more reports. With an advertisement monitor, the kernel asks for duplicates,
/// so the detector isn't needed.
package struct DuplicateFilterDetector: Hashable, Sendable {
    /// The behavior of the controller.
    package enum Verdict: Hashable, Sendable {
        case undecided
        /// The controller reports a device repeatedly within a scan.
        case repeats
        /// The controller reports a device once in a scan.
        case filters
    }

    /// The duration of an observation. Most beacons advertise ten times in it, or more.
    package static let observation = Duration.seconds(3)
    /// The duration of a discovery if duplicates are filtered: one report a second, with a loss of about one in twenty.
    package static let renewal = Duration.seconds(1)
    /// The number of reports of a device within a scan that can't be an advertisement with a late scan response.
    private static let enough = 3

    package private(set) var verdict = Verdict.undecided
    private var counts: [String: Int] = [:]

    /// Creates a detector without a verdict.
    package init() {}

    /// Starts an observation with a discovery.
    package mutating func begin() { counts = [:] }

    /// Records a report of a device.
    package mutating func record(_ path: String) {
        guard verdict == .undecided else { return }
        counts[path, default: 0] += 1
        if counts[path, default: 0] >= Self.enough {
            verdict = .repeats
            counts = [:]
        }
    }

    /// Ends the observation. If devices were reported but none repeatedly, the controller filters; without any report,
    /// the verdict stays open.
    package mutating func end() {
        if verdict == .undecided, !counts.isEmpty { verdict = .filters }
        counts = [:]
    }

    /// The duration of a discovery; nil if it has no limit.
    package var term: Duration? {
        switch verdict {
        case .undecided: Self.observation
        case .repeats: nil
        case .filters: Self.renewal
        }
    }
}
