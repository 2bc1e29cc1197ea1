/// The parts of the engine that a program can replace.
///
/// When the engine is created, it evaluates each part once for each cell of each map; the filter works on the results.
/// A part therefore uses no time while the engine runs. The motion model and the resampling scheme are settings:
/// `MotionModel` and `Resampling`.
public struct PositioningParts: Sendable {
    /// The measurement model; nil selects the venue's `SurveyedPathLoss`, with the values of the settings.
    ///
    /// The method `PositioningMethod.trilateration` needs distances and always uses path loss.
    public var measurement: (any MeasurementModel)?
    /// The prior of the position; nil selects the venue's `SurveyPrior`, multiplied by `PathPrior` if the settings
    /// enable it.
    public var prior: (any MapPrior)?

    /// Creates a set of parts; nil selects the standard part.
    public init(measurement: (any MeasurementModel)? = nil, prior: (any MapPrior)? = nil) {
        self.measurement = measurement
        self.prior = prior
    }
}
