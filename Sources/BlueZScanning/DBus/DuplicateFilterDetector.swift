/// Finds out whether a controller reports a device again and again, or once in each scan.
///
/// While bluetoothd discovers, the kernel has the controller filter duplicates. Controllers that do tell a device once,
/// and again only in the next scan: the kernel begins one every 10.24 s. Then it pays to begin discovery anew more often.
/// An advertisement monitor has the kernel ask for duplicates, so that nothing need be watched.
package struct DuplicateFilterDetector: Hashable, Sendable {
    /// What is known of the controller.
    package enum Verdict: Hashable, Sendable {
        case undecided
        /// It tells a device again within a scan.
        case repeats
        /// It tells a device once in a scan.
        case filters
    }

    /// How long a scan is watched. Most beacons advertise ten times in it, or more.
    package static let observation = Duration.seconds(3)
    /// How long a discovery lasts where duplicates are filtered: a report a second, for about a twentieth of them lost.
    package static let renewal = Duration.seconds(1)
    /// So many reports of a device within a scan are no advertisement with a late scan response.
    private static let enough = 3

    package private(set) var verdict = Verdict.undecided
    private var counts: [String: Int] = [:]

    /// Knows nothing yet.
    package init() {}

    /// A discovery has begun.
    package mutating func begin() { counts = [:] }

    /// A device was heard.
    package mutating func hear(_ path: String) {
        guard verdict == .undecided else { return }
        counts[path, default: 0] += 1
        if counts[path, default: 0] >= Self.enough {
            verdict = .repeats
            counts = [:]
        }
    }

    /// The time of a discovery is over. What was heard, but not again, was filtered; silence tells nothing.
    package mutating func end() {
        if verdict == .undecided, !counts.isEmpty { verdict = .filters }
        counts = [:]
    }

    /// How long a discovery is to last; nil if it may go on.
    package var term: Duration? {
        switch verdict {
        case .undecided: Self.observation
        case .repeats: nil
        case .filters: Self.renewal
        }
    }
}
