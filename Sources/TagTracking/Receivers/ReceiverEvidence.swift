import CMath
import IndoorVocabulary
import VenueModel

/// The observations about receivers that a machine makes while it locates tags, for a `ReceiverMonitor`.
package struct ReceiverEvidence: Sendable {
    /// The messages of one receiver.
    struct Messages: Sendable {
        var first: Instant
        var latest: Instant
        /// The longest time between two of the messages in seconds.
        var longestGap = 0.0
        var count = 1
    }

    /// The RSSIs of one tag at one place, in comparison with the expected ones.
    package struct Sample: Sendable {
        /// A receiver near the tag.
        package struct Link: Sendable {
            /// The index of the receiver.
            package var receiver: Int
            /// The mean RSSI in dBm that the receiver would measure from a common tag: the measured one without the
            /// estimated power of the tag; nil if it didn't receive the tag since the latest position.
            package var rssi: Double?
            /// The number of readings in the mean.
            package var count = 0
            /// Whether the receiver received the tag since the previous sample.
            package var isHeard: Bool
            /// The RSSI in dBm of the tag that the receiver is expected to measure.
            package var expected: Double
            /// The RSSI in dBm that the receiver is expected to measure from a common tag.
            package var common: Double

            /// Creates a link.
            package init(
                receiver: Int, rssi: Double? = nil, count: Int = 0, isHeard: Bool, expected: Double, common: Double
            ) {
                self.receiver = receiver
                self.rssi = rssi
                self.count = count
                self.isHeard = isHeard
                self.expected = expected
                self.common = common
            }
        }

        /// The hash of the tag's key.
        package var tag: UInt64
        package var instant: Instant
        package var mapID: MapID
        package var point: MapPoint
        /// Whether the tag stayed near the point since the previous sample, so that each receiver had the same chance.
        package var isStanding: Bool
        package var links: [Link]

        /// Creates a sample.
        package init(
            tag: UInt64, instant: Instant, mapID: MapID, point: MapPoint, isStanding: Bool, links: [Link]
        ) {
            self.tag = tag
            self.instant = instant
            self.mapID = mapID
            self.point = point
            self.isStanding = isStanding
            self.links = links
        }
    }

    /// The reading of one receiver by another one.
    package struct Node: Sendable {
        /// The index of the receiver that transmits.
        package var transmitter: Int
        /// The index of the receiver that receives.
        package var receiver: Int
        package var rssi: Double
        /// The RSSI in dBm of a common tag in the place of the transmitter.
        package var common: Double
        package var instant: Instant

        /// Creates a reading.
        package init(transmitter: Int, receiver: Int, rssi: Double, common: Double, instant: Instant) {
            self.transmitter = transmitter
            self.receiver = receiver
            self.rssi = rssi
            self.common = common
            self.instant = instant
        }
    }

    /// The limit on the number of samples and of readings among receivers, which bounds the memory if no monitor takes
    /// them.
    static let limit = 4096

    /// The messages by the index of the receiver.
    private(set) var messages: [Int: Messages] = [:]
    package private(set) var samples: [Sample] = []
    package private(set) var nodes: [Node] = []
    /// The gateways whose names the venue doesn't have, each with the time of its latest message.
    package private(set) var unknownGateways: [String: Instant] = [:]

    /// Creates evidence without observations.
    package init() {}

    /// Whether there are no observations.
    package var isEmpty: Bool { messages.isEmpty && samples.isEmpty && nodes.isEmpty && unknownGateways.isEmpty }

    /// Adds a message of a receiver.
    package mutating func addMessage(of receiver: Int, at instant: Instant) {
        guard var known = messages[receiver] else {
            messages[receiver] = Messages(first: instant, latest: instant)
            return
        }
        known.first = min(known.first, instant)
        known.longestGap = max(known.longestGap, known.latest.seconds(to: instant))
        known.latest = max(known.latest, instant)
        known.count += 1
        messages[receiver] = known
    }

    /// Adds a message of a gateway whose name the venue doesn't have; those of too many gateways are left out.
    package mutating func addMessage(ofUnknown name: String, at instant: Instant) {
        let isKnown = unknownGateways[name] != nil
        guard isKnown || unknownGateways.count < GatewayActivity.mostUnknownGateways else { return }
        unknownGateways[name] = max(unknownGateways[name] ?? instant, instant)
    }

    package mutating func add(_ sample: Sample) { if samples.count < Self.limit { samples.append(sample) } }

    package mutating func add(_ node: Node) { if nodes.count < Self.limit { nodes.append(node) } }
}

/// The messages of one receiver, and the tags that it received or should have received.
struct ReceiverDetection: Hashable, Sendable {
    /// The time in which the counts of expected and received tags fall to 1/e, in seconds.
    private static let memory = 120.0
    /// The time in which the longest gap falls to half, in seconds.
    private static let gapHalfLife = 3600.0
    /// The limit on the number of tags that are counted.
    private static let tagLimit = 16

