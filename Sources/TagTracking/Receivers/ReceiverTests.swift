import CMath
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
        gaps = states.map { $0.detection.latest?.seconds(to: now) }
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
            let since = states[index].returned?.seconds(to: now)
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

/// A test of whether the RSSIs of a receiver contradict its place.
///
/// The RSSIs of tags at many points are compared with the signal field and with path loss from another place, each with
/// a free offset. The ratio of the squared errors gives a likelihood ratio for normal errors of unknown variance; half
/// of the readings count, because the readings of one tag are correlated. Large errors are limited, as in P. J. Huber,
/// *Robust Estimation of a Location Parameter*, Annals of Mathematical Statistics 35(1), 1964.
struct ReceiverPlacement: Hashable, Sendable {
    /// The RSSI of a common tag at a point.
    struct Sample: Hashable, Sendable {
        var tag: UInt64
        var instant: Instant
        var mapID: MapID
        var point: MapPoint
        /// The RSSI in dBm, without the estimated power of the tag.
        var rssi: Double
        /// The RSSI in dBm that the signal field predicts.
        var common: Double
    }

    /// A better place of a receiver.
    struct Finding: Hashable, Sendable {
        /// The most plausible point on the receiver's map.
        var point: MapPoint
        /// The distance in metres from the receiver's place.
        var distance: Double
        /// The logarithm of the likelihood ratio of both places.
        var evidence: Double
        /// The root of the mean squared error at the receiver's place and at the other one, in dB.
        var deviation: Double
        var otherDeviation: Double
        /// The number of readings.
        var count: Int
    }

    /// The number of readings and the age in seconds of the oldest one.
    private static let sampleLimit = 160
    private static let longestAge = 900.0
    /// The numbers of readings and tags that the test needs.
    private static let leastSamples = 60
    private static let leastTags = 5
    /// The limit in dB on an error; a larger error counts as this one.
    private static let errorLimit = 15.0
    /// The distance in metres between two points of the search at its end, and the number of points at its start.
    private static let step = 2.0
    private static let pointLimit = 2500.0
    /// The path-loss exponent of a receiver without one.
    private static let usualExponent = 2.4
    /// The difference in height between tag and receiver in metres.
    private static let height = 1.0

    var samples: [Sample] = []

    /// Adds a reading.
    mutating func add(_ sample: Sample) {
        if samples.count >= Self.sampleLimit { samples.removeFirst() }
        samples.append(sample)
    }

    /// Discards old readings.
    mutating func discard(at now: Instant) {
        samples.removeAll { $0.instant.seconds(to: now) > Self.longestAge }
    }

    /// Returns the root of the mean squared error at the receiver's place in dB; nil with too few readings.
    func deviation(for receiver: VenueReceiver) -> Double? {
        let here = usable(for: receiver)
        guard !here.isEmpty else { return nil }
        return (error(at: receiver, here) / Double(here.count)).squareRoot()
    }

