import IndoorLocalization

/// The settings of simulated tags, receivers and their radio channel.
public struct SimulatedFleetSettings: Hashable, Sendable {
    /// The number of tags, 0 or above.
    public var tagCount = 100
    /// The seed of all random numbers.
    public var seed: UInt64 = 1
    /// The time between two advertisements of a tag in seconds, above 0.
    public var advertisingInterval = 1.0
    /// The mean walking speed in m/s; the tags have speeds from 70 to 130 % of it.
    public var speed = 1.0
    /// The mean time in seconds that a tag stands between two walks, 0 or above.
    public var pause = 20.0
    /// P₁ of receivers without one in the venue packet, in dBm.
    public var power = -62.0
    /// n of receivers without one in the venue packet.
    public var exponent = 2.4
    /// The standard deviation of T in dB.
    public var tagDeviation = 3.0
    /// The standard deviation of S in dB.
    public var shadowing = 3.0
    /// The edge in metres of the lattice of S, above 0.
    public var shadowingDistance = 2.0
    /// The standard deviation of F, which is normally distributed, in dB.
    public var fading = 3.0
    /// The difference in height between tags and receivers in metres.
    public var heightDifference = 1.0
    /// The distance in metres beyond which no receiver receives a tag, above 0.
    public var range = 40.0
    /// The RSSI in dBm at which half of the advertisements are received.
    public var sensitivity = -92.0
    /// The width of that threshold: the scale of a logistic function in dB, above 0.
    public var sensitivityWidth = 2.0
    /// The share of the advertisements that a receiver loses at any RSSI, in [0, 1].
    public var lossShare = 0.2
    /// O by the index of the receiver, in dB; 0 for receivers without an entry.
    public var receiverOffsets: [Int: Double] = [:]
    /// The true points of receivers that aren't at their places in the venue packet, by index.
    public var receiverPoints: [Int: MapPoint] = [:]

    /// Creates settings with the documented defaults.
    public init() {}
}
