import CMath

/// The estimated height of the device above the floor, which distances to anchors near the device depend on.
///
/// The estimate is the posterior mean over candidate heights. The likelihood of a height is the likelihood of the
/// measured distances, averaged over the belief.
package struct DeviceHeight: Hashable, Sendable {
    /// The possible heights in metres.
    let candidates: [Double]
    private let prior: [Double]
    private var evidence: [Double]
    /// The estimated height in metres.
    package private(set) var value: Double

    /// The time constant in seconds with which evidence loses its weight, because the device may be carried
    /// differently.
    private static let memory = 300.0

    /// Creates the estimate before any evidence.
    package init(model: RangeModel) {
        let deviation = model.deviceHeightDeviation
        // From below a pocket to above a person's head, and higher for a device on a pole or at a ceiling.
        let steps = deviation > 0 ? [-1.0, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3] : [0]
        candidates = steps.map { model.deviceHeight + $0 * deviation }
        prior = steps.map { -$0 * $0 / 2 }
        evidence = steps.map { _ in 0 }
        value = model.deviceHeight
    }

    /// Whether the height is known.
    var isKnown: Bool { candidates.count == 1 }

    /// Adds the log-likelihood of each candidate.
    ///
    /// - Parameters:
    ///   - share: the part of the evidence that is independent of the previous one, in [0, 1].
    ///   - seconds: time since the previous evidence.
    mutating func observe(_ logLikelihoods: [Double], share: Double, after seconds: Double) {
        guard logLikelihoods.allSatisfy(\.isFinite) else { return }
        let keep = cmath_exp(-max(0, seconds) / Self.memory)
        for index in evidence.indices { evidence[index] = keep * evidence[index] + share * logLikelihoods[index] }
        let sums = evidence.indices.map { prior[$0] + evidence[$0] }
        let best = sums.max() ?? 0
        let weights = sums.map { cmath_exp($0 - best) }
        let total = weights.reduce(0, +)
        value = zip(weights, candidates).reduce(0) { $0 + $1.0 * $1.1 } / total
        // Only differences between candidates matter.
        for index in evidence.indices { evidence[index] -= best }
    }
}
