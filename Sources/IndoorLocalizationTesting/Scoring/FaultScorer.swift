import IndoorLocalization

/// A scorer of reported beacon faults. It counts the disturbed beacons that a session names, and the other beacons that
/// the session names wrongly.
///
/// The hearing time of a beacon is the sum of the intervals between its sightings, each at most 5 s long. The hearing
/// time of a beacon that sends nothing is the time since the start of the track, while the device receives any beacon.
package struct FaultScorer: Sendable {
    /// The number of disturbed beacons, in each track, that the device heard for a minute or more.
    package private(set) var disturbed = 0
    /// The number of them that the session named within the first minute of hearing.
    package private(set) var namedInMinute = 0
    /// The number of disturbed beacons that the device heard, in each track.
    package private(set) var heard = 0
    /// The number of them that the session named.
    package private(set) var named = 0
    /// The number of reported faults of beacons that are not disturbed.
    package private(set) var falseAlarms = 0
    /// The length of all tracks in hours.
    package private(set) var hours = 0.0

    /// The longest interval between two sightings in seconds that counts as hearing.
    private static let longestInterval = 5.0
    /// The hearing time in seconds within which a disturbed beacon should be named.
    private static let minute = 60.0

    /// Creates a scorer without tracks.
    package init() {}

    /// Adds a track.
    ///
    /// - Parameters:
    ///   - readings: the readings of the session, ordered by instant.
    ///   - faults: the reported faults with their instants, ordered by instant.
    ///   - disturbedBeacons: the beacons that are disturbed in the track.
    ///   - silentBeacons: those of them that send nothing.
    package mutating func add(
        _ readings: [SensorReading], faults: [(instant: Instant, fault: BeaconFault)],
        disturbedBeacons: Set<BeaconIdentity> = [], silentBeacons: Set<BeaconIdentity> = []
    ) {
        var reports: [BeaconIdentity: Instant] = [:]
        for (instant, fault) in faults {
            if disturbedBeacons.contains(fault.beacon) {
                reports[fault.beacon] = min(instant, reports[fault.beacon] ?? instant)
            } else {
                falseAlarms += 1
            }
        }
        var times: [BeaconIdentity: HearingTime] = [:]
        var any = HearingTime()
        for reading in readings {
            guard case .sighting(let sighting) = reading else { continue }
            any.add(sighting.instant, Self.longestInterval)
            guard disturbedBeacons.contains(sighting.beacon) else { continue }
            times[sighting.beacon, default: HearingTime()].add(sighting.instant, Self.longestInterval)
        }
        for beacon in silentBeacons { times[beacon] = any }
        for (beacon, time) in times {
            heard += 1
            let report = reports[beacon]
            if report != nil { named += 1 }
            guard let minute = time.instant(of: Self.minute) else { continue }
            disturbed += 1
            if let report, report <= minute { namedInMinute += 1 }
        }
        if let first = readings.first, let last = readings.last {
            hours += first.instant.duration(to: last.instant).seconds / 3600
        }
    }

    /// Adds all tracks of another scorer.
    package mutating func add(_ other: FaultScorer) {
        disturbed += other.disturbed
        namedInMinute += other.namedInMinute
        heard += other.heard
        named += other.named
        falseAlarms += other.falseAlarms
        hours += other.hours
    }

    /// The share of the disturbed beacons that were named within a minute of hearing; nil without any.
    package var shareInMinute: Double? { disturbed > 0 ? Double(namedInMinute) / Double(disturbed) : nil }
    /// The share of the disturbed beacons that were named; nil without any.
    package var shareNamed: Double? { heard > 0 ? Double(named) / Double(heard) : nil }
    /// The number of false alarms per hour; nil without tracks.
    package var falseAlarmRate: Double? { hours > 0 ? Double(falseAlarms) / hours : nil }
}

/// The accumulated hearing time of a beacon.
private struct HearingTime {
    private var latest: Instant?
    private var sum = 0.0
    /// The sums in seconds after each sighting.
    private var steps: [(sum: Double, instant: Instant)] = []

    mutating func add(_ instant: Instant, _ longest: Double) {
        if let latest { sum += min(max(0, latest.duration(to: instant).seconds), longest) }
        latest = instant
        steps.append((sum, instant))
    }

    /// Returns the instant at which the time reaches some seconds; nil if it doesn't.
    func instant(of seconds: Double) -> Instant? { steps.first { $0.sum >= seconds }?.instant }
}
