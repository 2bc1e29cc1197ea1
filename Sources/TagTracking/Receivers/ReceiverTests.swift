import IndoorVocabulary
import VenueModel

/// The rules that derive the health of receivers from their states at one instant.
///
/// Each condition begins and ends at different limits, so that the health doesn't alternate near a limit.
struct ReceiverTests: Sendable {
    /// The minimum time in seconds without a message after which a receiver is silent, and the factor on its longest
    /// gap.
    private static let leastSilence = 30.0
    private static let gapFactor = 3.0
    /// The number of tags that a silent receiver should have received since its latest message.
    private static let missedTags = 6.0
    /// The same number for a receiver that has never sent a message.
    private static let firstMissedTags = 20.0
    /// The conditions for a silent receiver without tags near it: the time in seconds without a message, the factor on
    /// its longest gap, and the share of the other receivers that still send.
    private static let longSilence = 300.0
    private static let longGapFactor = 8.0
    private static let mostOthers = 0.7
    /// The time in seconds within which another receiver must have sent a message; otherwise, the whole system may have
    /// failed.
    private static let liveness = 15.0
    /// The time in seconds for which a receiver sends after a silence until it is healthy.
    private static let recovery = 10.0
    /// The number of expected tags, the number of different tags, and the shares of received tags at which a receiver
    /// becomes deaf and healthy again.
    private static let expectedTags = 12.0
    private static let leastTags = 3
    private static let deafShare = 0.2
    private static let hearingShare = 0.5
    /// The error in dB below which a receiver hasn't moved.
    static let leastDeviation = 5.0
    /// The distance in metres and the logarithm of the likelihood ratio at which a receiver has moved, and the ratio at
    /// which it is in its place again.
    private static let leastDistance = 4.0
    private static let movedEvidence = 15.0
    private static let placedEvidence = 4.0

    /// The difference in dB between a receiver and the others, by the latest comparisons with its standard deviation, and by
    /// all comparisons.
    struct Difference: Sendable {
        var latest: Double
        var deviation: Double
        var all: Double
    }

    /// The number of tags, the difference in dB to the other receivers, and the number of standard deviations by which it is
    /// larger, at which a receiver is miscalibrated; and the difference below which it isn't any more.
    private static let (comparedTags, leastDifference, significance) = (4, 6.0, 2.0)
    private static let usualDifference = 5.0

    let states: [ReceiverMonitor.State]
    /// The difference between each receiver and the others; nil if it isn't known.
    let differences: [Difference?]
    let now: Instant
    /// The time in seconds since the latest message of each receiver; nil before any.
    private let gaps: [Double?]

    init(states: [ReceiverMonitor.State], differences: [Difference?], now: Instant) {
        self.states = states
        self.differences = differences
        self.now = now
        gaps = states.map { $0.detection.latest?.duration(to: now).seconds }
    }

    /// Returns whether the search for a better place contradicts the receiver's place.
    static func isElsewhere(_ finding: ReceiverPlacement.Finding?, isMoved: Bool) -> Bool {
        guard let finding, finding.distance >= leastDistance else { return false }
        return finding.evidence >= (isMoved ? placedEvidence : movedEvidence)
    }

    /// Returns the new health of a receiver with the reason; nil if the health doesn't change.
    func change(of index: Int) -> (health: ReceiverEvent.Health, text: String)? {
        let state = states[index]
        let (health, text) = condition(of: index)
        guard health != state.health else { return nil }
        return (health, text)
    }

    private func condition(of index: Int) -> (health: ReceiverEvent.Health, text: String) {
        if let text = silence(of: index) { return (.silent, text) }
        if let text = states[index].clock { return (.clockWrong, text) }
        if let text = deafness(of: index) { return (.deaf, text) }
        if let text = displacement(of: index) { return (.moved, text) }
        if let text = miscalibration(of: index) { return (.miscalibrated, text) }
        return (.healthy, "It sends messages again or receives the expected tags at the expected RSSI.")
    }

