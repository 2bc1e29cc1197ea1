import IndoorLocalization

/// The settings of simulated tags, receivers and their radio channel.
package struct SimulatedFleetSettings: Hashable, Sendable {
    /// The number of tags, 0 or above.
    package var tagCount = 100
    /// The seed of all random numbers.
    package var seed: UInt64 = 1
    /// The time between two advertisements of a tag in seconds, above 0.
    package var advertisingInterval = 1.0
    /// The mean walking speed in m/s; the tags have speeds from 70 to 130 % of it.
    package var speed = 1.0
    /// The mean time in seconds that a tag stands between two walks, 0 or above.
    package var pause = 20.0
    /// P₁ of receivers without one in the venue packet, in dBm.
    package var power = -62.0
    /// n of receivers without one in the venue packet.
    package var exponent = 2.4
    /// The standard deviation of T in dB.
    package var tagDeviation = 3.0
    /// The standard deviation of S in dB.
    package var shadowing = 3.0
    /// The edge in metres of the lattice of S, above 0.
    package var shadowingDistance = 2.0
    /// The standard deviation of F, which is normally distributed, in dB.
    package var fading = 3.0
    /// The difference in height between tags and receivers in metres.
    package var heightDifference = 1.0
    /// The distance in metres beyond which no receiver receives a tag, above 0.
    package var range = 40.0
    /// The RSSI in dBm at which half of the advertisements are received.
    package var sensitivity = -92.0
    /// The width of that threshold: the scale of a logistic function in dB, above 0.
    package var sensitivityWidth = 2.0
    /// The share of the advertisements that a receiver loses at any RSSI, in [0, 1].
    package var lossShare = 0.2
    /// O by the index of the receiver, in dB; 0 for receivers without an entry.
    package var receiverOffsets: [Int: Double] = [:]
    /// The true points of receivers that aren't at their places in the venue packet, by index.
    package var receiverPoints: [Int: MapPoint] = [:]

    /// Creates settings with the documented defaults.
    package init() {}
}
