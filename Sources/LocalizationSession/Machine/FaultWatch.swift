import IndoorVocabulary

/// The selection of the beacon faults that a session reports.
///
/// A fault is reported when it appears, and again if its kind changes. If the beacon then has no fault for `memory`,
/// its next fault is reported again.
struct FaultWatch: Hashable, Sendable {
    /// The time without a fault after which the next fault is reported again.
    static let memory = Duration.seconds(60)

    private struct Report: Hashable {
        var kind: String
        /// The latest instant at which the beacon had a fault.
        var latest: Instant
    }

    private var reports: [BeaconIdentity: Report] = [:]

    /// Creates a watch without reports.
    init() {}

    /// Stores the current faults; returns those to report, in the same order.
    mutating func follow(_ faults: [BeaconFault], at now: Instant) -> [BeaconFault] {
        if faults.isEmpty, reports.isEmpty { return [] }
        var due: [BeaconFault] = []
        for fault in faults {
            let kind = fault.kind.name
            if reports[fault.beacon]?.kind != kind { due.append(fault) }
            reports[fault.beacon] = Report(kind: kind, latest: now)
        }
        reports = reports.filter { $0.value.latest.duration(to: now) < Self.memory }
        return due
    }

    /// Moves the instants to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        reports = reports.mapValues { Report(kind: $0.kind, latest: $0.latest.advanced(by: duration)) }
    }
}
