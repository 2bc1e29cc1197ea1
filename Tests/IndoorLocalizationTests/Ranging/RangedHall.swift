import IndoorLocalization

/// A hall of 30 × 20 m on two floors, with six anchors on the lower one and none on the upper one.
enum RangedHall {
    static let ground: MapID = 1
    static let upstairs: MapID = 2
    static let points = [(1.0, 1.0), (15, 0.5), (29, 1), (29, 19), (15, 19.5), (1, 19)].map { MapPoint(x: $0, y: $1) }
    static let height = 3.0

    static let venue = Venue(
        id: 5, name: "hall",
        maps: [
            VenueMap(id: ground, name: "ground", level: 0, width: 30, height: 20, elevation: 0),
            VenueMap(id: upstairs, name: "upstairs", level: 1, width: 30, height: 20, elevation: 4),
        ],
        anchors: points.enumerated().map { VenueAnchor(id: "A\($0)", mapID: ground, point: $1, z: height) })

    /// Returns the true distance in space to an anchor of a device at a height above the lower floor.
    static func distance(to anchor: Int, from point: MapPoint, height: Double = 1.2) -> Double {
        let (planar, rise) = (point.distance(to: points[anchor]), Self.height - height)
        return (planar * planar + rise * rise).squareRoot()
    }

    /// Returns distances to all anchors, one a second each, with normal noise.
    ///
    /// - Parameter excess: the excess in metres of some anchors.
    static func readings(
        at point: MapPoint, height: Double = 1.2, from start: Int = 0, seconds: Int, noise: Double = 0.05,
        offset: Double = 0, excess: [Int: Double] = [:], technology: RangeTechnology = .uwb, seed: UInt64 = 1
    ) -> [SensorReading] {
        var generator = SeededGenerator(seed: seed)
        return (start..<start + seconds).flatMap { second in
            points.indices.map { anchor in
                .range(
                    RangeReading(
                        instant: Instant(seconds: Double(second) + 0.1 * Double(anchor)), anchor: "A\(anchor)",
                        distance: distance(to: anchor, from: point, height: height) + offset
                            + excess[anchor, default: 0]
                            + noise * generator.normal(), technology: technology))
            }
        }
    }

    /// Returns an engine that has received readings, advanced once a second.
    static func engine(
        _ readings: [SensorReading], settings: PositioningSettings = PositioningSettings(), after: [SensorReading] = []
    ) -> PositioningEngine {
        var engine = PositioningEngine(venue: venue, settings: settings, seed: 3)
        var next = Instant(seconds: 1)
        for reading in readings + after {
            while reading.instant >= next {
                engine.advance(to: next)
                next = next.advanced(by: .seconds(1))
            }
            engine.observe(reading)
        }
        engine.advance(to: next)
        return engine
    }
}
