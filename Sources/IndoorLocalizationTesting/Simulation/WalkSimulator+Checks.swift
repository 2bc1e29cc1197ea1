import IndoorLocalization

extension WalkSimulator {
    /// The maximum duration of a walk in seconds.
    static let longestWalk = 86_400.0
    /// The maximum number of readings of a walk. All readings are in memory, a few hundred bytes each.
    static let mostReadings = 3e6

    /// Throws for a walk that would exhaust the memory, before the simulation begins.
    func checkLength() throws(SimulationError) {
        let (radio, sensors) = (settings.radio, settings.sensors)
        func rate(_ interval: Double) -> Double { interval > 0 ? 1 / interval : 0 }
        let perSecond =
            Double(venue.beacons.count) * rate(radio.advertisingInterval) + sensors.motionRate
            + Double(venue.anchors.count) * rate(settings.ranges.interval) + rate(sensors.pressureInterval)
            + rate(sensors.gnssInterval) + rate(sensors.truthInterval)
        let steps = timeline.legs.last.map { $0.stepsBefore + $0.cadence * $0.duration } ?? 0
        let readings = timeline.duration * perSecond + steps
        guard timeline.duration <= Self.longestWalk, readings <= Self.mostReadings else {
            throw .tooLong(hours: timeline.duration / 3600, readings: readings)
        }
    }

    /// A leg of the walk that crosses walls.
    package struct WallCrossing: Hashable, Sendable {
        /// The index of the point at the leg's end, from 1.
        package let point: Int
        /// The number of walls that the leg crosses.
        package let walls: Int
    }

    /// The legs that cross walls. Legs between maps and outdoor legs are not checked.
    package var wallCrossings: [WallCrossing] {
        var walls: [MapID: WallCrossings] = [:]
        return zip(path.points, path.points.dropFirst()).enumerated().compactMap { index, ends in
            let (from, to) = ends
            guard from.mapID == to.mapID, !from.isOutdoors, !to.isOutdoors, let map = venue.map(to.mapID) else {
                return nil
            }
            let known = walls[map.id] ?? WallCrossings(of: map)
            walls[map.id] = known
            let count = known.count(from: from.point, to: to.point)
            return count > 0 ? WallCrossing(point: index + 1, walls: count) : nil
        }
    }
}
