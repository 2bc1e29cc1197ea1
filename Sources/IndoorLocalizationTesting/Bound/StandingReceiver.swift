import IndoorLocalization

/// A positioning engine that receives the readings of a stationary device, including its accelerometer.
struct StandingReceiver: Sendable {
    private let hall: StaticHall
    private let settings: PositioningSettings
    private let field: SignalField

    private static let rest = Vector3(x: 0, y: 0, z: 9.80665)

    init(in hall: StaticHall, settings: PositioningSettings) {
        self.hall = hall
        self.settings = settings
        field = SignalField(venue: hall.venue, model: settings.signal)
    }

    /// Returns the engine's position after the last second; nil if it has none.
    func point(hearing readings: [[Double]], seed: UInt64) -> MapPoint? {
        var engine = PositioningEngine(venue: hall.venue, field: field, settings: settings, seed: seed)
        for (second, row) in readings.enumerated() {
            let instant = Instant(seconds: Double(second + 1))
            engine.observe(
                .motion(MotionSample(instant: Instant(seconds: Double(second) + 0.5), acceleration: Self.rest)))
            engine.observe(.motion(MotionSample(instant: instant, acceleration: Self.rest)))
            for (beacon, rssi) in zip(hall.beacons, row) {
                engine.observe(.sighting(Sighting(instant: instant, beacon: beacon.identity, rssi: rssi)))
            }
            engine.advance(to: instant)
        }
        return engine.estimate(on: hall.map.id)?.point
    }
}
