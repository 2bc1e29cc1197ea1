import IndoorLocalization

/// How often a classifier tells the right room.
public struct RoomScore: Hashable, Sendable {
    /// Scans whose room is known.
    public private(set) var scanCount = 0
    /// Those of them that allowed an answer.
    public private(set) var answeredCount = 0
    /// Those whose most probable room was the right one.
    public private(set) var rightCount = 0
    /// Those after which the right room was believed, by the change rule.
    public private(set) var believedCount = 0
    /// Changes of the believed room while the device stayed in one.
    public private(set) var falseChanges = 0
    /// How long the device stayed in rooms, in seconds.
    public private(set) var seconds = 0.0
    /// The probabilities of the answers, beside how often these were right.
    public private(set) var reliability = RoomReliability()
    /// How often which room was believed, by the right one; nil is none of the trained rooms, or no answer.
    public private(set) var confusion: [String: [String?: Int]] = [:]
    /// Seconds from each change of room to the estimate after which the new room was believed; infinite if it never was.
    public private(set) var delays: [Double] = []

    /// Creates the score of nothing.
    public init() {}

    /// Of all scans, those told right; nil without scans.
    public var accuracy: Double? { share(rightCount) }
    /// Of all scans, those after which the right room was believed; nil without scans.
    public var believedAccuracy: Double? { share(believedCount) }
    /// The share of all scans after which no trained room was believed; nil without scans.
    public var nowhereShare: Double? { share(confusion.values.reduce(0) { $0 + ($1[nil] ?? 0) }) }
    /// False changes of room in an hour; nil without time.
    public var falseChangesPerHour: Double? { seconds > 0 ? Double(falseChanges) / seconds * 3600 : nil }
    /// The mean probability of what was told, to compare with `accuracy`; nil without answers.
    public var meanProbability: Double? {
        answeredCount > 0 ? reliability.bins.reduce(0) { $0 + $1.probabilitySum } / Double(answeredCount) : nil
    }
    /// The median of `delays`; nil without a change.
    public var medianDelay: Double? { delays.isEmpty ? nil : delays.sorted()[delays.count / 2] }

    private func share(_ count: Int) -> Double? { scanCount > 0 ? Double(count) / Double(scanCount) : nil }

    /// Adds a stay, of a device that may have stayed elsewhere before.
    ///
    /// - Parameters:
    ///   - room: where the device was.
    ///   - isChange: whether it came from another room, to time how soon that is believed.
    public mutating func add(
        stayIn room: String, isChange: Bool, scans: [RoomScan], classifier: inout some Classifier,
        filter: inout RoomBelief
    ) {
        guard let first = scans.first, let last = scans.last else { return }
        seconds += first.instant.duration(to: last.instant).seconds
        var delay = Double.infinity
        for (index, scan) in scans.enumerated() {
            scanCount += 1
            let before = filter.room
            if let estimate = classifier.classify(scan) {
                answeredCount += 1
                reliability.add(probability: estimate.probability, isRight: estimate.room == room)
                if estimate.room == room { rightCount += 1 }
                filter.take(estimate)
            }
            confusion[room, default: [:]][filter.room, default: 0] += 1
            if filter.room == room {
                believedCount += 1
                delay = min(delay, first.instant.duration(to: scan.instant).seconds)
            }
            // The first belief, and the change that is due, are none.
            let isDue = filter.room == room && before != room && isChange && index > 0
            if before != nil, before != filter.room, index > 0, !isDue { falseChanges += 1 }
        }
        if isChange { delays.append(delay) }
    }

    /// Adds another score.
    public mutating func add(_ other: RoomScore) {
        scanCount += other.scanCount
        answeredCount += other.answeredCount
        rightCount += other.rightCount
        believedCount += other.believedCount
        falseChanges += other.falseChanges
        seconds += other.seconds
        reliability.add(other.reliability)
        delays += other.delays
        for (room, told) in other.confusion {
            confusion[room, default: [:]].merge(told, uniquingKeysWith: +)
        }
    }
}

/// The room that is believed while a change rule watches the estimates.
public struct RoomBelief: Hashable, Sendable {
    private var filter: RoomChangeFilter

    /// Creates a belief in nothing yet.
    public init(_ settings: RoomSettings = RoomSettings()) { filter = RoomChangeFilter(settings) }

    /// The room that is believed; nil for none.
    public var room: String? { filter.settled.room }

    /// Takes in an estimate.
    public mutating func take(_ estimate: RoomEstimate) { _ = filter.observe(estimate.room) }
}
