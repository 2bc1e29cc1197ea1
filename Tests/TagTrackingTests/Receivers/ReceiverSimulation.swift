import CMath
import IndoorLocalization
import IndoorLocalizationTesting

@testable import TagTracking

/// Simulated tags whose evidence about receivers comes from their true places with an error, instead of from the engine,
/// which takes more time.
struct ReceiverSimulation {
    private struct Tag {
        var heard: [Int: Instant] = [:]
        var sums: [Int: (sum: Double, count: Int)] = [:]
        /// The estimated power of the tag in dB.
        var power = 0.0
        var sampled: (seconds: Int, point: MapPoint)?
    }

    let venue: Venue
    var fleet: SimulatedFleet
    var monitor: ReceiverMonitor
    private(set) var seconds = 0
    private var tags: [Tag]
    private var generator = SeededGenerator(seed: 77)
    /// The standard deviation of the error of a place along each axis, in metres.
    private let error: Double

    init(
        hall: FleetHall = FleetHall(columns: 5, rows: 4, spacing: 12), tags: Int = 60, error: Double = 1.5,
        change: (inout SimulatedFleetSettings) -> Void = { _ in }
    ) {
        venue = hall.venue
        var settings = SimulatedFleetSettings()
        settings.tagCount = tags
        settings.advertisingInterval = 2
        settings.range = 30
        change(&settings)
        fleet = SimulatedFleet(venue: hall.venue, settings: settings, start: FleetHall.start)
        monitor = ReceiverMonitor(venue: hall.venue)
        self.tags = Array(repeating: Tag(), count: tags)
        self.error = error
    }

    /// Simulates some seconds, and returns the changes of health.
    mutating func run(seconds count: Int, silencing silent: Set<Int> = []) -> [ReceiverEvent] {
        var events: [ReceiverEvent] = []
        for _ in 0..<count {
            seconds += 1
            let now = FleetHall.at(Double(seconds))
            var evidence = ReceiverEvidence()
            for reading in fleet.readings(until: now) where !silent.contains(reading.receiver) {
                evidence.addMessage(of: reading.receiver, at: reading.instant)
                tags[reading.tag].heard[reading.receiver] = reading.instant
                let old = tags[reading.tag].sums[reading.receiver] ?? (0, 0)
                tags[reading.tag].sums[reading.receiver] = (old.sum + reading.rssi, old.count + 1)
            }
            for index in tags.indices {
                if index % 10 == seconds % 10, let sample = sample(of: index, at: now) { evidence.add(sample) }
                // Readings count for the place of their time.
                if seconds % 2 == 0 { tags[index].sums = [:] }
            }
            monitor.observe(evidence)
            events += monitor.advance(to: now)
        }
        return events
    }

    /// Simulates until the health of a receiver changes, at most for some seconds, and returns the changes.
    mutating func runUntilChange(within limit: Int) -> [ReceiverEvent] {
        let end = seconds + limit
        while seconds < end {
            let events = run(seconds: 5)
            if !events.isEmpty { return events }
        }
        return []
    }

    private mutating func sample(of index: Int, at now: Instant) -> ReceiverEvidence.Sample? {
        let place = fleet.place(of: index)
        let (x, y) = generator.normalPair()
        let point = place.point + MapPoint(x: x, y: y) * error
        let latest = tags[index].sampled
        tags[index].sampled = (seconds, point)
        guard !tags[index].heard.isEmpty else { return nil }
        var links: [ReceiverEvidence.Sample.Link] = []
        var (sum, count) = (0.0, 0.0)
        for (receiver, entry) in venue.receivers.enumerated() {
            let planar = entry.point.distance(to: point)
            guard planar <= 30 else { continue }
            let common = -62 - 12 * cmath_log10(planar * planar + 1)
            let heard = tags[index].heard[receiver].map { $0.duration(to: now) <= .seconds(10) } ?? false
            let mean = tags[index].sums[receiver].map { $0.sum / Double($0.count) }
            if let mean {
                sum += mean - monitor.offsets[receiver] - common
                count += 1
            }
            links.append(
                ReceiverEvidence.Sample.Link(
                    receiver: receiver, rssi: mean.map { $0 - tags[index].power },
                    count: tags[index].sums[receiver]?.count ?? 0, isHeard: heard, expected: common + tags[index].power,
                    common: common))
        }
        if count > 0 { tags[index].power += 0.2 * (sum / count - tags[index].power) }
        return ReceiverEvidence.Sample(
            tag: UInt64(index) &+ 1, instant: now, mapID: 1, point: point,
            isStanding: latest.map { $0.point.distance(to: point) <= 3 && seconds - $0.seconds <= 20 } ?? false,
            links: links)
    }
}
