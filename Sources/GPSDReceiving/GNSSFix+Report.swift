import CGPS
import IndoorVocabulary

extension GNSSFix {
    /// The ratio of the 68 % radius to the 95 % radius: √(ln(1 − 0.68) / ln(1 − 0.95)).
    ///
    /// The ratio applies to normal errors with equal deviations to the north and to the east. The radius that contains
    /// a share p of such errors is σ √(−2 ln(1 − p)), the quantile of the Rayleigh distribution.
    package static let shareOf95Percent = 0.6167

    /// Creates a fix from a report of gpsd; returns nil if the report has no position or no accuracy.
    ///
    /// gpsd treats a receiver's errors as 95 % radii, and computes its own in the same way (gpsd_json(5) of gpsd 3.22,
    /// *TPV*; *Error modeling* in its HACKING guide; 95 % pseudorange error times dilution of precision). If gpsd
    /// reports only the errors along the axes, the radius is the root of the sum of their squares.
    package init?(_ report: cgps_report, at instant: Instant) {
        let coordinate = Coordinate(latitude: report.latitude, longitude: report.longitude)
        let known = report.eph.isFinite ? report.eph : (report.epx * report.epx + report.epy * report.epy).squareRoot()
        guard report.has_position, coordinate.isValid, known.isFinite, known > 0 else { return nil }
        self.init(
            instant: instant, coordinate: coordinate, accuracy: known * Self.shareOf95Percent,
            altitude: report.mode >= 3 && report.altitude.isFinite ? report.altitude : nil,
            speed: report.speed.isFinite && report.speed >= 0 ? report.speed : nil,
            course: report.track >= 0 && report.track < 360 ? report.track : nil)
    }
}
