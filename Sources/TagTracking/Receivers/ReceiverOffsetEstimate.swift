import IndoorVocabulary

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
