/// Settings of a world that compares an engine with the smallest possible error: a stationary device among beacons.
package struct StaticHallSettings: Hashable, Sendable {
    /// Floor area for each beacon in m²; from 1 to 10,000.
    package var areaPerBeacon = 50.0
    /// Standard deviation of the shadowing of a beacon at a place, in dB; from 0.1 to 20.
    package var shadowing = 4.0
    /// The path-loss exponent; from 1 to 6.
    package var exponent = 2.2
    /// Expected RSSI at 1 m in dBm; from -100 to -20.
    package var power = -59.0
    /// Height of the beacons above the device in metres; from 0.1 to 20.
    package var height = 1.0
    /// Duration of the measurement in seconds, with one reading of each beacon per second; from 1 to 600.
    package var seconds = 5
    /// Whether shadowing changes each second, so that more readings reduce the error.
    ///
    /// Otherwise it stays constant while the device is at one place.
    package var isIndependent = false
    /// Number of places at which the device is placed; from 1 to 1,000,000.
    package var places = 1000
    /// Edge length of the exact solution's grid cells in metres; from 0.02 to 5.
    package var gridEdge = 0.2

    /// Creates settings with the documented defaults.
    package init() {}
}
