/// The parts of the engine that a program may bring itself.
///
/// A part is asked when the engine is made, once for each cell of each map; the filter works on the answers. So a part
/// costs nothing while the engine runs. How people move and when particles are drawn anew are values in the settings:
/// `MotionModel` and `Resampling`.
public struct PositioningParts: Sendable {
    /// What beacons sound like; nil means `SurveyedPathLoss` of the venue, with the settings' numbers.
    ///
    /// The method `PositioningMethod.trilateration` needs distances and keeps to path loss in any case.
    public var measurement: (any MeasurementModel)?
    /// Where people are expected; nil means `SurveyPrior` of the venue, times `PathPrior` if the settings ask for it.
    public var prior: (any MapPrior)?

    /// Creates parts; what is nil is the standard one.
    public init(measurement: (any MeasurementModel)? = nil, prior: (any MapPrior)? = nil) {
        self.measurement = measurement
        self.prior = prior
    }
}
