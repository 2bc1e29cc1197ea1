import Foundation
import IndoorLocalization

/// The table that `scan` shows on a terminal: one line per beacon, the strongest first.
struct BeaconTable {
    /// The time over which the rate of sightings is measured.
    private static let rateSpan = Duration.seconds(5)

    private var ranger: Ranger
    /// The instants of each beacon's recent sightings, and the latest RSSI in dBm.
    private var heard: [BeaconIdentity: (instants: [Instant], rssi: Double)] = [:]
    private var others: [DeviceAddress: Instant] = [:]
    private var start: Instant?
    /// The radio's status in words; nil before the first radio event.
    private(set) var radio: String?

    init() {
        var settings = Ranger.Settings()
        settings.silence = Self.rateSpan
        ranger = Ranger(settings: settings)
    }

    /// Updates the table with a reading.
    mutating func observe(_ reading: SensorReading) {
        start = start ?? reading.instant
        switch reading {
        case .sighting(let sighting):
            guard Sighting.isMeasurement(rssi: sighting.rssi) else { return }
            ranger.observe(sighting)
            var instants = heard[sighting.beacon]?.instants ?? []
            instants.append(sighting.instant)
            heard[sighting.beacon] = (instants, sighting.rssi)
            if let address = sighting.address { others[address] = nil }
        case .advertisement(let advertisement):
            guard (try? advertisement.sighting()) == nil else { return }
            others[advertisement.address] = advertisement.instant
        case .radio(let event): radio = "\(event)"
        case .motion, .step, .pressure, .gnss, .fix, .range: break
        }
    }

    /// The table at `now`: at most `height` lines of at most `width` characters.
    mutating func lines(at now: Instant, width: Int, height: Int) -> [String] {
        forgetSilent(at: now)
        let estimates = ranger.estimates(at: now).sorted { ($1.rssi, $0.beacon) < ($0.rssi, $1.beacon) }
        // A full UUID and the columns after it need 94 characters.
        let isWide = width >= 94
        let head = row(
            ["UUID", "MAJOR", "MINOR", "RSSI", "SMOOTH", "DISTANCE", "PROXIMITY", "RATE", "AGE"], isWide: isWide)
        let rows = estimates.map { estimate in row(cells(of: estimate, at: now, isWide: isWide), isWide: isWide) }
        let room = max(0, height - 4)
        var lines = [radio ?? "waiting for the radio", "", head]
        lines += rows.prefix(rows.count > room ? max(0, room - 1) : room)
        if rows.count > room { lines.append("and \(rows.count - max(0, room - 1)) weaker beacons") }
        lines.append(summary(beacons: rows.count, at: now))
        return lines.map { String($0.prefix(width)) }
    }

    private mutating func forgetSilent(at now: Instant) {
        let oldest = now.advanced(by: .zero - Self.rateSpan)
        ranger.forgetSilent(at: now)
        heard = heard.compactMapValues { entry in
            let recent = entry.instants.filter { $0 > oldest }
            return recent.isEmpty ? nil : (recent, entry.rssi)
        }
        others = others.filter { $0.value > oldest }
    }

    private func summary(beacons: Int, at now: Instant) -> String {
        let beaconCount = beacons == 1 ? "1 beacon" : "\(beacons) beacons"
        let otherCount = others.count == 1 ? "1 other device" : "\(others.count) other devices"
        return "\(beaconCount), \(otherCount) in the last \(Int(Self.rateSpan.seconds)) s; press Ctrl-C to end"
    }

    private func cells(of estimate: RangeEstimate, at now: Instant, isWide: Bool) -> [String] {
        let beacon = estimate.beacon
        let entry = heard[beacon]
        // In the first seconds the span is shorter.
        let span = min(Self.rateSpan, start.map { max(.seconds(1), $0.duration(to: now)) } ?? Self.rateSpan)
        let rate = Double(entry?.instants.count ?? 0) / span.seconds
        return [
            isWide ? beacon.uuid.description : String(beacon.uuid.description.prefix(8)) + "…",
            String(beacon.major), String(beacon.minor), entry.map { String(format: "%.0f", $0.rssi) } ?? "",
            String(format: "%.1f", estimate.rssi),
            estimate.distance.map { String(format: "%.1f m", $0.meters) } ?? "?", estimate.proximity?.rawValue ?? "?",
            String(format: "%.1f/s", rate),
            String(format: "%.1f s", max(0, estimate.instant.duration(to: now).seconds)),
        ]
    }

    private func row(_ cells: [String], isWide: Bool) -> String {
        let widths = [isWide ? 36 : 9, 6, 6, 5, 7, 9, 10, 8, 7]
        return zip(cells, widths).enumerated().map { index, cell in
            let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
            return index == 0 ? cell.0 + padding : padding + cell.0
        }.joined()
    }
}