    /// Returns the best place on the receiver's map; nil with too few readings.
    func finding(for receiver: VenueReceiver, on map: VenueMap) -> Finding? {
        let here = usable(for: receiver)
        guard !here.isEmpty, map.width > 0, map.height > 0 else { return nil }
        let current = error(at: receiver, here)
        var best = (point: receiver.point, error: current)
        var step = max(Self.step, (map.width * map.height / Self.pointLimit).squareRoot())
        for column in 0...Int(map.width / step) {
            for row in 0...Int(map.height / step) {
                let point = MapPoint(x: Double(column) * step, y: Double(row) * step)
                let error = Self.pathLossError(here, from: point, receiver)
                if error < best.error { best = (point, error) }
            }
        }
        while step > Self.step / 2 {
            step /= 2
            let center = best.point
            for (x, y) in [(-1.0, 0.0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
                let point = center + MapPoint(x: x, y: y) * step
                let error = Self.pathLossError(here, from: point, receiver)
                if error < best.error { best = (point, error) }
            }
        }
        let count = Double(here.count)
        return Finding(
            point: best.point, distance: best.point.distance(to: receiver.point),
            evidence: count / 4 * cmath_log(current / max(best.error, 1e-9)),
            deviation: (current / count).squareRoot(), otherDeviation: (best.error / count).squareRoot(),
            count: here.count)
    }

    /// Returns the readings on the receiver's map; empty if there are too few.
    private func usable(for receiver: VenueReceiver) -> [Sample] {
        let here = samples.filter { $0.mapID == receiver.mapID }
        return here.count >= Self.leastSamples && Set(here.map(\.tag)).count >= Self.leastTags ? here : []
    }

    /// Returns the squared error of the better one of signal field and path loss.
    private func error(at receiver: VenueReceiver, _ here: [Sample]) -> Double {
        min(
            Self.squaredError(here.map { $0.rssi - $0.common }),
            Self.pathLossError(here, from: receiver.point, receiver))
    }

    private static func pathLossError(
        _ samples: [Sample], from point: MapPoint, _ receiver: VenueReceiver
    ) -> Double {
        let slope = 5 * (receiver.pathLossExponent ?? usualExponent)
        return squaredError(
            samples.map { sample in
                let planar = sample.point.distance(to: point)
                return sample.rssi + slope * cmath_log10(planar * planar + height * height)
            })
    }

    /// Returns the sum of the squared differences from their median, each limited.
    private static func squaredError(_ values: [Double]) -> Double {
        let median = values.sorted()[values.count / 2]
        var sum = 0.0
        for index in values.indices {
            let error = min(abs(values[index] - median), errorLimit)
            sum += error * error
        }
        return sum
    }
}

extension ReceiverPlacement {
    /// Adds the readings of another worker.
    mutating func merge(_ other: ReceiverPlacement) {
        samples = (samples + other.samples).sorted { ($0.instant, $0.tag) < ($1.instant, $1.tag) }
        samples.removeFirst(max(0, samples.count - Self.sampleLimit))
    }
}

/// The offset of one receiver from the differences between its RSSIs and the expected ones.
///
/// The differences of one tag share the error of the tag's place and antenna, so each tag counts as one measurement with
/// at least the variance of that error, however often it was received. The same holds for each other receiver that
/// transmits. A normal prior with mean 0 shrinks the result. Source: S. R. Searle, G. Casella, C. E. McCulloch,
/// *Variance Components*, 1992, chapter 3 (the two-way model with random effects).
struct ReceiverOffsetEstimate: Hashable, Sendable {
    /// The differences of one tag, or of one receiver that transmits.
    struct Source: Hashable, Sendable {
        /// The hash of the tag's key, or that of the receiver's name.
        var id: UInt64
        /// The mean difference in dB. For a receiver, it includes the deviation of its power.
        var mean: Double
        /// The number of comparisons, at most ``countLimit``.
        var count: Double
        /// The number of readings in them.
        var readings: Int
        var latest: Instant
        /// The mean and the number of the latest comparisons, at most ``recentLimit``.
        var recent = 0.0
        var recentCount = 0.0
    }

    /// The standard deviation of the prior, in dB.
    static let prior = 4.0
    /// The standard deviation of the error that the comparisons of one tag share, and of one comparison, in dB.
    private static let tagDeviation = 4.0
    private static let deviation = 6.0
    /// These standard deviations for a receiver that transmits. The shadowing between two fixed places never changes.
    private static let nodeDeviation = 5.0
    /// The maximum number of comparisons that older ones count for: three minutes of a tag that is compared every 10 s.
    /// A larger number would hardly reduce the variance, because the error that the comparisons of a tag share remains.
    static let countLimit = 20.0
    /// The number of comparisons that the mean of the latest ones contains, and the longest time between two of them.
    static let recentLimit = 3.0
    private static let recentGap = Duration.seconds(40)
    /// The minimum number of the latest comparisons of a tag, and the numbers of comparisons and of tags together from
    /// which a change is found.
    private static let (leastRecent, leastComparisons, leastChanged) = (2.0, 12.0, 4)
    /// The minimum median of the changes in dB, its minimum ratio to its standard deviation, and the share of the tags
    /// with at least half of this change, at which the offset has changed.
    private static let (leastChange, significance, changedShare) = (6.0, 4.5, 0.75)
    /// The standard deviation in dB of the change of one tag's latest comparisons: its place differs too.
    private static let changeDeviation = 6.5
    /// The limit on the number of tags and of receivers; the one without readings for the longest time is replaced.
    static let sourceLimit = 64
    /// The time after which a tag without readings is discarded.
    private static let lifetime = Duration.seconds(3600)
    /// A bound in dB on the difference between two RSSIs.
    static let greatestDifference = 1000.0
    /// The greatest change of a presumed power in dB: both are from -127 to 20 dBm.
    private static let greatestPowerChange = 147.0
    /// The numbers of tags and readings below which tags don't affect the offset.
    private static let leastTags = 3
    private static let leastReadings = 50
    /// The number of other receivers below which receivers don't affect the offset.
    private static let leastNodes = 2

