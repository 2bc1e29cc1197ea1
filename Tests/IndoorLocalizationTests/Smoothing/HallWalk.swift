import IndoorLocalization

/// A walk around the hall at 1 m/s, with what is heard on it; all from one seed.
///
/// A beacon is wrong by 4 dB throughout, as path loss alone knows it, and a reading by 3 dB on top.
struct HallWalk {
    private typealias Stage = PositioningStage
    private static let corners = [
        MapPoint(x: 3, y: 3), MapPoint(x: 17, y: 3), MapPoint(x: 17, y: 17), MapPoint(x: 3, y: 17),
    ]

    let readings: [SensorReading]
    let seconds: Int

    init(seconds: Int = 40, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let shadows = Stage.beaconPoints.map { _ in 4 * generator.normal() }
        var readings: [SensorReading] = []
        for half in 0..<2 * seconds {
            let time = Double(half) / 2 + 0.25
            for (index, beacon) in Stage.beaconPoints.enumerated() where generator.uniform() < 0.7 {
                let mean = Stage.rssi(from: beacon, to: Self.place(at: time))
                let sighting = Sighting(
                    instant: Instant(seconds: time), beacon: Stage.identity(index),
                    rssi: mean + shadows[index] + 3 * generator.normal())
                readings.append(.sighting(sighting))
            }
        }
        self.readings = readings
        self.seconds = seconds
    }

    /// Where the walker is: 14 m along each side of the square.
    static func place(at seconds: Double) -> MapPoint {
        let side = Int(seconds / 14)
        let (from, to) = (corners[side % 4], corners[(side + 1) % 4])
        return from + (to - from) * (seconds / 14 - Double(side))
    }

    private static let settings: PositioningSettings = {
        var settings = PositioningSettings()
        settings.particleCount = 300
        return settings
    }()

    func smoothed(seed: UInt64) -> SmoothedTrack {
        var smoother = TrackSmoother(
            venue: Stage.venue, field: Stage.packetField, settings: Self.settings, seed: seed)
        for reading in readings { smoother.observe(reading) }
        return smoother.finish()
    }

    /// Metres of error at each half second: at the time, and after the fact; nil without answer. And the radii of the time.
    func errors(
        seed: UInt64, _ track: SmoothedTrack
    ) -> (causal: [Double?], offline: [Double?], radii: [Double?]) {
        var engine = PositioningEngine(
            venue: Stage.venue, field: Stage.packetField, settings: Self.settings, seed: seed)
        var causal: [Double?] = []
        var offline: [Double?] = []
        var radii: [Double?] = []
        var next = 0
        for half in 1..<2 * seconds {
            let instant = Instant(seconds: Double(half) / 2)
            while next < readings.count, readings[next].instant <= instant {
                engine.observe(readings[next])
                next += 1
            }
            engine.advance(to: instant)
            let place = Self.place(at: instant.seconds)
            radii.append(engine.estimate(on: Stage.hall)?.radius)
            causal.append(engine.estimate(on: Stage.hall)?.point.distance(to: place))
            offline.append(track.look(at: instant)?.estimate.point.distance(to: place))
        }
        return (causal, offline, radii)
    }
}
