/// Settings of the simulated beacons, receiver and radio channel.
///
/// The RSSI of one advertisement, in dBm, is
///
///     rssi = P₁ − 10 n log₁₀(d / 1 m) + S(x, y) − w·L_w − f·L_f − B (1 − cos θ)/2 · d_h/d + F + O
///
/// with the distance d and its horizontal part d_h, shadowing S, w walls and f floors in between, the angle θ between
/// the heading and the direction of the beacon, fading F and the receiver's offset O.
package struct RadioSettings: Hashable, Sendable {
    /// Seed of the building's radio environment. Walks with the same seed have the same shadowing, powers and
    /// exponents.
    package var environmentSeed: UInt64 = 1

    /// P₁ of beacons without one in the venue packet, in dBm at 1 m; from -100 to -20.
    package var power = -59.0
    /// n of beacons without one in the venue packet; from 1 to 6.
    package var exponent = 2.2
    /// Standard deviation of a beacon's true P₁ from the known one, in dB; from 0 to 20.
    package var powerDeviation = 2.0
    /// Standard deviation of a beacon's true n from the known one; from 0 to 2.
    package var exponentDeviation = 0.1

    /// Standard deviation of S in dB; from 0 to 20. Models furniture and people; walls have separate losses.
    package var shadowing = 3.0
    /// Distance in metres at which the correlation of S falls to 1/e; from 0.1 to 1000.
    ///
    /// Gudmundson 1991 measured tens of metres outdoors; indoors it is 1 to 2 m (N. Jaldén et al., *Correlation
    /// properties of large scale fading based on indoor measurements*, WCNC 2007).
    package var shadowingDistance = 2.0
    /// Ratio of the steady to the scattered power in dB if no wall is in between; from -20 to 20. Behind a wall, all
    /// power is scattered (Rayleigh).
    package var ricianFactor = 6.0
    /// Whether the signal fades from one advertisement to the next.
    package var isFading = true

    /// B: loss through the person who holds the device, with the beacon directly behind, in dB; from 0 to 40.
    package var bodyLoss = 6.0
    /// L_w: loss of one wall, in dB; from 0 to 40.
    ///
    /// Source: COST 231 final report, *Digital mobile radio towards future generation systems*, 1999, section 4.7:
    /// 3.4 dB for light walls, 6.9 dB for heavy ones.
    package var wallLoss = 3.4
    /// L_f: loss of one floor slab, in dB; from 0 to 60. Source: as for walls, 18.3 dB.
    package var floorLoss = 18.3

    /// O: difference in dB between this receiver and the one that measured the powers; from -30 to 30.
    package var receiverOffset = 0.0
    /// RSSI at which half of the advertisements are received, in dBm; from -120 to -40.
    package var sensitivity = -95.0
    /// Width of that threshold: the logistic function's scale in dB; from 0.01 to 10.
    package var sensitivityWidth = 1.5
    /// Share of the advertisements lost at any RSSI, through collisions or a receiver on another channel; from 0 to 1.
    package var lossShare = 0.15

    /// Interval between two advertisements of a beacon in seconds; from 0.02 to 10.24, as Bluetooth allows.
    package var advertisingInterval = 0.3
    /// Maximum random delay added to each interval, in seconds; from 0 to 1.
    ///
    /// Source: Bluetooth Core Specification 5.4, Vol 6 Part B, 4.4.2.2.1: advDelay, 0 to 10 ms.
    package var advertisingDelay = 0.01
    /// Whether sightings contain the measured power from the venue packet.
    package var advertisesPower = false

    /// Height in metres of beacons without one in the venue packet; from 0 to 20.
    package var beaconHeight = 2.5
    /// Height of the device above the floor in metres; from 0 to 3.
    package var deviceHeight = 1.2

    /// Share of the beacons that stop advertising, rounded to whole beacons; from 0 to 1.
    package var deadShare = 0.0
    /// Time of the walk in seconds at which they stop; 0 or above.
    package var deadFrom = 0.0

    /// Creates settings with the documented defaults.
    package init() {}
}
