import CMath
import IndoorLocalization

/// The classical Cramér–Rao bound of a position from RSSI: the least mean square error of any unbiased estimator.
///
/// Source: N. Patwari et al., *Locating the Nodes: Cooperative Localization in Wireless Sensor Networks*, IEEE Signal
/// Processing Magazine 22(4), 2005; here extended by a difference in height. An estimator that uses the walls is
/// biased towards the inside and can have a smaller error.
struct CramerRaoBound {
    let hall: StaticHall

    /// Returns the bound in m² at a place; nil if the beacons leave a direction unobservable there.
    func meanSquare(at place: MapPoint) -> Double? {
        let settings = hall.settings
        let slope = 10 * settings.exponent / cmath_log(10)
        let scale =
            slope * slope * Double(hall.independentReadings) / (settings.shadowing * settings.shadowing)
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for beacon in hall.beacons {
            let (dx, dy) = (place.x - beacon.point.x, place.y - beacon.point.y)
            let square = dx * dx + dy * dy + settings.height * settings.height
            xx += scale * dx * dx / (square * square)
            xy += scale * dx * dy / (square * square)
            yy += scale * dy * dy / (square * square)
        }
        let determinant = xx * yy - xy * xy
        return determinant > 1e-12 * (xx + yy) * (xx + yy) ? (xx + yy) / determinant : nil
    }
}
