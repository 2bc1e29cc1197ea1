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
