import IndoorVocabulary

/// The resampling scheme of the particle filter and its threshold.
public struct Resampling: Hashable, Sendable {
    /// A resampling scheme.
    ///
    /// On average, each scheme draws every particle in proportion to its weight.
    public enum Scheme: String, Hashable, Sendable, CaseIterable {
        /// One random number with equally spaced draws. This is the default: it has the lowest variance and is the
        /// fastest.
        ///
        /// Source: J. Carpenter, P. Clifford, P. Fearnhead, *Improved Particle Filter for Nonlinear Problems*, IEE
        /// Proceedings Radar 146(1), 1999.
        case systematic
        /// One random number per draw, within an equal share of the total weight. It avoids the errors of equally
        /// spaced draws when the weights follow a pattern.
        ///
        /// Source: G. Kitagawa, *Monte Carlo Filter and Smoother for Non-Gaussian Nonlinear State Space Models*, Journal of
        /// Computational and Graphical Statistics 5(1), 1996.
        case stratified
    }

    /// The resampling scheme.
    public var scheme: Scheme = .systematic
    /// Effective sample size, as a share of a map's particles in [0, 1], below which the particles are resampled; 0
    /// means never.
    ///
    /// The effective sample size is (Σw)² / Σw². Source: A. Kong, J. S. Liu, W. H. Wong, *Sequential Imputations and
    /// Bayesian Missing Data Problems*, Journal of the American Statistical Association 89(425), 1994.
    public var effectiveShare = 0.5

    /// Creates the default: systematic resampling at an effective sample size below half of the particles.
    public init() {}

    /// Creates resampling settings.
    public init(scheme: Scheme, effectiveShare: Double = 0.5) {
        self.scheme = scheme
        self.effectiveShare = effectiveShare
    }
}

extension Resampling {
    /// The settings of resampling.
    package static let list: [Setting<Resampling>] = [
        .choice(
            "scheme", \.scheme, fromWorst: [.stratified, .systematic],
            "The resampling scheme."),
        .number(
            "effectiveShare", \.effectiveShare, in: 0...1,
            "The share of effective particles below which the particles are resampled; 0 disables resampling."),
    ]
}
