import IndoorVocabulary
import VenueModel

// The evidence about receivers.
extension FleetMachine {
    /// The time between two samples of a tag in nanoseconds. If the tag moves, the errors of the two samples are mostly
    /// independent.
    private static let sampleInterval: Int64 = 10_000_000_000
    /// The radius in metres of a position beyond which its expected RSSIs are too uncertain.
    private static let greatestRadius = 10.0
    /// The distance in metres between two samples up to which a tag counts as standing.
    private static let standingDistance = 3.0
    /// The distance in metres within which a receiver is expected to receive a tag, and the limit on their number.
    private static let range = 30.0
    private static let linkLimit = 24

    /// Returns the evidence about receivers since the last call, for `ReceiverMonitor.observe(_:)`.
    package mutating func takeReceiverEvidence() -> ReceiverEvidence {
        defer { evidence = ReceiverEvidence() }
        return evidence
    }

    /// Adds a reading of one receiver by another one.
    mutating func observe(receiver transmitter: Int, by receiver: Int, _ reading: TagReading) {
        statistics.receiverReadings += 1
        let place = model.venue.receivers[transmitter]
        guard transmitter != receiver, let common = model.commonRSSI(of: receiver, at: place.point, on: place.mapID)
        else { return }
        evidence.add(
            ReceiverEvidence.Node(
                transmitter: transmitter, receiver: receiver, rssi: reading.rssi, common: common,
                instant: reading.instant))
    }

    /// Compares the RSSIs of a tag with those expected at its position.
    mutating func sample(_ slot: Int, _ position: Position) {
        guard let record = table.records[slot], position.radius <= Self.greatestRadius else { return }
        let now = position.instant.nanoseconds
        if let latest = record.sample, now.subtracting(latest.nanoseconds) < Self.sampleInterval { return }
        guard sampling.take(at: now) else { return }
        let stood =
            record.sample.map {
                $0.mapID == position.mapID && $0.point.distance(to: position.point) <= Self.standingDistance
                    && now.subtracting($0.nanoseconds) < 2 * Self.sampleInterval
            } ?? false
        let links = receivers(near: position, of: record).compactMap { link(to: $0, record, position) }
        table.records[slot]?.sample = TagRecord.Sample(
            nanoseconds: now, mapID: position.mapID, point: position.point)
        guard links.count > 1 else { return }
        evidence.add(
            ReceiverEvidence.Sample(
                tag: record.hash, instant: position.instant, mapID: position.mapID, point: position.point,
                isStanding: stood, links: links))
    }

    /// Returns the receivers near a position and those that received the tag, the nearest first.
    private func receivers(near position: Position, of record: TagRecord) -> [Int] {
        var near: [(receiver: Int, distance: Double)] = []
        for (index, receiver) in model.venue.receivers.enumerated() where receiver.mapID == position.mapID {
            let distance = receiver.point.distance(to: position.point)
            if distance <= Self.range { near.append((index, distance)) }
        }
        near.sort { ($0.distance, $0.receiver) < ($1.distance, $1.receiver) }
        let nearest = near.prefix(Self.linkLimit).map(\.receiver)
        return nearest + record.heard.map { Int($0.receiver) }.filter { !nearest.contains($0) }
    }

    private func link(
        to receiver: Int, _ record: TagRecord, _ position: Position
    ) -> ReceiverEvidence.Sample.Link? {
        guard let expected = record.session?.expectedRSSI(of: receiver),
            let common = model.commonRSSI(
                of: receiver, at: position.point, on: position.mapID, tagClass: record.tagClass)
        else { return nil }
        let heard = record.heard.first { $0.receiver == receiver }
        let since = position.instant.nanoseconds.subtracting(Self.sampleInterval)
        // The difference between both expectations is the estimated power of the tag.
        let power = expected.rssi - common
        let mean = heard.flatMap { $0.count > 0 ? Double($0.sum) / Double($0.count) : nil }
        return ReceiverEvidence.Sample.Link(
            receiver: receiver, rssi: mean.map { $0 - power }, count: Int(heard?.count ?? 0),
            isHeard: heard.map { $0.latest > since } ?? false, expected: expected.rssi, common: common)
    }
}

extension TagRecord {
    /// The limit on the number of receivers whose RSSIs are compared.
    private static let heardLimit = 16

    /// Adds a reading to those that are compared with the expected RSSI.
    mutating func heard(_ entry: PendingReading) {
        let receiver = Int32(truncatingIfNeeded: entry.receiver)
        let index: Int
        if let known = heard.firstIndex(where: { $0.receiver == receiver }) {
            index = known
        } else if heard.count < Self.heardLimit {
            heard.append(Heard(receiver: receiver, latest: entry.nanoseconds))
            index = heard.count - 1
        } else if let oldest = heard.indices.min(by: { heard[$0].latest < heard[$1].latest }) {
            heard[oldest] = Heard(receiver: receiver, latest: entry.nanoseconds)
            index = oldest
        } else {
            return
        }
        heard[index].count += 1
        heard[index].sum += Float(entry.rssi)
        heard[index].latest = max(heard[index].latest, entry.nanoseconds)
    }

    /// Begins new means after a position.
    mutating func clearMeans() {
        for index in heard.indices {
            heard[index].count = 0
            heard[index].sum = 0
        }
    }
}

/// A limit on the number of tags per second for which a machine compares RSSIs with the expected ones.
///
/// The evidence about receivers doesn't need all tags of a large fleet, and each sample takes several lookups in the
/// signal field.
struct SamplingBudget: Sendable {
    /// The number of samples per second, and the maximum number of unused samples that is kept for later.
    private static let rate = 20.0
    private static let most = 40.0

    private var available = most
    private var latest: Int64?

    /// Returns whether a sample is allowed at an instant, in nanoseconds; the instants don't decrease.
    mutating func take(at nanoseconds: Int64) -> Bool {
        let seconds = latest.map { Double(nanoseconds.subtracting($0)) / 1e9 } ?? 0
        latest = nanoseconds
        available = min(Self.most, available + max(0, seconds) * Self.rate)
        guard available >= 1 else { return false }
        available -= 1
        return true
    }
}