    /// The time of the first and of the latest message; nil before any.
    var first: Instant?
    var latest: Instant?
    /// The longest recent time between two messages in seconds.
    var longestGap = 0.0
    /// The numbers of tags that the receiver was expected to receive, and received, up to its latest message.
    var expected = 0.0
    var received = 0.0
    /// The same numbers since the latest message.
    var newExpected = 0.0
    var newReceived = 0.0
    /// The latest tags that the receiver was expected to receive.
    var tags: [UInt64] = []
    private var faded: Instant?

    /// The share of the expected tags that the receiver received; nil while too few were expected.
    ///
    /// - Parameter least: the minimum number of expected tags.
    func receivedShare(least: Double) -> Double? { expected >= least ? received / expected : nil }

    /// Adds messages.
    ///
    /// - Parameter isLearning: whether the gaps are those of a receiver that works.
    mutating func add(_ messages: ReceiverEvidence.Messages, isLearning: Bool) {
        if isLearning {
            let gap = max(messages.longestGap, latest?.seconds(to: messages.first) ?? 0)
            longestGap = max(longestGap, gap)
        }
        first = first ?? messages.first
        latest = max(latest ?? messages.latest, messages.latest)
        expected += newExpected
        received += newReceived
        (newExpected, newReceived) = (0, 0)
    }

    /// Moves all times, after the clock was set.
    mutating func move(by step: Duration) {
        first = first?.advanced(by: step)
        latest = latest?.advanced(by: step)
        faded = faded?.advanced(by: step)
    }

    /// Adds a tag that the receiver was expected to receive with a probability.
    mutating func add(tag: UInt64, probability: Double, isHit: Bool) {
        newExpected += probability
        if isHit { newReceived += 1 }
        guard !tags.contains(tag) else { return }
        if tags.count >= Self.tagLimit { tags.removeFirst() }
        tags.append(tag)
    }

    /// Reduces the weight of older tags.
    mutating func fade(to now: Instant) {
        let seconds = max(0, faded?.seconds(to: now) ?? 0)
        faded = max(faded ?? now, now)
        let share = cmath_exp(-seconds / Self.memory)
        expected *= share
        received *= share
        longestGap *= cmath_exp(-seconds / Self.gapHalfLife * cmath_log(2))
        if expected < 1 { tags.removeAll() }
    }
}

extension ReceiverDetection {
    /// Adds the counts of another worker.
    mutating func merge(_ other: ReceiverDetection) {
        let isNewer = (other.latest ?? Instant(nanoseconds: .min)) > (latest ?? Instant(nanoseconds: .min))
        // Missed tags count since the later one of the two latest messages.
        if isNewer {
            expected += newExpected
            received += newReceived
            (newExpected, newReceived) = (other.newExpected, other.newReceived)
        } else {
            expected += other.newExpected
            received += other.newReceived
        }
        expected += other.expected
        received += other.received
        latest = isNewer ? other.latest : latest
        // The gaps of all messages together are at most as long as those of either monitor.
        let gaps = [(first, longestGap), (other.first, other.longestGap)].compactMap { $0.0 == nil ? nil : $0.1 }
        longestGap = gaps.min() ?? 0
        first = [first, other.first].compactMap(\.self).min()
        for tag in other.tags where !tags.contains(tag) { tags.append(tag) }
    }
}

/// The share of tags that a receiver receives within a sampling interval, by the expected RSSI, over all receivers.
struct DetectionShares: Hashable, Sendable {
    /// The expected RSSI in dBm at the lower edge of the first bin, the width of a bin in dB, and the number of bins.
    private static let lowest = -104.0
    private static let width = 4.0
    private static let bins = 16
    /// The number of trials from which the share of a bin is known, and the number of trials at which the weight of the
    /// older ones is halved.
    private static let leastTrials = 40.0
    private static let mostTrials = 4000.0

    var trials = Array(repeating: 0.0, count: DetectionShares.bins)
    var hits = Array(repeating: 0.0, count: DetectionShares.bins)

    /// Adds a tag that a receiver received or not.
    mutating func add(expected: Double, isHit: Bool) {
        let bin = Self.bin(expected)
        if trials[bin] >= Self.mostTrials {
            trials[bin] /= 2
            hits[bin] /= 2
        }
        trials[bin] += 1
        if isHit { hits[bin] += 1 }
    }

    /// Returns the probability that a receiver receives a tag with an expected RSSI in dBm; nil while it is unknown.
    func share(expected: Double) -> Double? {
        let bin = Self.bin(expected)
        return trials[bin] >= Self.leastTrials ? hits[bin] / trials[bin] : nil
    }

    private static func bin(_ expected: Double) -> Int {
        Int(min(max((expected - lowest) / width, 0), Double(bins - 1)))
    }
}