    private func silence(of index: Int) -> String? {
        let detection = states[index].detection
        guard let gap = gaps[index] else {
            let missed = detection.newExpected
            guard missed >= Self.firstMissedTags else { return nil }
            return "It has sent no message yet, and missed \(Self.whole(missed)) receptions of tags near it."
        }
        if states[index].health == .silent {
            let since = states[index].returned?.duration(to: now).seconds
            let isBack = since.map { $0 >= Self.recovery } ?? false
            return isBack && gap < Self.leastSilence ? nil : "It has sent no message for \(Self.whole(gap)) s."
        }
        let others = gaps.indices.filter { $0 != index && gaps[$0] != nil }
        guard others.contains(where: { (gaps[$0] ?? .infinity) <= Self.liveness }) else { return nil }
        let limit = max(Self.leastSilence, Self.gapFactor * detection.longestGap)
        guard gap > limit else { return nil }
        let reason =
            "It has sent no message for \(Self.whole(gap)) s; its longest pause was \(Self.whole(detection.longestGap)) s."
        if detection.newExpected >= Self.missedTags {
            return reason + " It missed \(Self.whole(detection.newExpected)) receptions of tags near it."
        }
        let current = others.count { other in
            (gaps[other] ?? .infinity)
                <= max(Self.leastSilence, Self.gapFactor * states[other].detection.longestGap)
        }
        let isLong = gap > max(Self.longSilence, Self.longGapFactor * detection.longestGap)
        guard isLong, Double(current) >= Self.mostOthers * Double(others.count) else { return nil }
        return reason + " \(current) of \(others.count) other receivers send."
    }

    private func deafness(of index: Int) -> String? {
        let (state, detection) = (states[index], states[index].detection)
        let isDeaf = state.health == .deaf
        guard let share = detection.receivedShare(least: Self.expectedTags) else {
            // Too few tags are near to confirm that it receives again.
            return isDeaf && detection.expected < Self.expectedTags
                ? "It received \(Self.whole(detection.received)) of \(Self.whole(detection.expected)) expected tags."
                : nil
        }
        guard isDeaf || detection.tags.count >= Self.leastTags,
            share < (isDeaf ? Self.hearingShare : Self.deafShare)
        else { return nil }
        return "It sends messages, but received \(Self.whole(detection.received)) of \(Self.whole(detection.expected)) "
            + "expected receptions of \(detection.tags.count) tags near it."
    }

    private func displacement(of index: Int) -> String? {
        guard states[index].isMoved else { return nil }
        guard let finding = states[index].finding else { return "Its RSSI contradicts its place." }
        return
            "The RSSI of \(finding.count) readings differs by \(Self.tenth(finding.deviation)) dB from the expected one, "
            + "and by \(Self.tenth(finding.otherDeviation)) dB for a place \(Self.whole(finding.distance)) m away, at "
            + "x \(Self.tenth(finding.point.x)) m, y \(Self.tenth(finding.point.y)) m."
    }

    private func miscalibration(of index: Int) -> String? {
        let isMiscalibrated = states[index].health == .miscalibrated
        let tags = states[index].estimate.comparedTags
        guard let difference = differences[index] else {
            // Too few tags are near to confirm that it measures as the others do.
            return isMiscalibrated ? "It measured much more or less than the other receivers." : nil
        }
        if isMiscalibrated {
            guard max(abs(difference.latest), abs(difference.all)) >= Self.usualDifference else { return nil }
        } else {
            let least = abs(difference.latest) - Self.significance * difference.deviation
            guard tags >= Self.comparedTags, least >= Self.leastDifference,
                abs(difference.all) >= Self.leastDifference, difference.latest * difference.all > 0
            else { return nil }
        }
        let comparison = "\(Self.whole(abs(difference.latest))) dB \(difference.latest > 0 ? "more" : "less")"
        return "It measures \(comparison) than the other receivers, as \(tags) tags show. Positions correct the "
            + "difference. Check its antenna, its place and its settings."
    }

    private static func whole(_ value: Double) -> String { String(Int(min(max(value, 0), 1e15).rounded())) }

    private static func tenth(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
