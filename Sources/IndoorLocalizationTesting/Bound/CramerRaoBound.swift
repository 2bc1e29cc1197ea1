import IndoorLocalization

/// The classical Cramér–Rao bound of a position from RSSI: the least mean square error of any unbiased estimator.
///
/// An estimator that uses the walls is biased towards the inside and can have a smaller error.
struct CramerRaoBound {
    let hall: StaticHall

    /// Returns the bound in m² at a place; nil if the beacons leave a direction unobservable there.
    func meanSquare(at place: MapPoint) -> Double? {
        let settings = hall.settings
        let precision = Double(hall.independentReadings) / (settings.shadowing * settings.shadowing)
        var information = PositionInformation()
        for beacon in hall.beacons {
            information.add(
                offset: place - beacon.point, height: settings.height, exponent: settings.exponent,
                precision: precision)
        }
        return information.bound().map { $0.xx + $0.yy }
    }
}
