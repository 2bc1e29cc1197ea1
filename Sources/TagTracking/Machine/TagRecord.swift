import IndoorVocabulary
import VenueModel

/// The state of one tag in a machine.
struct TagRecord: Sendable {
    /// A receiver that received the tag recently.
    struct Heard: Sendable {
        /// The index of the receiver.
        var receiver: Int32
        /// The number of readings since the latest position, and the sum of their RSSIs in dBm.
        var count: Int32 = 0
        var sum: Float = 0
        /// The time of the latest reading in nanoseconds since 1970-01-01 UTC.
        var latest: Int64
    }

    /// The place of the tag when the machine last compared its RSSIs with the expected ones.
    struct Sample: Sendable {
        var nanoseconds: Int64
        var mapID: MapID
        var point: MapPoint
    }

    let key: TagKey
    /// ``TagKey/mixedHash`` of the key.
    let hash: UInt64
    /// Whether the register contains the tag.
    let isRegistered: Bool
    /// Nil while the tag is away.
    var session: TagSession?
    /// The index of the tag's class; the interval and the timeout of the class in nanoseconds.
    var tagClass = 0
    var interval: Int64 = 0
    var timeout: Int64 = 0
    /// The number of the latest output.
    var sequence: UInt64
    /// The number of readings that the tag's sessions used so far.
    var readings: UInt64 = 0
    /// The number of readings that wait for their turn.
    var pending = 0
    /// The time of the latest reading.
    var latest: Int64 = .min
    /// The time of the oldest reading since the latest position; nil without any.
    var oldestNew: Int64?
    /// The time of the next position.
    var nextPosition: Int64 = .max
    /// The time of the valid entry among the due tags; `.max` without one.
    var scheduled: Int64 = .max
    /// The time since which the tag is away; nil while it is present or was never received.
    var awaySince: Int64?
    /// The receivers of the last seconds, for the evidence about receivers.
    var heard: [Heard] = []
    var sample: Sample?

    /// The time of the next position or of the tag's absence.
    ///
    /// - Parameter quiet: the time in nanoseconds after the latest reading during which the tag has positions.
    func due(quiet: Int64) -> Int64 {
        guard session != nil else { return .max }
        let isMoving = oldestNew != nil || nextPosition <= latest.adding(quiet)
        return min(isMoving ? nextPosition : .max, latest.adding(timeout))
    }
}

extension Int64 {
    /// Returns the sum, clamped to the bounds.
    func adding(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, clamped to the bounds.
    func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }

    /// Returns the product with a positive number, clamped to the bounds.
    func multiplied(by other: Int64) -> Int64 {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? (self < 0 ? .min : .max) : product
    }
}
