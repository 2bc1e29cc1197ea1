import BeaconScanning
import IndoorVocabulary

/// Combines the readings of one tag by several gateways into scans, the input of a room classifier.
///
/// The radio link is reversed: each gateway is a beacon, and a scan has the RSSI of each gateway that hears the tag.
/// Gateways report a tag from several times a second to every few seconds. A scan has the readings since the one before.
/// If most gateways report the tag less often than a scan is made, the latest reading of each counts until its next one
/// is overdue.
package struct GatewayScanner: Hashable, Sendable {
    /// The readings of one gateway.
    private struct Link: Hashable, Sendable {
        /// The readings since the last scan.
        var sum = 0.0
        var count = 0
        /// The mean of the latest readings in dBm.
        var rssi = 0.0
        var latest: Instant
        /// The mean time between two readings, in seconds.
        var gap = 1.0
    }

    /// The time in seconds between two readings from which a gateway is slow, and the longest that counts.
    private static let (slowGap, longestGap) = (2.5, 6.0)
    /// The factor on the time between two readings for which a reading of a slow gateway counts.
    private static let holdFactor = 1.5
    /// The weight of the latest time between two readings in the mean.
    private static let gapShare = 0.25
    /// The largest number of gateways of a tag; one that is beyond them measures noise.
    package static let mostGateways = 64

    private var links: [BeaconIdentity: Link] = [:]
    /// Whether the next scan has a reading that the one before didn't have.
    package private(set) var isDue = false

    /// Creates a scanner without readings.
    package init() {}

    /// Adds a reading.
    ///
    /// - Parameters:
    ///   - gateway: the gateway as a beacon, see `VenueReceiver.identity(for:)`.
    ///   - rssi: the RSSI in dBm.
    package mutating func add(_ gateway: BeaconIdentity, rssi: Double, at instant: Instant) {
        if links[gateway] == nil, links.count >= Self.mostGateways {
            guard let oldest = links.min(by: { ($0.value.latest, $0.key) < ($1.value.latest, $1.key) })?.key else {
                return
            }
            links[oldest] = nil
        }
        var link = links[gateway] ?? Link(latest: instant)
        let gap = link.latest.seconds(to: instant)
        if gap > 0, gap < 2 * Self.longestGap { link.gap += Self.gapShare * (gap - link.gap) }
        link.sum += rssi
        link.count += 1
        link.latest = max(link.latest, instant)
        links[gateway] = link
        isDue = true
    }

    /// Returns the scan of the readings until an instant; nil without a reading since the last scan.
    package mutating func scan(at now: Instant) -> RoomScan? {
        guard isDue else { return nil }
        isDue = false
        links = links.filter { $0.value.latest.seconds(to: now) < 2 * Self.longestGap }
        let gaps = links.values.map(\.gap).sorted()
        let isSlow = !gaps.isEmpty && gaps[gaps.count / 2] > Self.slowGap
        var rssi: [BeaconIdentity: Double] = [:]
        for (gateway, var link) in links {
            if link.count > 0 {
                link.rssi = link.sum / Double(link.count)
                (link.sum, link.count) = (0, 0)
                links[gateway] = link
            } else if !isSlow || link.latest.seconds(to: now) > Self.holdFactor * min(link.gap, Self.longestGap) {
                continue
            }
            rssi[gateway] = link.rssi
        }
        return RoomScan(instant: now, rssi: rssi)
    }

    /// Moves the times of all readings, after the clock was set forward: they are as old as before.
    package mutating func move(by step: Duration) {
        for gateway in links.keys { links[gateway]?.latest.move(by: step) }
    }

    /// Returns the scans of sightings in which each beacon stands for a gateway, one for each second.
    ///
    /// - Parameter sightings: the sightings in the order of their instants.
    package static func scans(of sightings: [Sighting]) -> [RoomScan] {
        guard let first = sightings.first else { return [] }
        var scanner = GatewayScanner()
        var scans: [RoomScan] = []
        var next = first.instant.advanced(by: RoomFleetMachine.scanInterval)
        func advance(to instant: Instant) {
            while next <= instant {
                if let scan = scanner.scan(at: next) { scans.append(scan) }
                next = next.advanced(by: RoomFleetMachine.scanInterval)
            }
        }
        for sighting in sightings where Sighting.isMeasurement(rssi: sighting.rssi) {
            advance(to: sighting.instant)
            scanner.add(sighting.beacon, rssi: sighting.rssi, at: sighting.instant)
        }
        if let scan = scanner.scan(at: next) { scans.append(scan) }
        return scans
    }
}