    var tags: [Source] = []
    var nodes: [Source] = []

    /// Adds the mean difference of some readings of a tag.
    mutating func addTag(_ id: UInt64, difference: Double, readings: Int, at instant: Instant) {
        Self.add(id, difference, readings, instant, to: &tags)
    }

    /// Adds the difference of a reading of another receiver.
    mutating func addNode(_ id: UInt64, difference: Double, at instant: Instant) {
        Self.add(id, difference, 1, instant, to: &nodes)
    }

    private static func add(
        _ id: UInt64, _ difference: Double, _ readings: Int, _ instant: Instant, to sources: inout [Source]
    ) {
        let index: Int
        if let known = sources.firstIndex(where: { $0.id == id }) {
            index = known
        } else {
            if sources.count >= sourceLimit, let oldest = sources.indices.min(by: { sources[$0] < sources[$1] }) {
                sources.remove(at: oldest)
            }
            sources.append(Source(id: id, mean: 0, count: 0, readings: 0, latest: instant))
            index = sources.count - 1
        }
        sources[index].count = min(sources[index].count + 1, countLimit)
        sources[index].mean += (difference - sources[index].mean) / sources[index].count
        sources[index].readings += readings
        if sources[index].latest.duration(to: instant) > recentGap { sources[index].recentCount = 0 }
        sources[index].recentCount = min(sources[index].recentCount + 1, recentLimit)
        sources[index].recent += (difference - sources[index].recent) / sources[index].recentCount
        sources[index].latest = max(sources[index].latest, instant)
    }

    /// Continues with another presumed power of the receiver, from which the differences are measured. Without a known change,
    /// the estimate begins anew.
    mutating func follow(power: Double, insteadOf earlier: Double) {
        if power.isNaN, earlier.isNaN { return }
        let change = power - earlier
        guard change.isFinite, abs(change) <= Self.greatestPowerChange else {
            (tags, nodes) = ([], [])
            return
        }
        func moved(_ mean: Double) -> Double {
            min(max(mean - change, -Self.greatestDifference), Self.greatestDifference)
        }
        for index in tags.indices { tags[index].mean = moved(tags[index].mean) }
        for index in nodes.indices { nodes[index].mean = moved(nodes[index].mean) }
    }

    /// Moves the times of all comparisons, after the clock was set.
    mutating func move(by step: Duration) {
        for index in tags.indices { tags[index].latest = tags[index].latest.advanced(by: step) }
        for index in nodes.indices { nodes[index].latest = nodes[index].latest.advanced(by: step) }
    }

    /// Discards sources without readings for an hour.
    mutating func discard(at now: Instant) {
        tags.removeAll { $0.latest.duration(to: now) > Self.lifetime }
        nodes.removeAll { $0.latest.duration(to: now) > Self.lifetime }
    }

