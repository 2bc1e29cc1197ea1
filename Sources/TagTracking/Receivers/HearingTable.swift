import IndoorVocabulary
import VenueModel

/// A table of the receivers that hear each tag: the latest reading of each pair.
///
/// It answers who hears a tag, and whom a receiver hears. The memory is limited: the tag that was heard least recently
/// leaves first, and of a tag's receivers the one that heard it least recently.
package struct HearingTable: Sendable {
    /// The readings of one tag by one receiver.
    package struct Hearing: Hashable, Sendable {
        /// The tag.
        package var tag: TagKey
        /// The name of the receiver in the venue, or else the name that its gateway reports.
        package var receiver: String
        /// Whether the venue has the receiver.
        package var isInVenue: Bool
        /// The mean RSSI of about the last eight readings in dBm.
        package var rssi: Double
        /// The RSSI of the latest reading in dBm.
        package var latestRSSI: Double
        /// The time of the latest reading, counted from the Unix epoch.
        package var instant: Instant
    }

    /// The limits of the memory: with all of them, it takes about 60 MB.
    package enum Limit {
        /// Tags; the largest register of one machine has fewer.
        static let tags = 50_000
        /// Receivers of a tag; a gateway beyond them measures noise.
        package static let receivers = 32
        /// Receivers that the venue doesn't have.
        static let unknownReceivers = 4_096
    }

    /// The readings of a receiver. A tag has up to 32 of them.
    private struct Pair: Sendable {
        var receiver: UInt32
        var count: UInt32 = 0
        var rssi: Float = 0
        var latest: Float = 0
        var instant = Instant.zero

        /// Adds a reading. The mean is that of all readings until there are as many as `weight`, and exponential then.
        mutating func add(_ rssi: Float, at instant: Instant, weight: UInt32) {
            count = min(count + 1, weight)
            self.rssi += (rssi - self.rssi) / Float(count)
            // Readings of one gateway can arrive out of order.
            if instant >= self.instant { (latest, self.instant) = (rssi, instant) }
        }
    }

    /// The weight of a reading in the mean is at least one eighth.
    private static let meanReadings: UInt32 = 8

    private let directory: ReceiverDirectory
    /// The names of the venue's receivers, and then those of others.
    private var receivers: [String]
    private let knownCount: Int
    /// The index of the receiver of each name that gateways have sent.
    private var indexes: [String: UInt32] = [:]
    private var tags: RecencyTable<TagKey, [Pair]>

    /// Creates a table without readings.
    package init(venue: Venue) { self.init(venue: venue, mostTags: Limit.tags) }

    /// Creates a table with another limit of the tags.
    package init(venue: Venue, mostTags: Int) {
        directory = ReceiverDirectory(venue.receivers)
        receivers = venue.receivers.map(\.id)
        knownCount = receivers.count
        tags = RecencyTable(limit: mostTags)
    }

    /// Adds a reading.
    package mutating func add(_ reading: TagReading) {
        guard let receiver = index(of: reading.receiver) else { return }
        tags.use(reading.tag, else: []) { pairs in
            let place: Int
            if let found = pairs.firstIndex(where: { $0.receiver == receiver }) {
                place = found
            } else if pairs.count < Limit.receivers {
                place = pairs.count
                pairs.append(Pair(receiver: receiver))
            } else {
                place = pairs.indices.min { pairs[$0].instant < pairs[$1].instant } ?? 0
                pairs[place] = Pair(receiver: receiver)
            }
            pairs[place].add(Float(reading.rssi), at: reading.instant, weight: Self.meanReadings)
        }
    }

    private mutating func index(of name: String) -> UInt32? {
        if let known = indexes[name] { return known }
        let index: Int
        if let found = directory.index(of: name) {
            index = found
        } else {
            guard receivers.count - knownCount < Limit.unknownReceivers else { return nil }
            index = receivers.count
            receivers.append(name)
        }
        // Names of one receiver can differ in case and punctuation, so that they need a limit of their own.
        if indexes.count < 2 * (knownCount + Limit.unknownReceivers) { indexes[name] = UInt32(index) }
        return UInt32(index)
    }

    /// Moves the times of all readings, after the clock was set forward.
    package mutating func move(by step: Duration) {
        tags.changeAll { pairs in
            for place in pairs.indices { pairs[place].instant = pairs[place].instant.advanced(by: step) }
        }
    }

    /// Removes tags, such as those that left the register.
    package mutating func remove(_ removed: some Sequence<TagKey>) {
        for tag in removed { tags.remove(tag) }
    }

    /// Returns the receivers that have heard a tag, the one with the largest mean RSSI first.
    package func hearings(of tag: TagKey) -> [Hearing] {
        (tags.peek(tag) ?? []).map { hearing(of: tag, $0) }.sorted { ($1.rssi, $0.receiver) < ($0.rssi, $1.receiver) }
    }

    /// Returns the tags that a receiver has heard, the one with the largest mean RSSI first; nil if it is neither in the
    /// venue nor has sent a reading. The time is linear in the number of tags.
    ///
    /// - Parameter name: the name in the venue, or one that its gateway sends.
    package func hearings(by name: String) -> [Hearing]? {
        guard let receiver = indexes[name] ?? directory.index(of: name).map(UInt32.init) else { return nil }
        var hearings: [Hearing] = []
        for tag in tags.keys {
            for pair in tags.peek(tag) ?? [] where pair.receiver == receiver { hearings.append(hearing(of: tag, pair)) }
        }
        return hearings.sorted { ($1.rssi, $0.tag) < ($0.rssi, $1.tag) }
    }

    /// Returns the time of the latest reading of a tag; nil without one.
    package func lastReading(of tag: TagKey) -> Instant? { tags.peek(tag)?.map(\.instant).max() }

    /// The tags with a reading, the one that was heard least recently first.
    package var heardTags: [TagKey] { tags.keys }

    private func hearing(of tag: TagKey, _ pair: Pair) -> Hearing {
        Hearing(
            tag: tag, receiver: receivers[Int(pair.receiver)], isInVenue: Int(pair.receiver) < knownCount,
            rssi: Double(pair.rssi), latestRSSI: Double(pair.latest), instant: pair.instant)
    }
}
