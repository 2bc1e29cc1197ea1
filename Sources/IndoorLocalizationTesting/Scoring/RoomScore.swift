import IndoorLocalization

/// The accuracy of a room classifier, before and after the rule for room changes.
package struct RoomScore: Hashable, Sendable {
    /// The number of scans whose room is known.
    package private(set) var scanCount = 0
    /// The number of those scans with an answer.
    package private(set) var answeredCount = 0
    /// The number of those scans whose most probable room was correct.
    package private(set) var rightCount = 0
    /// The number of those scans after which the change rule had settled on the correct room.
    package private(set) var believedCount = 0
    /// The number of changes of the settled room while the device stayed in one room.
    package private(set) var falseChanges = 0
    /// The time that the device spent in rooms, in seconds.
    package private(set) var seconds = 0.0
    /// The probabilities of the answers, compared with the share that was correct.
    package private(set) var reliability = RoomReliability()
    /// The number of scans by correct room and settled room.
    ///
    /// A settled room of nil means that no trained room was settled, or that there was no answer.
    package private(set) var confusion: [String: [String?: Int]] = [:]
    /// The delay in seconds from each change of room until the new room was settled; infinite if it never was.
    package private(set) var delays: [Double] = []

    /// Creates an empty score.
    package init() {}

    /// The share of all scans with a correct answer; nil without scans.
    package var accuracy: Double? { share(rightCount) }
    /// The share of all scans after which the settled room was correct; nil without scans.
    package var believedAccuracy: Double? { share(believedCount) }
    /// The share of all scans after which no trained room was settled; nil without scans.
    package var nowhereShare: Double? { share(confusion.values.reduce(0) { $0 + ($1[nil] ?? 0) }) }
    /// The number of false changes of room per hour; nil if the duration is 0.
    package var falseChangesPerHour: Double? { seconds > 0 ? Double(falseChanges) / seconds * 3600 : nil }
    /// The mean probability of the answers, for comparison with `accuracy`; nil without answers.
    package var meanProbability: Double? {
        answeredCount > 0 ? reliability.bins.reduce(0) { $0 + $1.probabilitySum } / Double(answeredCount) : nil
    }
    /// The median of `delays`; nil without a change.
    package var medianDelay: Double? { delays.isEmpty ? nil : delays.sorted()[delays.count / 2] }

    private func share(_ count: Int) -> Double? { scanCount > 0 ? Double(count) / Double(scanCount) : nil }

    /// Adds a stay in one room. The device may have been elsewhere before.
    ///
    /// - Parameters:
    ///   - room: the room of the device.
    ///   - isChange: whether the device came from another room; if so, the delay until it is settled is measured.
    package mutating func add(
        stayIn room: String, isChange: Bool, scans: [RoomScan], classifier: inout some Classifier,
        filter: inout RoomBelief
    ) {
        guard let first = scans.first, let last = scans.last else { return }
        seconds += first.instant.seconds(to: last.instant)
        var delay = Double.infinity
        for (index, scan) in scans.enumerated() {
            scanCount += 1
            let before = filter.room
            if let estimate = classifier.classify(scan) {
                answeredCount += 1
                reliability.add(probability: estimate.probability, isRight: estimate.room == room)
                if estimate.room == room { rightCount += 1 }
                filter.update(with: estimate)
            }
            confusion[room, default: [:]][filter.room, default: 0] += 1
            if filter.room == room {
                believedCount += 1
                delay = min(delay, first.instant.seconds(to: scan.instant))
            }
            // The first settled room and the expected change are not false changes.
            let isDue = filter.room == room && before != room && isChange && index > 0
            if before != nil, before != filter.room, index > 0, !isDue { falseChanges += 1 }
        }
        if isChange { delays.append(delay) }
    }

    /// Adds another score.
    package mutating func add(_ other: RoomScore) {
        scanCount += other.scanCount
        answeredCount += other.answeredCount
        rightCount += other.rightCount
        believedCount += other.believedCount
        falseChanges += other.falseChanges
        seconds += other.seconds
        reliability.add(other.reliability)
        delays += other.delays
        for (room, reported) in other.confusion {
            confusion[room, default: [:]].merge(reported, uniquingKeysWith: +)
        }
    }
}

/// The settled room according to a change rule that is applied to estimates.
package struct RoomBelief: Hashable, Sendable {
    private var filter: RoomChangeFilter

    /// Creates a belief without a settled room.
    package init(_ settings: RoomSettings = RoomSettings()) { filter = RoomChangeFilter(settings) }

    /// The settled room; nil if there is none.
    package var room: String? { filter.settled.room }

    /// Applies the change rule to an estimate.
    package mutating func update(with estimate: RoomEstimate) { _ = filter.observe(estimate) }
}

/// A comparison of a classifier's probabilities with the share of its correct answers.
///
/// A reliability diagram as a table (M. H. DeGroot, S. E. Fienberg, *The Comparison and Evaluation of Forecasters*,
/// 1983): of the answers with a probability of 0.8, 80 % should be correct.
package struct RoomReliability: Hashable, Sendable {
    /// The answers whose probability is in one range.
    package struct Bin: Hashable, Sendable {
        /// The number of answers.
        package fileprivate(set) var count = 0
        /// The sum of their probabilities.
        package fileprivate(set) var probabilitySum = 0.0
        /// The number of correct answers.
        package fileprivate(set) var rightCount = 0

        /// The mean probability, in [0, 1]; nil without answers.
        package var meanProbability: Double? { count > 0 ? probabilitySum / Double(count) : nil }
        /// The share of correct answers, in [0, 1]; nil without answers.
        package var accuracy: Double? { count > 0 ? Double(rightCount) / Double(count) : nil }
    }

    /// The answers by probability, in ten equal ranges: below 0.1, from 0.1 to below 0.2, and so on.
    package private(set) var bins = [Bin](repeating: Bin(), count: 10)

    /// Creates a comparison without answers.
    package init() {}

    /// The number of answers.
    package var count: Int { bins.reduce(0) { $0 + $1.count } }
    /// The expected calibration error: the mean distance between probability and accuracy of each bin, weighted by its
    /// number of answers; in [0, 1], nil without answers.
    package var error: Double? {
        guard count > 0 else { return nil }
        return bins.reduce(0) { $0 + abs($1.probabilitySum - Double($1.rightCount)) } / Double(count)
    }

    /// Adds an answer with its probability, in [0, 1].
    package mutating func add(probability: Double, isRight: Bool) {
        let index = min(max(0, Int(probability * Double(bins.count))), bins.count - 1)
        bins[index].count += 1
        bins[index].probabilitySum += probability
        if isRight { bins[index].rightCount += 1 }
    }

    /// Adds the answers of another comparison.
    package mutating func add(_ other: RoomReliability) {
        for (index, bin) in other.bins.enumerated() {
            bins[index].count += bin.count
            bins[index].probabilitySum += bin.probabilitySum
            bins[index].rightCount += bin.rightCount
        }
    }
}
