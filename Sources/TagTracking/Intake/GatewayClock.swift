import IndoorVocabulary

/// The relation between a gateway's clock and the time of arrival.
///
/// The clock of a gateway may be wrong by any amount, such as by a time zone, and often has a resolution of seconds. A message
/// arrives later than it was measured, by a delay that varies and is never negative. The smallest difference between arrival
/// and the gateway's time is therefore the offset of the clock plus the smallest delay. The offset is a low quantile of the
/// smallest differences in the latest 64 seconds with messages, so that single wrong times don't change it. As the seconds
/// are the latest ones, the offset follows the drift of the clock.
///
/// Source of the smallest delay as the estimate: D. L. Mills, *Internet Time Synchronization: the Network Time Protocol*, 1991,
/// section on the clock filter.
///
/// A clock that is set differs from the offset by more than the tolerance. Its new offset is used after some consistent
/// seconds: after `futureSeconds` if the clock is ahead, which a delay can't cause, and else after `delayedSeconds`. Until
/// then, times in the future are replaced by the arrival. A clock that is set repeatedly, or that runs slowly, is wrong:
/// readings then have the time of their arrival.
package struct GatewayClock: Hashable, Sendable {
    /// The time of a reading.
    package struct Stamp: Hashable, Sendable {
        /// The time, counted from the Unix epoch.
        package var instant: Instant
        /// Whether the gateway's clock contributed to the time.
        package var usesClock: Bool
        /// Whether the reading is older than `lateLimit`.
        package var isLate: Bool

        /// Creates a time.
        package init(instant: Instant, usesClock: Bool, isLate: Bool = false) {
            self.instant = instant
            self.usesClock = usesClock
            self.isLate = isLate
        }
    }

    /// A change of `isWrong`.
    package enum Change: Hashable, Sendable {
        /// The clock became wrong: its times are not used.
        case becameWrong
        /// The clock is right again.
        case recovered
    }

    /// The smallest difference between arrival and gateway time in one second with messages.
    private struct Second: Hashable, Sendable {
        /// The arrival of its first message.
        var begin: Instant
        /// The smallest difference in nanoseconds.
        var difference: Int64

        /// Whether both are the same second of the time of arrival.
        func isSame(as other: Second) -> Bool { number == other.number }

        private var number: Int64 {
            let (quotient, remainder) = begin.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            return remainder < 0 ? quotient - 1 : quotient
        }
    }

    /// The largest difference beyond the resolution that counts as jitter.
    package static let tolerance = Duration.seconds(2)
    /// The delay above which a reading is late. Gateways that collect readings send them every few seconds.
    package static let lateLimit = Duration.seconds(30)
    /// The consistent seconds after which a clock is set forward.
    package static let futureSeconds = 5
    /// The consistent seconds after which a clock is set back.
    package static let delayedSeconds = 10
    /// The seconds that determine the offset.
    private static let window = 64
    /// The age above which a second isn't used, so that the clock of a gateway that was off for long is determined
    /// again.
    private static let longestAge = Duration.seconds(900)
    /// The points of evidence against a clock: 3 for a jump and 1 for each second with times in the future. The other
    /// values are the points at which it is wrong and healthy again, and the maximum.
    private static let scores = (jump: 3, future: 1, wrong: 8, healthy: 2, limit: 12)
    /// The time after which the evidence against a clock decreases by 1.
    private static let forgiveness = Duration.seconds(60)

    /// The difference between arrival and the gateway's clock in nanoseconds; nil before the first reading.
    package private(set) var offset: Int64?
    /// Whether the clock jumps or runs slowly, so that it isn't used.
    package private(set) var isWrong = false

    private var seconds: [Second] = []
    /// The latest seconds if all of them differ in the same direction by more than the tolerance.
    private var strange: [Second] = []
    private var isStrangeAhead = false
    private var score = 0
    private var scored = Instant.zero

    /// Creates a clock without readings.
    package init() {}

    /// Adds the time of a reading by the gateway's clock, and returns it on the timeline of the arrivals.
    ///
    /// If the clock's resolution includes the arrival, the arrival is the time of the reading. Otherwise the message was
    /// delayed, and the time is the middle of the resolution. The time is never after the arrival.
    package mutating func stamp(_ time: GatewayTime, arrival: Instant) -> Stamp {
        let resolution = max(0, time.resolution.nanoseconds)
        let tolerance = Self.saturating(Self.tolerance.nanoseconds, plus: resolution)
        let difference = Self.saturating(arrival.nanoseconds, minus: time.nanoseconds)
        forgive(at: arrival)
        forgetOldSeconds(at: arrival)
        let deviation = offset.map { Self.saturating(difference, minus: $0) } ?? 0
        let isSettled = seconds.count >= Self.futureSeconds
        if deviation < -tolerance || deviation > tolerance {
            addStrange(Second(begin: arrival, difference: difference), isAhead: deviation < 0, tolerance)
        } else {
            strange = []
            add(Second(begin: arrival, difference: difference))
        }
        guard let offset, !isWrong else { return Stamp(instant: arrival, usesClock: false) }
        let delay = Self.saturating(difference, minus: offset)
        // The time would be after the arrival, or nothing confirms that the delay isn't an error of the clock.
        guard delay >= -tolerance, isSettled || delay <= tolerance else {
            return Stamp(instant: arrival, usesClock: false)
        }
        guard delay > resolution else { return Stamp(instant: arrival, usesClock: true) }
        let instant = arrival.advanced(by: .nanoseconds(resolution / 2 - delay))
        return Stamp(instant: instant, usesClock: true, isLate: delay > Self.lateLimit.nanoseconds)
    }

    /// Moves all times of arrival, after the clock that gives them was set forward.
    mutating func move(by step: Duration) {
        func move(_ second: inout Second) {
            second.begin = second.begin.advanced(by: step)
            second.difference = Self.saturating(second.difference, plus: step.nanoseconds)
        }
        for index in seconds.indices { move(&seconds[index]) }
        for index in strange.indices { move(&strange[index]) }
        offset = offset.map { Self.saturating($0, plus: step.nanoseconds) }
        scored = scored.advanced(by: step)
    }

    /// Adds the time of a reading, and returns its time with the change of `isWrong`, if there is one.
    mutating func stampWithChange(_ time: GatewayTime, arrival: Instant) -> (stamp: Stamp, change: Change?) {
        let wasWrong = isWrong
        let stamp = stamp(time, arrival: arrival)
        return (stamp, isWrong == wasWrong ? nil : (isWrong ? .becameWrong : .recovered))
    }

    private static func saturating(_ left: Int64, minus right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (left < 0 ? .min / 2 : .max / 2) : min(max(difference, .min / 2), .max / 2)
    }

    private static func saturating(_ left: Int64, plus right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max / 2 : min(sum, .max / 2)
    }
}

