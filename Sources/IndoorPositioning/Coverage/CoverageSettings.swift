/// The settings of a coverage analysis.
public struct CoverageSettings: Hashable, Sendable {
    /// The places that a proposed beacon may have.
    public enum Placement: Hashable, Sendable {
        /// All walkable places.
        case anywhere
        /// Walkable places within a distance in metres of a wall. A map without walls uses all walkable places.
        case atWalls(within: Double)
    }

    /// The parameters of the signal. A venue's survey replaces those that it determines.
    public var signal = SignalModel()
    /// The edge of a cell in metres, above 0; larger on maps that would have more than 6,000 cells.
    public var cellSize = 1.0
    /// The scanning time in seconds that contributes to one position, above 0.
    public var duration = 4.0
    /// The advertising interval of the beacons in seconds, above 0; used for venues without a survey.
    public var advertisingInterval = 0.3
    /// The signal loss through one wall in dB, 0 or more. The default is the loss of a light wall: COST Action 231,
    /// *Digital Mobile Radio Towards Future Generation Systems*, final report, 1999, section 4.7.
    public var wallLoss = 3.4
    /// The standard deviation in dB, 0 or more, of the error of the receiver's offset after the session has estimated
    /// it.
    public var receiverDeviation = 2.0
    /// The 68 % error in metres that positions should have; nil to reduce the mean error. Proposed beacons reduce the mean
    /// excess over the target.
    public var target: Double?
    /// The places that proposed beacons may have.
    public var placement = Placement.anywhere
    /// The distance in metres between the candidate places of a proposed beacon, above 0; larger on maps with more than
    /// 600 such places.
    public var candidateSpacing = 2.0

    /// Creates the default settings.
    public init() {}
}
