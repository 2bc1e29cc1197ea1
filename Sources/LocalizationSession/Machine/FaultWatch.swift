import IndoorVocabulary

/// The decision which beacon faults a session reports.
///
/// A fault is reported when it appears, and again if its kind changes. After the beacon has agreed with the others for
/// `memory`, a new fault of it is reported again.
struct FaultWatch: Hashable, Sendable {
    /// The time without a fault after which the session forgets that it reported one.
    static let memory = Duration.seconds(60)

    private struct Report: Hashable {
        var kind: String
        /// The latest instant at which the beacon had a fault.
        var latest: Instant
    }

    private var reports: [BeaconIdentity: Report] = [:]

    /// Creates a watch without reports.
    init() {}

    /// Notes the current faults; returns those to report, in their order.
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
