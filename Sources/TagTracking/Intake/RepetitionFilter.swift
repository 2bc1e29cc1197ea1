import IndoorVocabulary

/// The rules that count each advertisement once.
///
/// Some gateways publish one advertisement several times, in a message for each of its parts. A reading is a
/// duplicate if the reading before it of the same tag by the same receiver has the same RSSI, and
/// - both have the same time by a clock with a resolution of at most 10 ms; or
/// - they arrived in two messages within 50 ms, and at least one has no such time.
///
/// Readings in one message are different advertisements unless such a clock proves the opposite.
///
/// The filtered RSSIs of a gateway pass even if their windows overlap: the engine weights each by the part of its window
/// that is new.
///
/// The filter stores the latest reading of each pair of tag and receiver, up to a limit.
struct RepetitionFilter: Sendable {
    private struct Pair: Hashable, Sendable {
        var tag: TagKey
        var receiver: UInt32
    }

    private struct Latest: Sendable {
        var message: UInt64
        var arrival: Instant
        /// The time by a fine clock; nil without one.
        var time: Int64?
        var rssi: Double
    }

    /// The coarsest resolution of a clock at which equal times prove that two readings are the same.
    static let fineResolution = Duration.milliseconds(10)
    /// The time within which a gateway publishes the parts of one advertisement. Devices advertise less often.
    static let duplicateTime = Duration.milliseconds(50)

    private var latest: RecencyTable<Pair, Latest>

    init(limit: Int) { latest = RecencyTable(limit: limit) }

    /// The number of stored pairs.
    var pairCount: Int { latest.count }

    /// Returns whether a reading repeats the one before it.
    ///
    /// - Parameters:
    ///   - receiver: the number of the receiver.
    ///   - message: the number of the message.
    mutating func isDuplicate(
        _ reading: GatewayReading, of tag: TagKey, receiver: UInt32, arrival: Instant, message: UInt64
    ) -> Bool {
        let time = reading.time.flatMap { $0.resolution <= Self.fineResolution ? $0.nanoseconds : nil }
        let fresh = Latest(message: message, arrival: arrival, time: time, rssi: reading.rssi)
        var isFirst = false
        func initial() -> Latest {
            isFirst = true
            return fresh
        }
        return latest.use(Pair(tag: tag, receiver: receiver), else: initial()) { last in
            let isRepeated = !isFirst && Self.isDuplicate(fresh, of: last)
            last = fresh
            return isRepeated
        }
    }

    private static func isDuplicate(_ reading: Latest, of last: Latest) -> Bool {
        guard reading.rssi == last.rssi else { return false }
        if let time = reading.time, let lastTime = last.time { return time == lastTime }
        guard reading.message != last.message else { return false }
        let pause = last.arrival.duration(to: reading.arrival)
        return pause >= .zero && pause <= duplicateTime
    }
}
