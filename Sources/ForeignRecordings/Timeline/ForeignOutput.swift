import BeaconScanning
import IndoorVocabulary
import ScanRecording
import TextFormats

/// The entries that a decoder has found in a file, with the times of the file, and counts of what it left out.
struct ForeignOutput: Sendable {
    /// The maximum number of kinds that are counted separately.
    static let maximumKinds = 50
    /// The maximum number of names of beacons without an identity that are kept.
    static let maximumNames = 1000

    /// The model of the receiver; nil if the file doesn't state it.
    var device: String?
    /// The number of elements that were left out, by their kind.
    private(set) var ignored: [String: Int] = [:]
    /// The number of signal strengths that are not measurements.
    private(set) var notMeasurements = 0
    private var entries: [(time: ForeignTime, entry: RecordingEntry)] = []
    private var given = 0
    /// The names of beacons whose identity is unknown, at most `maximumNames`.
    private(set) var standIns: Set<String> = []

    /// Adds a reading; drops and counts one whose RSSI is not a measurement.
    mutating func add(_ reading: SensorReading, at time: ForeignTime) {
        let rssi: Double? =
            switch reading {
            case .sighting(let sighting): sighting.rssi
            case .advertisement(let advertisement): advertisement.rssi
            default: nil
            }
        guard rssi.map(Sighting.isMeasurement) != false else {
            notMeasurements += 1
            return
        }
        entries.append((time, .measurement(reading)))
    }

    /// Adds a beacon that the device received or, without a beacon, the advertisement of an address.
    mutating func add(
        _ beacon: BeaconIdentity?, _ address: DeviceAddress?, rssi: Double, power: Double? = nil, data: [UInt8] = [],
        at time: ForeignTime
    ) {
        if let beacon {
            add(
                .sighting(
                    Sighting(instant: .zero, beacon: beacon, rssi: rssi, measuredPower: power, address: address)),
                at: time)
        } else if let address {
            add(.advertisement(Advertisement(instant: .zero, address: address, rssi: rssi, data: data)), at: time)
        } else {
            ignore("readings without an address and a beacon")
        }
    }

    /// Adds an advertisement, or without an address the beacon that it contains.
    mutating func add(advertising data: [UInt8], _ address: DeviceAddress?, rssi: Double, at time: ForeignTime) {
        if let address {
            add(nil, address, rssi: rssi, data: data, at: time)
        } else if case .beacon(let frame)? = try? BeaconFrame.decode(data.span) {
            add(frame.beacon, nil, rssi: rssi, power: frame.measuredPower.map(Double.init), at: time)
        } else {
            ignore("advertisements without an address and a beacon")
        }
    }

    /// Adds a ground truth.
    mutating func add(_ truth: Truth, at time: ForeignTime) { entries.append((time, .truth(truth))) }

    /// Notes that an identity stands in for a beacon of which only the name is known.
    mutating func standIn(for name: String) {
        if standIns.count < Self.maximumNames { standIns.insert(name) }
    }

    /// Counts elements that are left out.
    mutating func ignore(_ kind: String, count: Int = 1) {
        let isKnown = ignored[kind] != nil || ignored.count < Self.maximumKinds
        let total = ignored[isKnown ? kind : "other", default: 0].addingReportingOverflow(count)
        ignored[isKnown ? kind : "other"] = total.overflow ? .max : total.partialValue
    }

    /// Returns the next entry; nil without one.
    mutating func next() -> (time: ForeignTime, entry: RecordingEntry)? {
        guard given < entries.count else {
            entries.removeAll(keepingCapacity: true)
            given = 0
            return nil
        }
        given += 1
        return entries[given - 1]
    }

    /// Sorts the entries that were not returned yet by time, and keeps the order of equal times.
    mutating func sort() {
        entries.removeFirst(given)
        given = 0
        let order = entries.indices.sorted { (entries[$0].time.nanoseconds, $0) < (entries[$1].time.nanoseconds, $1) }
        entries = order.map { entries[$0] }
    }

    /// The number of entries that were not returned yet.
    var count: Int { entries.count - given }
}

extension RecordingEntry {
    /// Returns the entry at another instant.
    func at(_ instant: Instant) -> RecordingEntry {
        switch self {
        case .header: return self
        case .truth(var truth):
            truth.instant = instant
            return .truth(truth)
        case .measurement(var reading):
            reading.instant = instant
            return .measurement(reading)
        }
    }
}

/// The conversion of the times of a file to the instants of a recording.
///
/// Unix times count from the first one, which is the start of the recording. Other times stay unchanged. A time that is
/// up to `tolerance` earlier than the previous time becomes equal to it, because several sensors or channels write to
/// one file.
struct ForeignTimeline: Hashable, Sendable {
    /// The longest time by which an entry may be late.
    static let tolerance = Duration.seconds(1)

    /// The first Unix time; nil before the first entry, and if the file has other times.
    private(set) var start: ForeignTime?
    /// The number of entries that were late within the tolerance.
    private(set) var late = 0
    /// The path of another file with ground truth; nil without one.
    var truthFile: String?
    private var isUnix: Bool?
    /// Whether the first time is of the other file.
    private var isFirstGiven = false
    private var latest: Instant?

    /// Returns the instant of a time.
    ///
    /// - Parameter isGiven: whether the time is that of a ground truth in another file.
    mutating func instant(of time: ForeignTime, isGiven: Bool = false) throws(ForeignProblem) -> Instant {
        if isUnix == nil {
            (isUnix, isFirstGiven) = (time.isUnix, isGiven)
            if time.isUnix { start = time }
        }
        guard isUnix == time.isUnix else {
            if let truthFile, isGiven != isFirstGiven {
                let isTruthUnix = isGiven == time.isUnix
                let other = "\(truthFile) \(isTruthUnix ? "since 1970" : "from 0")"
                throw ForeignProblem(
                    nil,
                    .unsupported(
                        "counts its times \(isTruthUnix ? "from 0" : "since 1970"), but \(other)",
                        remedy: "Give both by the same clock"), endsFile: true)
            }
            throw ForeignProblem.invalid(
                "time", ShortestNumber.text(billionths: time.nanoseconds),
                expected: isUnix == true
                    ? "a time since 1970, as before" : "a time that doesn't count since 1970, as before")
        }
        let (elapsed, overflow) = time.nanoseconds.subtractingReportingOverflow(start?.nanoseconds ?? 0)
        guard !overflow, elapsed.magnitude < 9_200_000_000_000_000_000 else {
            throw ForeignProblem("time", .timeOutOfRange)
        }
        let instant = Instant(nanoseconds: elapsed)
        guard let latest, instant < latest else {
            latest = instant
            return instant
        }
        guard instant.duration(to: latest) <= Self.tolerance else {
            throw ForeignProblem("time", .timeWentBackwards(from: latest.seconds, to: instant.seconds))
        }
        late += 1
        return latest
    }
}
