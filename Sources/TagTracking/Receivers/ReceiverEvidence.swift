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

    /// Creates evidence without observations.
    package init() {}

    /// Whether there are no observations.
    package var isEmpty: Bool { messages.isEmpty && samples.isEmpty && nodes.isEmpty }

    /// Adds a message of a receiver.
    package mutating func addMessage(of receiver: Int, at instant: Instant) {
        guard var known = messages[receiver] else {
            messages[receiver] = Messages(first: instant, latest: instant)
            return
        }
        known.first = min(known.first, instant)
        known.longestGap = max(known.longestGap, known.latest.duration(to: instant).seconds)
        known.latest = max(known.latest, instant)
        known.count += 1
        messages[receiver] = known
    }

    package mutating func add(_ sample: Sample) { if samples.count < Self.limit { samples.append(sample) } }

    package mutating func add(_ node: Node) { if nodes.count < Self.limit { nodes.append(node) } }
}
