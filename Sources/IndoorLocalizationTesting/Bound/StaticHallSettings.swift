/// The world in which an engine is compared with the best that is possible: a device stands still among beacons.
public struct StaticHallSettings: Hashable, Sendable {
    /// Floor area for each beacon in m²; from 1 to 10,000.
    public var areaPerBeacon = 50.0
    /// Standard deviation of the shadowing of a beacon at a place, in dB; from 0.1 to 20.
    public var shadowing = 4.0
    /// How fast the signal falls with distance; from 1 to 6.
    public var exponent = 2.2
    /// Signal strength at 1 m in dBm; from -100 to -20.
    public var power = -59.0
    /// Height of the beacons above the device in metres; from 0.1 to 20.
    public var height = 1.0
    /// Seconds that the device is listened to, each beacon once a second; from 1 to 600.
    public var seconds = 5
    /// Whether shadowing is another one each second, so that patience pays; otherwise it stays while the device does.
    public var isIndependent = false
    /// Places at which the device is put; from 1 to 1,000,000.
    public var places = 1000
    /// Edge of the exact solution's grid cells in metres; from 0.02 to 5.
    public var gridEdge = 0.2

    /// The settings documented above.
    public init() {}
}