    /// Restarts from the latest comparisons if the offset has changed, for example because of another antenna. Long
    /// means would need ten minutes to follow the change.
    ///
    /// A tag that moves, or whose place is wrong, changes its own differences, but not those of most of the other tags.
    mutating func followChange(at now: Instant) {
        let isRecent = { (source: Source) in Self.isRecent(source, at: now) }
        let known = tags.filter { isRecent($0) && $0.count > Self.recentLimit }
        guard known.count >= Self.leastChanged, known.reduce(0, { $0 + $1.recentCount }) >= Self.leastComparisons
        else { return }
        let changes = known.map { $0.recent - $0.mean }.sorted()
        let median = changes[changes.count / 2]
        let significant = Self.significance * Self.changeDeviation / Double(known.count).squareRoot()
        guard abs(median) >= max(Self.leastChange, significant) else { return }
        let agreeing = changes.count { $0 * median > 0 && abs($0) >= abs(median) / 2 }
        guard Double(agreeing) >= Self.changedShare * Double(known.count) else { return }
        // They count as one comparison, because some may be older than the change.
        tags = tags.filter(isRecent).map { $0.latestAlone(count: 1) }
        nodes = nodes.filter(isRecent).map { $0.latestAlone(count: 1) }
    }

    private static func isRecent(_ source: Source, at now: Instant) -> Bool {
        source.recentCount >= leastRecent && source.latest.duration(to: now) <= recentGap
    }

    /// The number of tags that were compared several times.
    var comparedTags: Int { tags.count { $0.readings >= Int(Self.recentLimit) } }

    /// Returns the offset in dB and its precision in 1/dB², without the mean over receivers; nil without enough tags
    /// and receivers.
    ///
    /// - Parameters:
    ///   - powers: the deviation of the power of each receiver that transmits, in dB.
    ///   - now: the time up to which only the latest comparisons of each tag are used; nil uses all comparisons.
    func offset(powers: [UInt64: Double], latestUntil now: Instant? = nil) -> (value: Double, precision: Double)? {
        if let now {
            let latest = ReceiverOffsetEstimate(
                tags: tags.filter { Self.isRecent($0, at: now) }.map { $0.latestAlone(count: $0.recentCount) },
                nodes: nodes.filter { Self.isRecent($0, at: now) }.map { $0.latestAlone(count: $0.recentCount) })
            return latest.offset(powers: powers)
        }
        let readings = tags.reduce(0) { $0 + $1.readings }
        let usesTags = tags.count >= Self.leastTags && readings >= Self.leastReadings
        let known = nodes.filter { powers[$0.id] != nil }
        let usesNodes = known.count >= Self.leastNodes
        guard usesTags || usesNodes else { return nil }
        var (sum, precision) = (0.0, 1 / (Self.prior * Self.prior))
        for tag in usesTags ? tags : [] {
            let weight = Self.weight(of: tag, deviation: Self.tagDeviation)
            sum += weight * tag.mean
            precision += weight
        }
        for node in usesNodes ? known : [] {
            let weight = Self.weight(of: node, deviation: Self.nodeDeviation)
            sum += weight * (node.mean - (powers[node.id] ?? 0))
            precision += weight
        }
        return (sum / precision, precision)
    }

    private static func weight(of source: Source, deviation shared: Double) -> Double {
        1 / (shared * shared + deviation * deviation / max(source.count, 1))
    }

    /// Returns the estimate from the sources of both: those of one tag are combined in proportion to their numbers.
    func merged(with other: ReceiverOffsetEstimate) -> ReceiverOffsetEstimate {
        ReceiverOffsetEstimate(tags: Self.merge(tags, other.tags), nodes: Self.merge(nodes, other.nodes))
    }

    private static func merge(_ left: [Source], _ right: [Source]) -> [Source] {
        var merged: [UInt64: Source] = [:]
        for source in left + right {
            guard var known = merged[source.id] else {
                merged[source.id] = source
                continue
            }
            let count = known.count + source.count
            known.mean += (source.mean - known.mean) * source.count / max(count, 1)
            known.count = min(count, countLimit)
            known.readings += source.readings
            known.latest = max(known.latest, source.latest)
            merged[source.id] = known
        }
        return Array(merged.values.sorted(by: >).prefix(sourceLimit))
    }
}

extension ReceiverOffsetEstimate.Source {
    /// Returns the source with the mean of its latest comparisons alone.
    fileprivate func latestAlone(count: Double) -> Self {
        var source = self
        (source.mean, source.count) = (recent, count)
        return source
    }
}

extension ReceiverOffsetEstimate.Source: Comparable {
    /// Orders sources by the time of their latest reading.
    static func < (left: Self, right: Self) -> Bool { (left.latest, left.id) < (right.latest, right.id) }
}
