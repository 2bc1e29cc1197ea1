import CMath
import IndoorVocabulary

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
            let gap = max(messages.longestGap, latest?.duration(to: messages.first).seconds ?? 0)
            longestGap = max(longestGap, gap)
        }
        first = first ?? messages.first
        latest = max(latest ?? messages.latest, messages.latest)
        expected += newExpected
        received += newReceived
        (newExpected, newReceived) = (0, 0)
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
        let seconds = max(0, faded?.duration(to: now).seconds ?? 0)
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