// MARK: Offset

extension GatewayClock {
    /// Adds a difference to the latest second, or begins a new one; returns whether it began one.
    private static func add(_ second: Second, to seconds: inout [Second], limit: Int) -> Bool {
        if let last = seconds.last, last.isSame(as: second) {
            seconds[seconds.count - 1].difference = min(last.difference, second.difference)
            return false
        }
        if seconds.count == limit { seconds.removeFirst() }
        seconds.append(second)
        return true
    }

    private mutating func add(_ second: Second) {
        let earlier = seconds.last?.difference
        let isNew = Self.add(second, to: &seconds, limit: Self.window)
        if isNew || seconds.last?.difference != earlier { updateOffset() }
    }

    /// Discards old seconds: a gateway may be off for a long time, and the clock of the arrivals may be set back.
    private mutating func forgetOldSeconds(at arrival: Instant) {
        guard let first = seconds.first, let last = seconds.last else { return }
        func isOld(_ second: Second) -> Bool {
            let age = second.begin.duration(to: arrival)
            return age > Self.longestAge || age < .zero - Self.longestAge
        }
        guard isOld(first) else { return }
        if isOld(last) { seconds = [] } else { seconds.removeAll(where: isOld) }
        updateOffset()
    }

    /// Sets the offset to the smallest difference, or to the second to fourth smallest one if there are many.
    private mutating func updateOffset() {
        let rank = seconds.count / 17
        offset = seconds.isEmpty ? nil : seconds.map(\.difference).sorted()[rank]
    }

    private mutating func addStrange(_ second: Second, isAhead: Bool, _ tolerance: Int64) {
        // A delayed message proves nothing if other messages of the same second arrived in time.
        if !isAhead, let last = seconds.last, last.isSame(as: second) { return }
        if isAhead != isStrangeAhead { strange = [] }
        isStrangeAhead = isAhead
        guard Self.add(second, to: &strange, limit: Self.delayedSeconds) else { return }
        if isAhead { accuse(Self.scores.future, at: second.begin) }
        guard strange.count >= (isAhead ? Self.futureSeconds : Self.delayedSeconds) else { return }
        let latest = isAhead ? strange.suffix(Self.futureSeconds) : strange[...]
        let differences = latest.map(\.difference)
        guard let least = differences.min(), let most = differences.max() else { return }
        if Self.saturating(most, minus: least) <= tolerance {
            if isAhead { score = max(0, score - latest.count * Self.scores.future) }
            seconds = Array(latest)
            strange = []
            accuse(Self.scores.jump, at: second.begin)
            updateOffset()
        } else if !isAhead, Self.isFallingBehind(differences) {
            seconds = [second]
            strange = []
            accuse(Self.scores.limit, at: second.begin)
            updateOffset()
        }
    }

    /// Returns whether differences only increase: then the clock stands still or runs slowly. The differences of
    /// delayed readings that are sent together decrease.
    private static func isFallingBehind(_ differences: [Int64]) -> Bool {
        zip(differences, differences.dropFirst()).allSatisfy { $0 < $1 }
    }
}

// MARK: Evidence against the clock

extension GatewayClock {
    private mutating func accuse(_ points: Int, at arrival: Instant) {
        if score == 0 { scored = arrival }
        score = min(score + points, Self.scores.limit)
        if score >= Self.scores.wrong { isWrong = true }
    }

    private mutating func forgive(at arrival: Instant) {
        guard score > 0 else { return }
        let age = scored.duration(to: arrival)
        guard age >= .zero else { return scored = arrival }
        let points = age.nanoseconds / Self.forgiveness.nanoseconds
        guard points > 0 else { return }
        score = Int(max(0, Int64(score) - points))
        scored = scored.advanced(by: Self.forgiveness * points)
        if score <= Self.scores.healthy { isWrong = false }
    }
}
