import CGPS
import IndoorVocabulary

extension GNSSFix {
    /// The share of a 95 % radius that is the 68 % radius, where the errors to the north and to the east are normal and
    /// alike: √(ln(1 − 0.68) / ln(1 − 0.95)).
    ///
    /// The radius within which a share p of such errors lies is σ √(−2 ln(1 − p)), the quantile of Rayleigh's distribution.
    package static let shareOf95Percent = 0.6167

    /// The position of a report of gpsd; nil where it has none, or does not say how exact it is.
    ///
    /// gpsd takes the errors of a receiver for 95 % radii, and computes its own as such (gpsd_json(5) of gpsd 3.22, *TPV*;
    /// *Error modeling* in its HACKING guide; pseudorange error of 95 % times dilution of precision). Where it knows only
    /// those along the axes, their dilutions add up as their squares do.
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
