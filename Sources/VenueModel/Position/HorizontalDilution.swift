/// The horizontal dilution of precision (HDOP) in formats that have no error radius.
package enum HorizontalDilution {
    /// gpsd's estimate of the range error in metres. HDOP × 19 m is the horizontal error that gpsd reports, so that it
    /// reports the radius for a dilution of radius / 19 m.
    private static let metersPerUnit = 19.0

    /// Returns the dilution for a 68 % radius in metres.
    package static func ofRadius(_ radius: Double) -> Double { radius / metersPerUnit }
}
