import CMath
import IndoorLocalization
import ScanRecording

extension WalkSimulator {
    /// Returns the ground truth at the ends of legs and pauses, and at regular times in between.
    func truths() -> [Truth] {
        var truths: [Truth] = []
        for (index, leg) in timeline.legs.enumerated() {
            let isLast = index + 1 == timeline.legs.count
            if leg.isPause {
                truths.append(truth(at: leg.start, of: leg.from, isOutdoors: leg.isOutdoors, isHold: true))
            } else {
                truths += waypoints(of: leg)
            }
            if isLast { truths.append(truth(at: leg.end, of: leg.to, isOutdoors: leg.isOutdoors)) }
        }
        return truths
    }

    /// Returns the start of a leg and the points on it, without its end, which is the start of the next leg.
    private func waypoints(of leg: WalkTimeline.Leg) -> [Truth] {
        var truths = [truth(at: leg.start, of: leg.from, isOutdoors: leg.isOutdoors)]
        let interval = settings.sensors.truthInterval
        var tick = (leg.start / interval).rounded(.down) + 1
        while tick * interval < leg.end {
            let pose = timeline.pose(at: tick * interval)
            let place = WalkPath.Point(mapID: pose.mapID, point: pose.point)
            truths.append(truth(at: tick * interval, of: place, isOutdoors: leg.isOutdoors))
            tick += 1
        }
        return truths
    }

    private func truth(at time: Double, of place: WalkPath.Point, isOutdoors: Bool, isHold: Bool = false) -> Truth {
        let instant = Self.instant(time)
        guard !isOutdoors else { return Truth(instant: instant, room: Self.outdoors, isHold: isHold) }
        let point = MapPoint(
            x: Self.round(place.point.x, decimals: 1e3), y: Self.round(place.point.y, decimals: 1e3))
        return Truth(instant: instant, mapID: place.mapID, point: point, isHold: isHold)
    }

    /// Returns the air pressure at the device: the troposphere of the standard atmosphere, with noise and weather.
    ///
    ///     p = p₀ (1 − 0.0065 h / 288.15)^5.25588
    ///
    /// Source: ISO 2533:1975, *Standard Atmosphere*.
    func pressureSamples() -> [SensorReading] {
        let sensors = settings.sensors
        var generator = SeededGenerator.stream(seed, Purpose.pressure.rawValue)
        return ticks(every: sensors.pressureInterval).map { time in
            let height = timeline.pose(at: time).height + settings.radio.deviceHeight
            let pressure = sensors.groundPressure * cmath_pow(1 - 0.0065 * height / 288.15, 5.25588)
            let weather = sensors.pressureDrift * time / 3600
            let noise = sensors.pressureNoise * generator.normal()
            return .pressure(
                PressureSample(
                    instant: Self.instant(time),
                    hectopascals: Self.round(pressure + weather + noise, decimals: 1e3)))
        }
    }

    /// Returns GNSS positions with an error that changes slowly, as from satellite geometry and reflections.
    ///
    /// The error is a first-order Gauss–Markov process on each axis with 30 s, a typical time constant in streets.
    func gnssFixes() -> [SensorReading] {
        let sensors = settings.sensors
        var generator = SeededGenerator.stream(seed, Purpose.gnss.rawValue)
        let memory = cmath_exp(-sensors.gnssInterval / 30)
        var error = generator.normalPair()
        return ticks(every: sensors.gnssInterval).compactMap { time in
            let innovation = generator.normalPair()
            let share = (1 - memory * memory).squareRoot()
            error = (memory * error.0 + share * innovation.0, memory * error.1 + share * innovation.1)
            let pose = timeline.pose(at: time)
            let accuracy = pose.isOutdoors ? sensors.gnssAccuracy : sensors.gnssIndoorAccuracy
            guard accuracy > 0, let transform = transforms[pose.mapID] else { return nil }
            // 68 % of a bivariate normal distribution is within σ √(−2 ln 0.32) = 1.51 σ.
            let deviation = accuracy / (-2 * cmath_log(1 - 0.68)).squareRoot()
            let point = pose.point + MapPoint(x: error.0, y: error.1) * deviation
            let coordinate = transform.coordinate(at: point)
            return .gnss(
                GNSSFix(
                    instant: Self.instant(time),
                    coordinate: Coordinate(
                        latitude: Self.round(coordinate.latitude, decimals: 1e7),
                        longitude: Self.round(coordinate.longitude, decimals: 1e7)),
                    accuracy: accuracy))
        }
    }

    /// Returns the times of a periodic sensor in seconds; none if its interval is 0.
    private func ticks(every interval: Double) -> [Double] {
        guard interval > 0 else { return [] }
        return (0...Int(timeline.duration / interval)).map { Double($0) * interval }
    }
}
