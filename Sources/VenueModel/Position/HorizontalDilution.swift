/// The conversion of an error radius to the horizontal dilution of precision (HDOP), for formats without an error
/// radius.
package enum HorizontalDilution {
    /// gpsd's estimate of the range error in metres. gpsd reports HDOP × 19 m as the horizontal error, so it reports
    /// the radius for a dilution of radius / 19 m.
    private static let metersPerUnit = 19.0

    /// Returns the dilution for a 68 % radius in metres.
    package static func ofRadius(_ radius: Double) -> Double { radius / metersPerUnit }
}
