import IndoorVocabulary

/// When and how the filter draws its particles anew in proportion to their weights.
public struct Resampling: Hashable, Sendable {
    /// How the draws are spread over the weights.
    ///
    /// Either takes each particle as often as its weight says, on average.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// One random number; the draws lie at equal distances. The default: it adds the least chance, and is the fastest.
        ///
        /// Source: J. Carpenter, P. Clifford, P. Fearnhead, *Improved Particle Filter for Nonlinear Problems*, IEE
        /// Proceedings Radar 146(1), 1999.
        case systematic
        /// A random number for each draw, within an equal share of the weight: free of the errors that equal distances
        /// make when weights follow a pattern.
        ///
        /// Source: G. Kitagawa, *Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models*, Journal of
        /// Computational and Graphical Statistics 5(1), 1996.
        case stratified
    }

    /// How the draws are spread over the weights.
    public var scheme: Scheme = .systematic
    /// A map's particles are drawn anew when fewer than this share of them count, in [0, 1]; 0 means never.
    ///
    /// As many count as (Σw)² / Σw². Source: A. Kong, J. S. Liu, W. H. Wong, *Sequential Imputations and Bayesian
    /// Missing Data Problems*, Journal of the American Statistical Association 89(425), 1994.
    public var effectiveShare = 0.5

    /// Creates the default: systematic, when fewer than half of the particles count.
    public init() {}

    /// Creates a way to resample.
    public init(scheme: Scheme, effectiveShare: Double = 0.5) {
        self.scheme = scheme
        self.effectiveShare = effectiveShare
    }
}

extension Resampling {
    /// When and how particles are drawn anew, each setting once.
    package static let list: [Setting<Resampling>] = [
        .choice(
            "scheme", \.scheme, fromWorst: [.stratified, .systematic],
            "The resampling scheme."),
        .number(
            "effectiveShare", \.effectiveShare, in: 0...1,
            "The share of effective particles below which the particles are resampled; 0 disables resampling."),
    ]
}
